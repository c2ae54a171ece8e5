"""Finds the weights of `[rank.mix]` on the older half of the tasks, and says how they do on the newer.

`python3 tune.py signals.json`, where the benchmark wrote the signals of each task's files (see
`main.rs`). Goes up coordinate by coordinate from the given weights; what counts is the mean, over
repositories, of the recall of gold files among the first 5, 10, 20 and 40.
"""

import json
import sys

NAMES = ["words", "definitions", "nearness", "importance", "churn", "together", "commits"]
START = [1.0, 0.1, 0.2, 0.05, 0.3, 0.3, 0.6, 0.125]
CUTS = [5, 10, 20, 40]


def recall(tasks, weights):
    """The mean over repositories of the mean over tasks and cuts."""
    mix, secondary = weights[:7], weights[7]
    sums = {}
    for task in tasks:
        scored = sorted(
            ((sum(w * s for w, s in zip(mix, row[1:8])) * (secondary if row[8] else 1.0), row[0]) for row in task["files"]),
            key=lambda pair: -pair[0],
        )
        value = sum(sum(gold for _, gold in scored[:cut]) for cut in CUTS) / (len(CUTS) * task["gold"])
        total, n = sums.get(task["repository"], (0.0, 0))
        sums[task["repository"]] = (total + value, n + 1)
    return sum(total / n for total, n in sums.values()) / len(sums)


def main():
    tasks = json.load(open(sys.argv[1]))
    tune = [task for task in tasks if task["half"] == "tune"]
    held = [task for task in tasks if task["half"] == "held"]
    weights = list(START)
    best = recall(tune, weights)
    print(f"start {best:.4f}, held {recall(held, weights):.4f}")
    for factor in (2.0, 1.5, 1.2):
        improved = True
        while improved:
            improved = False
            for at in range(1, len(weights)):
                for value in (weights[at] * factor, weights[at] / factor, 0.0 if factor == 2.0 else weights[at]):
                    trial = list(weights)
                    trial[at] = min(value, 1.0) if at == 7 else value
                    score = recall(tune, trial)
                    # Steps that gain less are fitted to chance.
                    if score > best + 0.0005:
                        best, weights, improved = score, trial, True
    for name, weight in zip(NAMES + ["secondary"], weights):
        print(f"{name} = {weight:.3g}")
    print(f"tuned {best:.4f}, held {recall(held, weights):.4f}")
    for name, at in zip(NAMES, range(7)):
        without = list(weights)
        without[at] = 0.0
        print(f"without {name}: tune {recall(tune, without):.4f}, held {recall(held, without):.4f}")


if __name__ == "__main__":
    main()
