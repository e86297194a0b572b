"""The sweep: one thread replaces random blocks of 8 to 1000 bytes, over live sets that do or do not
fit each level of a machine's caches. What an allocator adds to the price of memory shows as a cliff
of its own."""

import os

from .rows import Workload

PROGRAM, MEAN_BYTES = "replace", 504
LIVE_KIB = [10, 32, 100, 320, 1024, 3200, 10240, 32768, 102400, 327680, 1048576]


def size_name(kib):
    return f"{kib} KiB" if kib < 1000 else f"{kib / 1024:.0f} MiB" if kib < 2**20 else "1 GiB"


def sweep_rows(directory, scale):
    about = ("sweep", "random replacement, 8 to 1000 bytes, one thread")
    return [Workload(size_name(kib), os.path.join(directory, PROGRAM), scale, about,
                     ["--live", str(kib * 1024 // MEAN_BYTES), "--sizes", "1000",
                      "--threads", "1"], needs_gib=2 if kib > 2**18 else 0)
            for kib in LIVE_KIB]
