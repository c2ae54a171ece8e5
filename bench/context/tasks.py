"""Writes the tasks of the context benchmark: commits of clones, as questions with known answers.

`python3 tasks.py N CLONE... > tasks.json` takes the newest N commits of each clone that fit. A
task is a commit's message without what gives the answer away; its gold is the source files that
the commit changed, with the changed lines of the tree before it. Nothing is checked out.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

SOURCE = re.compile(r"\.(py|pyi|ts|tsx|mts|cts|js|jsx|mjs|cjs|java)$")
# As `rank::surface::is_secondary` has it, in short: tests, examples, documents, generated.
SECONDARY = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|e2e|examples?|samples|fixtures|__fixtures__|__mocks__|mocks|testdata|docs?"
    r"|bench(marks?)?|node_modules|vendor|third_party|generated|dist|playground|demos?|deno|scripts|\.github)/"
    r"|(^|/)test_[^/]*$|_tests?\.[^/]*$|\.(test|spec|bench|test-d)\.[^/]*$|(Tests?|IT|TestCase)\.java$|(^|/)conftest\.py$"
    r"|\.d\.ts$|(^|/)[^/]*\.config\.[^/]*$"
)
# Commits that ask for nothing that a person would ask.
DULL = re.compile(
    r"^(release|bump|merge|revert|version|v?\d+\.\d+|chore|docs?|style|ci|build|test|typo|format|lint|prettier|start|prepare"
    r"|update (dep|lock|version|copyright)|\[?maven)", re.I
)
MAX_FILES = 8
MIN_WORDS = 4
DEFINITION = re.compile(
    r"\b(?:class|def|function\*?|interface|type|enum|const|let|var|namespace|record|@interface)\s+([A-Za-z_$][\w$]*)"
    r"|\b([A-Za-z_$][\w$]*)\s*\("
)


def git(clone, *words):
    return subprocess.run(
        ["git", "-C", clone, *words], capture_output=True, check=True, stdin=subprocess.DEVNULL
    ).stdout.decode("utf-8", "replace")


def strip(message, gold_paths, changed_names):
    """The message without paths, code, identifiers, trailers and the names of what was changed."""
    lines = []
    for line in message.splitlines():
        if re.match(r"^[A-Za-z-]+(-[Bb]y|-[Ff]rom|-[Ii]d): |^\(cherry picked|^See gh-|^\*\s*$", line):
            continue
        lines.append(line)
    text = "\n".join(lines).strip()
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    text = " ".join(paragraphs[:3])
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = re.sub(r"`[^`]*`", " ", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"\(?#\d+\)?|\bgh-\d+", " ", text)
    text = re.sub(r"^(\w+)\([^)]*\)(!?):", r"\1:", text)
    stems = {Path(path).stem for path in gold_paths}
    words = []
    for word in text.split():
        bare = word.strip(".,;:!?()[]{}\"'*<>")
        shaped = (
            "/" in bare
            or "_" in bare
            or "::" in bare
            or "(" in bare
            or "@" in bare
            or "." in bare
            or "$" in bare
            or "#" in bare
            or re.search(r"[a-z0-9][A-Z]", bare)
        )
        if shaped or bare in stems or bare in changed_names:
            continue
        words.append(word)
    return " ".join(words)[:1200]


def changes(clone, commit):
    """The source files that a commit changed, with the lines of its parent; the names at them."""
    gold, names = {}, set()
    path = None
    for line in git(clone, "diff", "-U0", "--no-renames", "--no-color", f"{commit}~1", commit).splitlines():
        if line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") else None
        elif line.startswith("+++ ") and not line.startswith("+++ b/"):
            path = None
        elif line.startswith("@@ ") and path and SOURCE.search(path) and not SECONDARY.search(path):
            match = re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@(.*)", line)
            start, count = int(match[1]), int(match[2] or 1)
            gold.setdefault(path, []).append([start, start + max(count, 1) - 1])
            names.update(a or b for a, b in DEFINITION.findall(match[3]))
        elif line[:1] in "+-" and path in gold:
            names.update(a or b for a, b in DEFINITION.findall(line[1:]))
    return gold, names


def tasks(clone, wanted):
    found = []
    log = git(clone, "log", "--no-merges", "--format=%H%x00%P%x00%ct%x00%B%x01", "-n", "4000")
    for entry in log.split("\x01"):
        if len(found) == wanted:
            break
        fields = entry.strip("\n").split("\x00")
        if len(fields) != 4 or len(fields[1].split()) != 1:
            continue
        commit, parent, time, message = fields
        if DULL.match(message.strip()):
            continue
        try:
            gold, names = changes(clone, commit)
        except subprocess.CalledProcessError:
            continue  # An object that this clone does not have.
        if not 1 <= len(gold) <= MAX_FILES:
            continue
        task = strip(message, gold, names)
        if len(re.findall(r"[A-Za-z]{3,}", task)) < MIN_WORDS:
            continue
        found.append({
            "repository": Path(clone).resolve().name, "commit": commit, "parent": parent, "time": int(time),
            "task": task, "gold": gold,
        })
    return found


def main():
    wanted = int(sys.argv[1])
    rows = []
    for clone in sys.argv[2:]:
        of_clone = sorted(tasks(clone, wanted), key=lambda row: (row["time"], row["commit"]))
        for at, row in enumerate(of_clone):
            # Weights are tuned on the older half; figures are of the newer one.
            row["half"] = "tune" if at < len(of_clone) // 2 else "held"
        rows += of_clone
        print(f"{clone}: {len(of_clone)} tasks", file=sys.stderr)
    json.dump(rows, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
