#!/usr/bin/env python3
"""Merges what the tests of a build reached, and prints what of src/ that is, by file.

  coverage.py [--missed] BUILD...

BUILD is a folder as `./mi coverage` makes it: its programs are compiled by clang 19 with counters,
and profiles/ in it holds what their runs counted. Each program that has code of src/ in it is read
by itself; a line is reached if it is in one of them, and so is either way of a branch. A branch
whose condition a build mode makes constant is none. --missed: prints the places not reached too.
Files for memory tools are left out: test/tools runs them under these.
"""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES_LEAST, BRANCHES_LEAST = 95, 85
FOR_TOOLS = ("src/alloc/tracked.c", "src/heap/tracked.c", "src/heap/tracked.h", "src/base/track.h")


def programs(build):
    """Those with counters for src/: the library, and tests that include its sources."""
    yield from build.glob("libmimalloc*.so")
    for folder in ("unit", "fault", "fuzz"):
        yield from sorted(p for p in (build / "test").glob(folder + ".*") if p.is_file())


def merged_profile(build):
    profile = build / "merged.profdata"
    raw = [str(p) for p in (build / "profiles").glob("*.profraw")]
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "--failure-mode=all", "-o",
                    str(profile), *raw], check=True)
    return profile


def export(program, profile, form):
    out = subprocess.run(["llvm-cov-19", "export", "--format", form, "--instr-profile", str(profile),
                          str(program)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True)
    return out.stdout.decode()


def lines_of(program, profile):
    """Triples of file, line, count."""
    name = None
    for record in export(program, profile, "lcov").splitlines():
        kind, _, rest = record.partition(":")
        if kind == "SF":
            name = rest
        elif kind == "DA":
            line, count = rest.split(",")[:2]
            yield name, int(line), int(count)


def branches_of(program, profile):
    """Of each branch its file, line, column, and how often it was taken and was not."""
    for file in json.loads(export(program, profile, "text"))["data"][0]["files"]:
        for line, column, _, _, taken, not_taken, *_ in file["branches"]:
            yield file["filename"], line, column, taken, not_taken


class File:
    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.defaultdict(lambda: [0, 0])

    def missed_lines(self):
        return sorted(line for line, count in self.lines.items() if count == 0)

    def ways(self):
        """Of branches that were come to: others are constants, or behind a branch that counts."""
        return [(place, way, count) for place, counts in sorted(self.branches.items())
                if any(counts) for way, count in zip(("true", "false"), counts)]


def name_of(path):
    """Below the root, if the file counts; else None."""
    path = pathlib.Path(path).resolve()
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
    return name if name.startswith("src/") and name not in FOR_TOOLS else None


def gather(builds):
    files = collections.defaultdict(File)
    for build in builds:
        profile = merged_profile(build)
        for program in programs(build):
            for path, line, count in lines_of(program, profile):
                files[name_of(path)].lines[line] += count
            for path, line, column, taken, not_taken in branches_of(program, profile):
                ways = files[name_of(path)].branches[line, column]
                ways[0] += taken
                ways[1] += not_taken
    files.pop(None, None)
    return files


def percent(part, whole):
    return 100 * part / whole if whole else 100


def report(files, missed):
    sums = [0, 0, 0, 0]
    print(f"{'file':32} {'lines':>6} {'reached':>8} {'ways':>6} {'reached':>8}")
    for name, file in sorted(files.items()):
        lines, ways = len(file.lines), file.ways()
        row = (lines, lines - len(file.missed_lines()), len(ways),
               sum(count > 0 for _, _, count in ways))
        sums = [a + b for a, b in zip(sums, row)]
        print(f"{name:32} {row[0]:6} {percent(row[1], row[0]):7.1f}% {row[2]:6} "
              f"{percent(row[3], row[2]):7.1f}%")
        if missed:
            for line in file.missed_lines():
                print(f"  {name}:{line} is not reached")
            for (line, column), way, count in ways:
                if count == 0 and file.lines[line] > 0:
                    print(f"  {name}:{line}:{column} is never {way}")
    lines, branches = percent(sums[1], sums[0]), percent(sums[3], sums[2])
    print(f"{'all':32} {sums[0]:6} {lines:7.1f}% {sums[2]:6} {branches:7.1f}%")
    return lines >= LINES_LEAST and branches >= BRANCHES_LEAST


def main():
    arguments = sys.argv[1:]
    missed = "--missed" in arguments
    builds = [pathlib.Path(a) for a in arguments if a != "--missed"]
    if not builds:
        sys.exit(__doc__)
    if not report(gather(builds), missed):
        sys.exit(f"coverage: below {LINES_LEAST} % of the lines or {BRANCHES_LEAST} % of the "
                 "branches")


if __name__ == "__main__":
    main()
