#!/usr/bin/env python3
"""Simulates an organization: `bench/many.py RATLAS N FOLDER…`.

The indexed sources of the folders are cut, in order of path, into N repositories of about equal
bytes, so that all code is real and none stands twice. Each gets its packs and its flat tables in one
place, as its pipeline would put them there; then DuckDB (`pip install duckdb`) asks all at once.
Prints JSON lines.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SUFFIXES = {".java", ".py", ".pyi", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

QUERIES = {
    "files and symbols by dialect, over packs": """
        select dialect, count(*), sum(n_bytes), sum(len(symbol_kind)), sum(len(ref_kind))
        from read_parquet('{packs}/*/packs/*.parquet') group by all""",
    "names that contain a word, over packs": """
        select count(*) from (
            select unnest(string_split(names, chr(10))) as name from read_parquet('{packs}/*/packs/*.parquet')
        ) where name ilike '%token%'""",
    "functions by calls, over edges": """
        select repository, dst_qualname, count(*) as calls
        from read_parquet('{hive}/edges/*/*.parquet', hive_partitioning = true)
        where kind = 'calls' and confidence >= 0.8 group by all order by calls desc limit 20""",
    "who calls a name, joined over edges and symbols": """
        select count(*) from read_parquet('{hive}/edges/*/*.parquet', hive_partitioning = true) edges
        join read_parquet('{hive}/symbols/*/*.parquet', hive_partitioning = true) symbols
          on edges.repository = symbols.repository and edges.dst_id = symbols.symbol_id
        where symbols.name = 'parse' and edges.kind = 'calls'""",
    "one repository's edges of one partition": """
        select count(*) from read_parquet('{hive}/edges/*/*.parquet', hive_partitioning = true)
        where repository = 'repo-0007' and kind = 'calls'""",
}


def sources(folders):
    """Every indexed source with its size, in order of path."""
    for folder in map(pathlib.Path, folders):
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and ".git" not in path.parts and "node_modules" not in path.parts:
                yield folder, path, path.stat().st_size


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def main():
    ratlas, n_repositories, folders = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), sys.argv[3:]
    files = list(sources(folders))
    n_bytes = sum(size for _, _, size in files)
    with tempfile.TemporaryDirectory(prefix="ratlas-many-") as work:
        work = pathlib.Path(work)
        done, cut = 0, [[] for _ in range(n_repositories)]
        for folder, path, size in files:
            cut[min(n_repositories - 1, done * n_repositories // n_bytes)].append((folder, path))
            done += size
        seconds = 0.0
        for at, part in enumerate(cut):
            tree = work / "trees" / f"repo-{at:04}"
            for folder, path in part:
                to = tree / path.relative_to(folder.parent)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)
            tree.mkdir(parents=True, exist_ok=True)
            author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
            for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "all"]):
                subprocess.run(["git", *author, "-C", tree, *arguments], check=True)
            environment = {**os.environ, "RATLAS_STORE": str(work / "stores" / tree.name)}
            start = time.monotonic()
            for arguments in (["pack", "--all"], ["export", "--layout", "hive", str(work / "hive")]):
                subprocess.run([ratlas, "-C", tree, *arguments], env=environment, check=True, capture_output=True)
            seconds += time.monotonic() - start
            shutil.rmtree(tree)
        packs, hive = size_of(work / "stores"), size_of(work / "hive")
        print(json.dumps({
            "bench": "many", "repositories": n_repositories, "files": len(files), "source_bytes": n_bytes,
            "packs_bytes": packs, "hive_bytes": hive, "packs_percent": round(100 * packs / n_bytes, 1),
            "hive_percent": round(100 * hive / n_bytes, 1), "seconds_a_repository": round(seconds / n_repositories, 2),
        }), flush=True)
        try:
            import duckdb
        except ImportError:
            return print(json.dumps({"bench": "many", "skipped": "pip install duckdb for the queries"}))
        for name, query in QUERIES.items():
            times = []
            for _ in range(3):
                start = time.monotonic()
                rows = duckdb.sql(query.format(packs=work / "stores", hive=work / "hive")).fetchall()
                times.append(time.monotonic() - start)
            print(json.dumps({"bench": "many_query", "query": name, "rows": len(rows), "seconds": round(min(times), 2)}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
