"""A description of the machine that results were measured on."""

import datetime
import os
import platform
import subprocess


def first_line(command):
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return output.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return "unknown"


def field(path, name):
    for line in read(path).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "unknown"


def memory():
    kib = field("/proc/meminfo", "MemTotal").split()[0]
    return f"{int(kib) / 2**20:.1f} GiB" if kib.isdigit() else kib


def available_gib():
    """Memory that programs can have without swapping; no limit where that is not known."""
    kib = field("/proc/meminfo", "MemAvailable").split()[0]
    return int(kib) / 2**20 if kib.isdigit() else float("inf")


def virtual():
    flags = field("/proc/cpuinfo", "flags").split()
    return " (in a virtual machine)" if "hypervisor" in flags else ""


def libc():
    return " ".join(platform.libc_ver())


def revision(root):
    """Of the tree, for the summary; nothing outside a checkout."""
    line = first_line(["git", "-C", root, "describe", "--always", "--dirty"])
    return "" if line == "unknown" else f", commit {line}"


def describe():
    """Pairs of a name and a value."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        ("date", datetime.datetime.now().strftime("%Y-%m-%d %H:%M")),
        ("CPU", (field("/proc/cpuinfo", "model name") or platform.machine()) + virtual()),
        ("cores", str(len(os.sched_getaffinity(0)))),
        ("memory", memory()),
        ("kernel", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("system", read("/etc/os-release").partition('PRETTY_NAME="')[2].partition('"')[0]),
        ("C library", libc()),
        ("compiler", first_line([os.environ.get("CC", "cc"), "--version"])),
        ("transparent huge pages", read("/sys/kernel/mm/transparent_hugepage/enabled")),
        ("overcommit", read("/proc/sys/vm/overcommit_memory")),
        ("load at the start", load),
    ]
