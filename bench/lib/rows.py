"""Rows of the comparison: the workloads, which are ours, and the base class of real programs."""

import fnmatch
import glob
import os
import re
import subprocess

from .measure import preloading

KINDS = {
    "objects": "small objects, one thread",
    "threads": "several threads",
    "large": "large blocks, realloc, calloc",
    "return": "memory given back after a burst",
    "program": "real programs",
    "start": "a program that prints a line; not in the scores",
}


class Row:
    name = kind = description = ""
    packages = ()  # Debian's, that it is in

    def prepare(self):
        """Makes what all runs need. Returns why this row cannot be run here, or None."""
        return None

    def shown(self):
        """The command, as the summary shows it."""
        return ""

    def run(self, launcher, allocator):
        raise NotImplementedError


class Workload(Row):
    """A program of bench/workloads. Its first line says: `// bench: KIND, description`."""

    def __init__(self, source, directory, scale):
        self.name = os.path.splitext(os.path.basename(source))[0]
        self.path = os.path.join(directory, self.name)
        self.scale = scale
        with open(source) as file:
            match = re.match(r"// bench: (\w+), (.*)", file.readline())
        self.kind, self.description = match.groups() if match else (None, "")

    def prepare(self):
        return None if os.access(self.path, os.X_OK) else "is not built"

    def arguments(self, scale=None, threads=None, idle=0):
        words = ["--scale", str(scale or self.scale)]
        if threads:
            words += ["--threads", str(threads)]
        if idle:
            words += ["--idle", str(idle)]
        return words

    def shown(self):
        return " ".join([self.name] + self.arguments())

    def run(self, launcher, allocator, **arguments):
        record = launcher.run(allocator, [self.path, *self.arguments(**arguments)])
        if self.kind == "start" and record["status"] == "ok":
            record["rss_kib"] = int(record["metrics"].get("rss_kib", record["rss_kib"]))
        return record

    def count_instructions(self, allocator, scale):
        """By callgrind; one record, with the number or a failure."""
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                   self.path, *self.arguments(scale=scale)]
        result = subprocess.run(command, env=preloading(allocator),
                                capture_output=True, text=True, errors="replace")
        match = re.search(r"Collected *: *([0-9]+)", result.stderr)
        if result.returncode != 0 or not match:
            return {"status": f"exit {result.returncode}"}
        return {"status": "ok", "instructions": int(match.group(1))}


def workloads(source_directory, directory, scale):
    found = []
    for source in sorted(glob.glob(os.path.join(source_directory, "*.c"))):
        workload = Workload(source, directory, scale)
        if workload.kind in KINDS:
            found.append(workload)
    return found


def selected(rows, patterns):
    """Rows whose name or kind matches one of the patterns; all, if there are none."""
    if not patterns:
        return list(rows)
    return [row for row in rows
            if any(fnmatch.fnmatch(row.name, each) or row.kind == each for each in patterns)]
