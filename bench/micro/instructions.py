#!/usr/bin/env python3
"""Counts instructions and cache misses of one malloc and free, under several allocators.

    instructions.py [OPTIONS] NAME=LIBRARY...

Each LIBRARY is preloaded into patterns.c (beside this file); an empty one stands for the system's
allocator; `:` and a second one, `,` and VARIABLE=VALUE may follow. One that does not run under
cachegrind is named and left out. Every figure is the difference between a long and a short run, per
operation: start-up cancels out. It is exact and repeatable; about 13 instructions of it are the
loop and the calls. The program touches no block, so misses are those of the allocator and of the table
that blocks are in. Writes OUT/instructions.csv and OUT/instructions.md, and prints the latter.
"""
import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from lib import counts  # noqa: E402
from lib.measure import Allocator, preloading  # noqa: E402

PATTERNS = {
    "pair": "malloc, then free",
    "batch": "1000 mallocs, then 1000 frees in the same order",
    "few": "50 mallocs, then 50 frees in the same order",
    "replace": "free one of 5000 blocks at random, malloc another",
    "spread": "free one of 100,000 blocks at random, malloc another",
    "remote": "one thread mallocs 5000, another frees them",
}
TITLES = {
    "instructions": "Instructions per malloc and free; about 13 are the loop and the calls.",
    "l1_misses": "First-level misses per malloc and free, of a cache of 32 KiB.",
    "ll_misses": "Last-level misses per malloc and free, of a cache of 1 MiB.",
}
AT_ONCE = {"pair": 1, "batch": 1000, "few": 50, "spread": 100000}
SIZES = [16, 64, 256, 1024, 4096, 16384, 32768, 65536, 262144, 1048576, 4194304]
QUICK_SIZES = [16, 1024, 4096, 32768, 1048576]
LIVE_BYTES = 256 << 20  # patterns.c holds no more than this at a time


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("allocators", nargs="+", metavar="NAME=LIBRARY", type=Allocator.of,
                        help="library to preload; NAME= is the system's allocator")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."),
                        help="folder for instructions.csv and instructions.md")
    parser.add_argument("--quick", action="store_true", help="a few sizes only")
    parser.add_argument("--only", metavar="REGEX", default="", help='of "PATTERN SIZE"')
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    return parser.parse_args()


def build(compiler, folder):
    program = os.path.join(folder, "patterns")
    subprocess.run([compiler, "-O2", "-fno-builtin", "-pthread", str(HERE / "patterns.c"),
                    "-o", program], check=True)
    return program


def collected(program, allocator, pattern, size, count):
    return counts.count([program, pattern, str(size), str(count)], preloading(allocator))


def counts_for(pattern, size):
    """Two counts of operations, in whole rounds of the pattern; fewer where each is dear."""
    at_once = min(AT_ONCE.get(pattern, 5000), LIVE_BYTES // size)
    low = at_once * max(1, 5000 // at_once)
    return low, (5 if size <= 32768 else 3) * low


def can_run(program, allocator):
    """Whether it does so under cachegrind; says if not."""
    try:
        collected(program, allocator, "pair", 16, 1)
    except RuntimeError as error:
        print(f"instructions: left out: {allocator.name}: {error}", file=sys.stderr)
        return False
    return True


def measure(program, allocator, pattern, size):
    """Figures per operation, the loop's own included, by name; none if the program fails."""
    low, high = counts_for(pattern, size)
    try:
        more = collected(program, allocator, pattern, size, high)
        less = collected(program, allocator, pattern, size, low)
    except RuntimeError as error:
        print(f"instructions: {pattern} {size}: {error}", file=sys.stderr)
        return {}
    return {name: (more[name] - less[name]) / (high - low) for name in counts.FIGURES}


def size_name(size):
    for unit, name in ((1 << 20, " MiB"), (1 << 10, " KiB")):
        if size >= unit:
            return f"{size // unit}{name}"
    return f"{size} B"


def write_csv(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["figure", "pattern", "size", *names])
        for figure in counts.FIGURES:
            for pattern, size, values in rows:
                writer.writerow([figure, pattern, size, *(
                    f"{each[figure]:.3f}" if each else "" for each in values)])


def table(figure, names, rows):
    digits = 0 if figure == "instructions" else 2
    lines = ["", TITLES[figure], "", "| pattern | size | " + " | ".join(names) + " |",
             "|---|---|" + "---|" * len(names)]
    for pattern, size, values in rows:
        shown = [round(each[figure], digits) if each else None for each in values]
        best = min((each for each in shown if each is not None), default=None)
        cells = ["-" if each is None else f"**{each:.{digits}f}**" if each == best
                 else f"{each:.{digits}f}" for each in shown]
        lines.append(f"| {pattern} | {size_name(size)} | " + " | ".join(cells) + " |")
    return lines


def markdown(names, rows):
    lines = ["By cachegrind. The patterns:", ""]
    lines += [f"- `{name}`: {text}" for name, text in PATTERNS.items()]
    for figure in counts.FIGURES:
        lines += table(figure, names, rows)
    return "\n".join(lines) + "\n"


def main():
    options = parse_arguments()
    sizes = QUICK_SIZES if options.quick else SIZES
    wanted = [(pattern, size) for pattern in PATTERNS for size in sizes
              if re.search(options.only, f"{pattern} {size}")]
    rows = []
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        program = build(options.cc, folder)
        allocators = [each for each in options.allocators if can_run(program, each)]
        for number, (pattern, size) in enumerate(wanted, 1):
            print(f"instructions: {number}/{len(wanted)} {pattern} {size}", file=sys.stderr)
            runs = [pool.submit(measure, program, each, pattern, size) for each in allocators]
            rows.append((pattern, size, [run.result() for run in runs]))
    names = [each.name for each in allocators]
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "instructions.csv", names, rows)
    text = markdown(names, rows)
    (options.out / "instructions.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:
        sys.exit(f"instructions: {error.filename} is missing")
