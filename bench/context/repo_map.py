"""Asks aider's repository map for the tasks of the context benchmark.

`python3 repo_map.py tasks.json FOLDER_OF_CLONES OUT.json`, in an environment with `aider-chat`.
Each task's parent commit is checked out into a folder of its own; the map is asked as aider does
for a message without files in the chat: with the files and identifiers that the message mentions.
Only the held half is asked for: aider is not tuned. Writes the map's text for each budget after
each task, so that a run that is stopped has said something; scoring is `main.rs`'s.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from aider.repomap import RepoMap

BUDGETS = [1000, 2000, 4000, 8000]
SOURCE = re.compile(r"\.(py|pyi|ts|tsx|mts|cts|js|jsx|mjs|cjs|java)$")
PATTERNS = [f"*.{end}" for end in "py pyi ts tsx mts cts js jsx mjs cjs java".split()]


class Model:
    """Counts tokens as the benchmark does."""

    def __init__(self):
        import litellm

        self.count = lambda text: litellm.token_counter(model="gpt-4", text=text)

    def token_count(self, text):
        return self.count(text if isinstance(text, str) else json.dumps(text))


class Quiet:
    def __getattr__(self, name):
        return lambda *words, **named: None

    def read_text(self, path):
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None


def mentioned(message, files):
    """As `Coder.get_file_mentions` and `get_ident_mentions` read a message."""
    idents = set(re.split(r"\W+", message))
    words = {word.rstrip(",.!;:?").strip("\"'`*_") for word in message.split()}
    by_name = {}
    for file in files:
        by_name.setdefault(os.path.basename(file), []).append(file)
    names = {file for file in files if file in words}
    names |= {found[0] for name, found in by_name.items() if name in words and len(found) == 1}
    # As `get_ident_filename_matches`: a file whose stem an identifier of the message is.
    stems = {}
    for file in files:
        stem = Path(file).stem.lower()
        if len(stem) >= 5:
            stems.setdefault(stem, set()).add(file)
    for ident in idents:
        if len(ident) >= 5:
            names |= stems.get(ident.lower(), set())
    return names, idents


def main():
    tasks = [task for task in json.load(open(sys.argv[1])) if task["half"] == "held"]
    clones = Path(sys.argv[2]).resolve()
    model = Model()
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for at, task in enumerate(tasks):
            tree = Path(folder) / task["repository"]
            if not tree.exists():
                subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(clones / task["repository"]), str(tree)], check=True)
                # Sources alone: a clone may lack what else a commit has.
                subprocess.run(["git", "-C", str(tree), "sparse-checkout", "set", "--no-cone", *PATTERNS], check=True)
            subprocess.run(["git", "-C", str(tree), "checkout", "-q", "-f", task["parent"]], check=True)
            listed = subprocess.run(["git", "-C", str(tree), "ls-files"], capture_output=True, text=True, check=True).stdout
            files = [file for file in listed.splitlines() if SOURCE.search(file) and (tree / file).is_file()]
            names, idents = mentioned(task["task"], files)
            rows = {}
            # With no files in the chat aider multiplies the budget; here the budget is meant.
            repo_map = RepoMap(map_tokens=1000, root=str(tree), main_model=model, io=Quiet(),
                               map_mul_no_files=1, refresh="always", max_context_window=128_000)
            whole = [str(tree / file) for file in files]
            ranked = repo_map.get_ranked_tags([], whole, names, idents, progress=None)
            # One ranking serves all budgets, as it does not depend on them.
            repo_map.get_ranked_tags = lambda *words, ranked=ranked, **named: list(ranked)
            for budget in BUDGETS:
                try:
                    text = repo_map.get_ranked_tags_map_uncached([], whole, budget, names, idents)
                except Exception as error:  # noqa: BLE001 (a map that fails is an empty answer, and said so)
                    print(f"{task['commit']}: {error!r}", file=sys.stderr)
                    text = ""
                rows[str(budget)] = text or ""
            answers[task["commit"]] = rows
            Path(sys.argv[3]).write_text(json.dumps(answers))
            print(f"{at + 1}/{len(tasks)} {task['repository']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
