"""Rows of the comparison: the workloads, which are ours, and the base class of real programs."""

import fnmatch
import glob
import itertools
import os
import re

from . import counts, machine
from .measure import preloading

KINDS = {
    "objects": "small objects, one thread",
    "replace": "random blocks replaced, over live sets, sizes and threads",
    "threads": "several threads",
    "large": "large blocks, realloc, calloc",
    "return": "memory given back after a burst",
    "program": "real programs",
    "start": "a program that prints a line; not in the scores",
}


class Row:
    name = kind = description = ""
    program = ""  # what several rows may have in common
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
    """A program of bench/workloads, with options that make it this row."""

    def __init__(self, name, path, scale, about, options=(), needs_gib=0):
        self.name, self.path, self.scale = name, path, scale
        self.program = os.path.basename(path)
        self.kind, self.description = about
        self.options = list(options)
        self.needs_gib = needs_gib

    def prepare(self):
        if not os.access(self.path, os.X_OK):
            return "is not built"
        if self.needs_gib > machine.available_gib():
            return f"needs {self.needs_gib} GiB of free memory"
        return None

    def without_threads(self):
        """The row that leaves the number of threads open."""
        if "--threads" not in self.options:
            return self
        at = self.options.index("--threads")
        return Workload(self.name.removesuffix("-" + self.options[at + 1]), self.path, self.scale,
                        (self.kind, self.description), self.options[:at] + self.options[at + 2:],
                        self.needs_gib)

    def arguments(self, scale=None, threads=None, idle=0):
        words = self.options + ["--scale", str(scale or self.scale)]
        if threads:
            words += ["--threads", str(threads)]
        if idle:
            words += ["--idle", str(idle)]
        return words

    def shown(self):
        return " ".join([self.program] + self.arguments())

    def run(self, launcher, allocator, **arguments):
        record = launcher.run(allocator, [self.path, *self.arguments(**arguments)])
        if self.kind == "start" and record["status"] == "ok":
            record["rss_kib"] = int(record["metrics"].get("rss_kib", record["rss_kib"]))
        return record

    def count(self, allocator, scale):
        """Exact figures; one record, with these or a failure."""
        try:
            figures = counts.count([self.path, *self.arguments(scale=scale)],
                                   preloading(allocator))
        except RuntimeError as error:
            return {"status": "failed", "message": str(error)[:200]}
        metrics = {name: value for name, value in figures.items() if name != "instructions"}
        return {"status": "ok", "instructions": figures["instructions"], "metrics": metrics}


def combinations(text):
    """Of `--live 1,2 --sizes 8`: lists of words, one for each choice of values; the last option
    changes fastest."""
    words = text.split()
    names, values = words[::2], [each.split(",") for each in words[1::2]]
    for chosen in itertools.product(*values):
        yield [word for pair in zip(names, chosen) for word in pair]


def workloads_of(source, directory, scale):
    """Its first line says `// bench: KIND, description`. Each line `// rows: OPTION VALUE,.. ..`
    that follows makes a row for each combination of values, named after the program and these;
    `; needs N GiB` at its end is free memory without which they are left out. A program without
    such lines is one row."""
    name = os.path.splitext(os.path.basename(source))[0]
    path = os.path.join(directory, name)
    with open(source) as file:
        lines = list(itertools.takewhile(lambda line: line.startswith("//"), file))
    about = re.match(r"// bench: (\w+), (.*)", lines[0]) if lines else None
    if not about or about.group(1) not in KINDS:
        return
    if len(lines) == 1:
        yield Workload(name, path, scale, about.groups())
    for line in lines[1:]:
        text, gib = re.fullmatch(r"// rows: (.*?)(?:; needs (\d+) GiB)?\n", line).groups()
        for options in combinations(text):
            yield Workload("-".join([name, *options[1::2]]), path, scale, about.groups(), options,
                           int(gib or 0))


def workloads(source_directory, directory, scale):
    sources = sorted(glob.glob(os.path.join(source_directory, "*.c")))
    return [row for source in sources for row in workloads_of(source, directory, scale)]


def selected(rows, patterns):
    """Rows whose name matches one of the patterns, or whose kind or program is one of them; all, if
    there are none."""
    if not patterns:
        return list(rows)
    return [row for row in rows
            if any(fnmatch.fnmatch(row.name, each) or each in (row.kind, row.program)
                   for each in patterns)]
