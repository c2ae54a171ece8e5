#!/usr/bin/env python3
"""Measures the portable index on a clone: `bench/remote.py RATLAS CLONE [NAME] [COMMITS]`.

Prints JSON lines: bytes of what is published over bytes of the indexed sources, by group of columns
where pyarrow is installed; pull from an HTTP server on loopback and the first exact `query callers
NAME` over a cold index; what a pull moves after COMMITS (20) more commits, over the packed size of
the changed files' shards. The clone is copied, and needs the history of that many first parents.
Without NAME, the name that most references lead to is asked for.
"""

import collections
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, with ranges; counts the bytes of bodies."""

    n_bytes = 0
    n_requests = 0

    def do_GET(self):
        path = pathlib.Path(self.translate_path(self.path))
        Ranges.n_requests += 1
        if not path.is_file():
            return self.send_error(404)
        with path.open("rb") as file:
            size = path.stat().st_size
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            start, end = (int(wanted[1]), min(size, int(wanted[2]) + 1)) if wanted else (0, size)
            if start >= size:
                return self.send_error(416)
            file.seek(start)
            body = file.read(end - start)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        Ranges.n_bytes += len(body)

    def log_message(self, *_):
        pass


class Bench:
    def __init__(self, ratlas, clone, work):
        self.ratlas, self.work = ratlas, work
        self.tree = work / "clone"
        subprocess.run(["git", "clone", "-q", "--shared", clone, self.tree], check=True)
        self.remote = work / "remote"
        self.remote.mkdir()

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.tree, *arguments], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def run(self, store, *arguments):
        """The answer of a command, its seconds, and the CPU's."""
        environment = {**os.environ, "RATLAS_STORE": str(self.work / store), "XDG_CONFIG_HOME": str(self.work)}
        before, start = os.times(), time.monotonic()
        command = [self.ratlas, "-C", self.tree, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{arguments}: {done.stderr}")
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return done.stdout, time.monotonic() - start, cpu

    def packs(self):
        return {path: path.stat().st_size for path in self.remote.rglob("*.parquet")}

    def published_bytes(self):
        kinds = ("packs", "manifests", "commits")
        files = (path for path in self.remote.rglob("*") if path.is_file() and set(path.parts) & set(kinds))
        return sum(path.stat().st_size for path in files)


def groups_of(packs, source_bytes):
    """Percent of the source by table, where pyarrow can read the footers."""
    try:
        import pyarrow.parquet
    except ImportError:
        return None
    groups = collections.Counter()
    tables = "type_operand type_param test_block symbol scope param heritage decorator expr operand type binding " \
        "step return narrowing import export ref damage package".split()
    for pack in packs:
        metadata = pyarrow.parquet.ParquetFile(pack).metadata
        groups["(footer)"] += pack.stat().st_size
        for row_group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(row_group.column, range(metadata.num_columns)):
                name = column.path_in_schema
                table = next((table for table in tables if name.startswith(table + "_")), None)
                group = "hashes" if name.endswith("_hash") else table or ("names" if name == "names" else "key")
                groups[group] += column.total_compressed_size
                groups["(footer)"] -= column.total_compressed_size
    return {group: round(100 * n / source_bytes, 2) for group, n in groups.most_common()}


def main():
    ratlas, clone = str(pathlib.Path(sys.argv[1]).resolve()), str(pathlib.Path(sys.argv[2]).resolve())
    name = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3] else None
    n_commits = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    with tempfile.TemporaryDirectory(prefix="ratlas-bench-") as work:
        bench = Bench(ratlas, clone, pathlib.Path(work))
        handler = lambda *given: Ranges(*given, directory=str(bench.remote))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        head = bench.git("rev-parse", "HEAD")
        bench.git("checkout", "-q", "--detach", f"{head}~{n_commits}")

        _, cold, cold_cpu = bench.run("ci", "index", "--jobs", "2")
        bench.run("ci", "push", str(bench.remote), "--namespace", "main")
        before = bench.packs()
        sizes = collections.Counter()
        entries = bench.git("ls-tree", "-r", "-l", "HEAD").splitlines()
        seen = set()
        suffixes = (".java", ".py", ".pyi", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
        for entry in entries:
            (_, _, blob, size), path = entry.split("\t")[0].split(), entry.split("\t")[1]
            if path.endswith(suffixes) and blob not in seen:
                seen.add(blob)
                sizes["sources"] += int(size)
        published = bench.published_bytes()
        print(json.dumps({
            "bench": "remote_bytes", "source_bytes": sizes["sources"], "published_bytes": published,
            "percent_of_source": round(100 * published / sizes["sources"], 2),
            "groups": groups_of(before, sizes["sources"]),
        }), flush=True)

        if name is None:
            rows = bench.run("ci", "export", "edges")[0].splitlines()
            names = collections.Counter(json.loads(row)["dst_qualname"].split("(")[0] for row in rows)
            name = next(name for name, _ in names.most_common() if name != "<module>")
        Ranges.n_bytes = Ranges.n_requests = 0
        _, pull, pull_cpu = bench.run("laptop", "pull", address, "--no-index", "--require-remote")
        n_moved, n_requests = Ranges.n_bytes, Ranges.n_requests
        _, query, query_cpu = bench.run("laptop", "query", "callers", name)
        _, again, again_cpu = bench.run("laptop", "query", "callers", name)
        print(json.dumps({
            "bench": "remote_pull", "name": name, "cold_index_s": round(cold, 2), "pull_s": round(pull, 2),
            "first_query_s": round(query, 2), "second_query_s": round(again, 2), "moved_bytes": n_moved,
            "requests": n_requests,
            "over_cold_index": round((pull + query) / cold, 3),
            "over_cold_index_cpu": round((pull_cpu + query_cpu) / cold_cpu, 3),
            "second_over_cold_index_cpu": round(again_cpu / cold_cpu, 3),
        }), flush=True)

        bench.git("checkout", "-q", "--detach", head)
        bench.run("ci", "push", str(bench.remote), "--namespace", "main")
        changed = sum(size for path, size in bench.packs().items() if path not in before)
        Ranges.n_bytes = Ranges.n_requests = 0
        answer, _, _ = bench.run("laptop", "pull", address, "--no-index", "--require-remote", "--format", "json")
        print(json.dumps({
            "bench": "remote_after_commits", "commits": n_commits, "shards": json.loads(answer)["shards"],
            "packed_bytes_of_changed": changed, "moved_bytes": Ranges.n_bytes, "requests": Ranges.n_requests,
            "moved_over_packed": round(Ranges.n_bytes / max(changed, 1), 2),
        }), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
