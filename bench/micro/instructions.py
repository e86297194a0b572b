#!/usr/bin/env python3
"""Counts the instructions of one malloc and free under several allocators, with callgrind.

    instructions.py [OPTIONS] NAME=LIBRARY...

Each LIBRARY is preloaded into patterns.c (beside this file); an empty one stands for the system's
allocator; `:` and a second one, `,` and VARIABLE=VALUE may follow. One that does not run under
callgrind is named and left out. Every figure is the difference between a long and a short run, per
operation: start-up cancels out. It is exact and repeatable; about 13 instructions of it are the loop and the calls.
Writes OUT/instructions.csv and OUT/instructions.md, and prints the latter.
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
from lib.measure import Allocator, preloading  # noqa: E402

PATTERNS = {
    "pair": "malloc, then free",
    "batch": "1000 mallocs, then 1000 frees in the same order",
    "replace": "free one of 5000 blocks at random, malloc another",
    "remote": "one thread mallocs 5000, another frees them",
}
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
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, pattern,
         str(size), str(count)],
        env=preloading(allocator), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    found = re.search(r"Collected : (\d+)", run.stdout)
    if run.returncode != 0 or not found:
        raise RuntimeError(run.stdout.strip().splitlines()[-1] if run.stdout else "no output")
    return int(found.group(1))


def counts_for(pattern, size):
    """Two counts of operations, in whole rounds of the pattern; fewer where each is dear."""
    at_once = {"pair": 1, "batch": 1000}.get(pattern, 5000)
    at_once = min(at_once, LIVE_BYTES // size)
    low = at_once * max(1, 5000 // at_once)
    return low, (5 if size <= 32768 else 3) * low


def can_run(program, allocator):
    """Whether it does so under callgrind; says if not."""
    try:
        collected(program, allocator, "pair", 16, 1)
    except RuntimeError as error:
        print(f"instructions: left out: {allocator.name}: {error}", file=sys.stderr)
        return False
    return True


def measure(program, allocator, pattern, size):
    """Instructions per operation, the loop's own included; None if the program fails."""
    low, high = counts_for(pattern, size)
    try:
        more = collected(program, allocator, pattern, size, high)
        less = collected(program, allocator, pattern, size, low)
    except RuntimeError as error:
        print(f"instructions: {pattern} {size}: {error}", file=sys.stderr)
        return None
    return (more - less) / (high - low)


def size_name(size):
    for unit, name in ((1 << 20, " MiB"), (1 << 10, " KiB")):
        if size >= unit:
            return f"{size // unit}{name}"
    return f"{size} B"


def write_csv(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["pattern", "size", *names])
        for pattern, size, values in rows:
            writer.writerow([pattern, size, *("" if v is None else f"{v:.1f}" for v in values)])


def markdown(names, rows):
    lines = ["Instructions per malloc and free, by callgrind; about 13 are the loop and the calls.",
             ""]
    lines += [f"- `{name}`: {text}" for name, text in PATTERNS.items()]
    lines += ["", "| pattern | size | " + " | ".join(names) + " |",
              "|---|---|" + "---|" * len(names)]
    for pattern, size, values in rows:
        known = [v for v in values if v is not None]
        best = min(known) if known else None
        cells = ["-" if v is None else f"**{v:.0f}**" if v == best else f"{v:.0f}" for v in values]
        lines.append(f"| {pattern} | {size_name(size)} | " + " | ".join(cells) + " |")
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
