"""Times a server's answers over stdio, as a client sees them.

`python3 bench/serve.py RATLAS REPOSITORY [N]` starts `RATLAS -C REPOSITORY serve`, times the
handshake, asks until the index is warm, then asks each tool N times (100), each time something
else of the repository, and prints one JSON line a tool: median and 95th percentile in
milliseconds. Each is asked as a client does, with a look at the disk before the answer, and with
`fresh` false, which leaves the answer alone.
"""

import json
import subprocess
import sys
import time

WORDS = (
    "how are requests dispatched to handlers|where is configuration read and merged|fix the lifetime of cached entries"
    "|errors while closing a connection|support generic types in conversion|parse and validate headers"
    "|order of listeners is not kept|resolve names through imports|retry after a time-out|escape text in templates"
)


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.id = 0

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        """The result and how long it took, in milliseconds."""
        self.id += 1
        started = time.perf_counter()
        self.send({"id": self.id, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the server ended")
            took = (time.perf_counter() - started) * 1e3
            answer = json.loads(line)
            if answer.get("id") == self.id:
                return answer, took

    def call(self, name, **arguments):
        answer, took = self.ask("tools/call", {"name": name, "arguments": arguments})
        result = answer.get("result", {})
        content = result.get("content") or [{"text": ""}]
        return content[0]["text"], took, bool(result.get("isError")) or "error" in answer


def main():
    ratlas, repository = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    started = time.perf_counter()
    server = Server([ratlas, "-C", repository, "serve"])
    client = {"name": "bench", "version": "1"}
    server.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    server.send({"method": "notifications/initialized"})
    print(json.dumps({"bench": "serve", "what": "handshake", "ms": round((time.perf_counter() - started) * 1e3, 1)}))
    _, took, _ = server.call("index_status")
    print(json.dumps({"bench": "serve", "what": "first answer", "ms": round(took)}))
    server.call("get_context", task="warm")
    # What follows the first answer at leisure is not the client's to wait for.
    time.sleep(5)
    names = []
    for letter in "abcdefghijklmnoprstuvw":
        text, _, _ = server.call("find_symbol", query=letter * 2, limit=200)
        names += [line.rsplit(" ", 1)[-1] for line in text.splitlines() if "sym_" in line]
    names = [word for word in names if word.startswith("sym_")]
    step = max(1, len(names) // n)
    handles = (names[::step] * n)[:n]
    tasks = WORDS.split("|")
    asked = {
        "get_context": [{"task": f"{tasks[at % len(tasks)]} {at}"} for at in range(n)],
        "repo_map": [{"budget": 500 + 100 * at} for at in range(n)],
        "find_symbol": [{"query": chr(97 + at % 26) + chr(97 + at // 26 % 26)} for at in range(n)],
        "get_symbol": [{"qualname": handle, "include_body": True} for handle in handles],
        "callers_of": [{"qualname": handle} for handle in handles],
        "callees_of": [{"qualname": handle} for handle in handles],
        "impact_of": [{"target": handle} for handle in handles],
        "index_status": [{}] * n,
    }
    for tool, questions in asked.items():
        row = {"bench": "serve", "tool": tool, "n": n, "failed": 0}
        for way, more in (("", {}), ("answer_", {"fresh": False})):
            times = []
            for arguments in questions:
                _, took, failed = server.call(tool, **arguments, **more)
                times.append(took)
                row["failed"] += failed
            times.sort()
            row[f"{way}p50_ms"] = round(times[n // 2], 1)
            row[f"{way}p95_ms"] = round(times[min(n - 1, n * 95 // 100)], 1)
        print(json.dumps(row), flush=True)
    server.process.stdin.close()
    server.process.wait()


if __name__ == "__main__":
    main()
