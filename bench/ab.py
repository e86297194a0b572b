#!/usr/bin/env python3
"""Compares builds of the allocator, or any libraries, over chosen rows: quick answers while tuning.

    ab.py [--only ROWS] [--rounds N] [--scale PERCENT] NAME=LIBRARY NAME=LIBRARY...

Each row is run on each library in turn, round by round. For each row it prints user and system CPU
time and peak RSS of the first library, and the ratios of the others to it: of the quickest runs,
since what disturbs a run only ever slows it, and, in brackets, the median of the ratios of runs
that stood beside each other. NAME= is the C library's own. ./mi bench builds what this needs.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run  # noqa: E402
from lib import stats  # noqa: E402
from lib.measure import Allocator  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--only", default="", metavar="NAME,..", help="rows, patterns, programs or kinds; all")
    add("--rounds", type=int, default=3, metavar="N", help="how often each is run (3)")
    add("--scale", type=int, default=100, metavar="PERCENT", help="of the operations (100)")
    add("--build", metavar="DIR", default=os.path.join(run.ROOT, "build", "bench"))
    add("--workloads", metavar="DIR",
        default=os.path.join(run.ROOT, "build", "release", "bench", "workloads"))
    add("--quick", action="store_true", help="of the programs, only the short ones")
    add("libraries", nargs="+", type=Allocator.of, metavar="NAME=LIBRARY")
    options = parser.parse_args()
    options.sweep = False
    options.only = [each for each in options.only.split(",") if each]
    options.build = os.path.abspath(options.build)
    return options


def ratios(cells, names):
    """Ratios of least CPU time, the median of those of pairs, and of least peak RSS, for each library
    but the first; None: failed."""
    first = cells[0]
    for _, cell in zip(names[1:], cells[1:]):
        if not first or not cell:
            yield None
            continue
        pairs = zip(cell.values("cpu"), first.values("cpu"))
        yield (cell.least("cpu") / first.least("cpu"),
               stats.median([theirs / ours for theirs, ours in pairs]),
               cell.least("rss_kib") / first.least("rss_kib"))


def line(name, first, columns):
    texts = ["failed" if each is None else f"{each[0]:.3f} ({each[1]:.3f})  {each[2]:.3f}"
             for each in columns]
    print(f"{name:26} {first:>18}" + "".join(f"  {text:>22}" for text in texts), flush=True)


def main():
    options = parse_arguments()
    names = [each.name for each in options.libraries]
    launcher = run.build_launcher(options)
    ready, _ = run.prepare(run.find_rows(options))
    print(f"{'':26} {names[0] + ': s, MiB':>18}"
          + "".join(f"  {name + ': CPU, RSS':>22}" for name in names[1:]), flush=True)
    found = []
    for row in ready:
        cells = [stats.Cell() for _ in names]
        for _, _, library in run.in_rounds([row], options.libraries, options.rounds):
            cells[names.index(library.name)].add(row.run(launcher, library))
        columns = list(ratios(cells, names))
        first = "failed"
        if cells[0]:
            first = f"{cells[0].least('cpu'):.3f}  {cells[0].least('rss_kib') / 1024:.1f}"
        line(row.name, first, columns)
        found.append(columns)
    means = []
    for column in zip(*found):
        good = [each for each in column if each is not None]
        means.append(tuple(map(stats.geometric_mean, zip(*good))) if good else None)
    line(f"geometric mean, {len(found)} rows", "", means)


if __name__ == "__main__":
    main()
