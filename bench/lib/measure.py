"""Runs a program once on an allocator, by way of launch.c, and returns what it used."""

import argparse
import contextlib
import mmap
import os
import re
import subprocess
import tempfile

from . import machine

TIME_LIMIT = 300  # seconds for one run


class Allocator:
    """ours, a peer, or a limit of nature. `preload`: the libraries for LD_PRELOAD."""

    def __init__(self, name, preload, role, version, env=None):
        self.name, self.preload, self.role, self.version = name, list(preload), role, version
        self.env = env or {}
        for path in self.preload:
            if re.search(r"[\s:;]", path):
                raise SystemExit(f"{name}: LD_PRELOAD divides at spaces and colons: {path}")

    def named(self):
        """As the programs in micro/ take it: NAME=LIBRARY[:LIBRARY][,VARIABLE=VALUE]."""
        return ",".join([self.name + "=" + ":".join(self.preload)]
                        + [f"{name}={value}" for name, value in self.env.items()])

    @classmethod
    def of(cls, text):
        """Of what named() returns; NAME= is the system's. For argparse."""
        first, *changes = text.split(",")
        name, separator, libraries = first.partition("=")
        libraries = [os.path.abspath(each) for each in libraries.split(":") if each]
        if not separator:
            raise argparse.ArgumentTypeError(f"{text}: not NAME=LIBRARY")
        for library in libraries:
            if not os.path.exists(library):
                raise argparse.ArgumentTypeError(f"{name}: no file {library}")
        return cls(name, libraries, "", "", dict(each.split("=", 1) for each in changes))


def warm(kib):
    """Touches so much memory and gives it back. A virtual machine's host takes away what its guest
    has not used for some seconds: who touches it next waits for the host, four times as long as for
    the kernel, and that is to be no allocator's bad luck. In huge pages where there are any: who
    wants such gets what has been free for longest."""
    if 0 < kib < machine.available_gib() * 2**20:
        memory = mmap.mmap(-1, kib * 1024, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with contextlib.suppress(OSError):  # of a kernel without them
            memory.madvise(mmap.MADV_HUGEPAGE)
        for start in range(0, len(memory), mmap.PAGESIZE):
            memory[start] = 1
        memory.close()


UNKNOWN_KIB = 2**20  # touched before a command's first run


class Launcher:
    def __init__(self, path, scratch):
        self.path, self.scratch = path, scratch
        self.peaks = {}  # of a command: KiB, the most that a run of it had resident

    def command(self, figures, allocator, command):
        preload = ":".join(allocator.preload) or "-"
        return [self.path, figures, str(TIME_LIMIT), preload, *command]

    def figures_file(self):
        handle, path = tempfile.mkstemp(prefix="figures-", dir=self.scratch)
        os.close(handle)
        return path

    def run(self, allocator, command, stdin=None, env=None, cwd=None):
        """Returns a record without its row and allocator. `stdin`: a path."""
        figures = self.figures_file()
        peak = self.peaks.get(tuple(command), 0)
        warm(peak + peak // 4 if peak else UNKNOWN_KIB)
        try:
            with open(stdin or os.devnull, "rb") as input_file:
                result = subprocess.run(
                    self.command(figures, allocator, command), stdin=input_file,
                    capture_output=True, env=environment(allocator, env), cwd=cwd)
            record = read_figures(figures)
        finally:
            os.unlink(figures)
        self.peaks[tuple(command)] = max(peak, record.get("rss_kib", 0))
        record["metrics"] = read_metrics(result.stdout)
        if record["status"] != "ok":
            record["message"] = last_line(result.stderr)
        return record


def preloading(allocator):
    """The environment of a program that is run without the launcher."""
    return environment(allocator, {"LD_PRELOAD": ":".join(allocator.preload)})


def environment(allocator, changes=None):
    """The same for every allocator, but for what one needs to work as it should."""
    settings = ("LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_", "MIMALLOC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    return {**kept, "LC_ALL": "C", **allocator.env, **(changes or {})}


def last_line(output):
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


def status_name(code):
    if code == 0:
        return "ok"
    return f"signal {code - 128}" if code > 128 else f"exit {code}"


def read_figures(path):
    with open(path) as file:
        words = file.read().split()
    if len(words) != 8:
        return {"status": "not started"}
    wall, user, system = (float(word) for word in words[:3])
    rss, minor, major, mappings, code = (int(word) for word in words[3:])
    return {"status": status_name(code), "wall": wall, "user": user, "sys": system,
            "cpu": user + system, "rss_kib": rss, "faults": minor + major,
            "major_faults": major, "mappings": mappings}


def read_metrics(output):
    """Lines `metric NAME VALUE` that a workload prints."""
    metrics = {}
    for line in output.decode(errors="replace").splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "metric":
            metrics[words[1]] = float(words[2])
    return metrics
