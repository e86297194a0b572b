#!/usr/bin/env python3
"""Runs latency.c (beside this file) under several allocators, in turn, and compares them.

    latency.py [OPTIONS] NAME=LIBRARY...

Each LIBRARY is preloaded; an empty one stands for the system's allocator; `:` and a second one, `,`
and VARIABLE=VALUE may follow. Two tables:

- repeatable: the calls are the same in each round, so of every single call the shortest of all
  rounds is taken: a call that is slow by what the allocator does is slow each time, one that an
  interrupt made slow is not. (Work that moves between rounds, by the clock say, is lost here.)
- by phase: percentiles of each round; of each figure the lowest of all rounds.

Writes OUT/latency.csv and OUT/latency.md, and prints the latter.
"""
import argparse
import array
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lib.measure import Allocator, preloading, read_metrics  # noqa: E402

PHASES = ["churn", "fill", "empty", "refill"]
OPERATIONS = {
    "control": "control",
    "malloc": "malloc",
    "free": "free",
    "malloc_os": "malloc, with OS",
    "malloc_own": "malloc, with OS, less system calls",
    "free_os": "free, with OS",
    "free_own": "free, with OS, less system calls",
}
COLUMNS = ["p50", "p99", "p99.9", "p99.99", "p99.999", "max"]
FRACTIONS = [0.5, 0.99, 0.999, 0.9999, 0.99999, 1]
LEFT_OUT = 0xFFFFFFFF  # in all rounds
KINDS = {"malloc": 0, "malloc, with page faults": 1, "free": 2, "free, with page faults": 3}
SHOWN = ["p50", "p99.9", "p99.999", "max"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("allocators", nargs="+", metavar="NAME=LIBRARY", type=Allocator.of,
                        help="library to preload; NAME= is the system's allocator")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."),
                        help="folder for latency.csv and latency.md")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=int, default=100, help="percent of the work")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    return parser.parse_args()


def build(compiler, folder):
    program = os.path.join(folder, "latency")
    subprocess.run([compiler, "-std=gnu11", "-O2", "-fno-builtin", "-pthread",
                    str(HERE / "latency.c"), "-o", program], check=True)
    return program


def run(program, allocator, scale, saved):
    done = subprocess.run([program, "--scale", str(scale), "--save", saved],
                          env=preloading(allocator), check=True, stdout=subprocess.PIPE)
    return read_metrics(done.stdout)


def shortest(saved, before):
    """Of each call, the shortest time of this round and of those before."""
    calls = array.array("I")
    with open(saved, "rb") as file:
        calls.frombytes(file.read())
    return calls if before is None else array.array("I", map(min, calls, before))


def repeatable(calls):
    """The lowest two bits of a call say what it was: see latency.c."""
    result = {}
    for name, bits in KINDS.items():
        times = sorted(call >> 2 for call in calls if call & 3 == bits and call != LEFT_OUT)
        if times:
            last = len(times) - 1
            result[name] = [times[min(last, int(f * len(times)))] for f in FRACTIONS]
            result[name].append(len(times))
    return result


def repeatable_markdown(results, rounds):
    lines = [f"Nanoseconds: {', '.join(SHOWN)}; of each call the shortest of {rounds} rounds, less "
             "its system calls.", "", "| operation | " + " | ".join(results) + " |",
             "|---|" + "---|" * len(results)]
    shown = [COLUMNS.index(column) for column in SHOWN]
    for name in KINDS:
        cells = [" / ".join(str(figures[name][i]) for i in shown) + f" ({figures[name][-1]})"
                 if name in figures else "-" for figures in results.values()]
        lines.append(f"| {name} (how many) | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def lowest(runs):
    """Of figures that not every round has (a rare system call, say), the rounds that have them."""
    names = {name for figures in runs for name in figures}
    return {name: min(figures[name] for figures in runs if name in figures) for name in names}


def rows_of(results):
    for phase in PHASES:
        for key, text in OPERATIONS.items():
            if any(f"{phase}_{key}_max_ns" in figures for figures in results.values()):
                yield phase, key, text


def write_csv(path, results, each):
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["phase", "operation", "allocator", "samples",
                         *(f"{column}_ns" for column in COLUMNS)])
        for phase, key, _ in rows_of(results):
            for name, figures in results.items():
                values = [figures.get(f"{phase}_{key}_{column}_ns") for column in COLUMNS]
                samples = figures.get(f"{phase}_{key}_samples", 0)
                writer.writerow([phase, key, name, int(samples),
                                 *("" if v is None else int(v) for v in values)])
        for kind in KINDS:
            for name, figures in each.items():
                if kind in figures:
                    writer.writerow(["repeatable", kind, name, figures[kind][-1],
                                     *figures[kind][:-1]])


def markdown(results, rounds):
    lines = [f"Nanoseconds: {', '.join(SHOWN)}; of each the lowest of {rounds} rounds.", "",
             "| phase | operation | " + " | ".join(results) + " |",
             "|---|---|" + "---|" * len(results)]
    for phase, key, text in rows_of(results):
        cells = []
        for figures in results.values():
            values = [figures.get(f"{phase}_{key}_{column}_ns") for column in SHOWN]
            cells.append("-" if None in values else " / ".join(f"{v:.0f}" for v in values))
        lines.append(f"| {phase} | {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    options = parse_arguments()
    allocators = options.allocators
    runs = {each.name: [] for each in allocators}
    calls = {each.name: None for each in allocators}
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "saved")
        program = build(options.cc, folder)
        for number in range(options.rounds):
            turn = number % len(allocators)
            for each in allocators[turn:] + allocators[:turn]:
                print(f"latency: round {number + 1}/{options.rounds} {each.name}", file=sys.stderr)
                runs[each.name].append(run(program, each, options.scale, saved))
                calls[each.name] = shortest(saved, calls[each.name])
    results = {name: lowest(figures) for name, figures in runs.items()}
    options.out.mkdir(parents=True, exist_ok=True)
    each_call = {name: repeatable(times) for name, times in calls.items()}
    write_csv(options.out / "latency.csv", results, each_call)
    text = repeatable_markdown(each_call, options.rounds) + "\n" + markdown(results, options.rounds)
    (options.out / "latency.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:
        sys.exit(f"latency: {error.filename} is missing")
    except subprocess.CalledProcessError as error:
        sys.exit(f"latency: {error.cmd[0]} ended with {error.returncode}")
