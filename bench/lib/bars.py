"""The bars: what the allocator is held to, beside what was measured.

    bars.table(summary)     a list of Bar, of those for which the results have figures; empty if they
                            are of less work or a shorter idle time than the bars are for

Times are those of the quickest run of each: what disturbs a run only ever slows it.
"""

from collections import namedtuple

from . import stats

# sign: "≤" or "≥"; the values are numbers, of which `digits` are shown.
Bar = namedtuple("Bar", "name sign limit measured digits")

LOOP = 13  # instructions of the loop and the calls that patterns.c adds to each operation
INSTRUCTIONS = (  # pattern, size, bound without the loop
    ("pair", 16, 30), ("pair", 1024, 45), ("pair", 4096, 45), ("pair", 32768, 45),
    ("pair", 1048576, 250), ("replace", 4096, 170), ("replace", 16384, 200), ("remote", 64, 80))
TIMES = (("growth", "glibc", 1.0), ("sparse-calloc", "jemalloc", 1.0))
START_RSS_KIB, START_FAULTS = 64, 20  # above glibc's

ROWS = ["hello", *(row for row, _, _ in TIMES), *stats.RETURNED, "threads"]
PEERS = ["glibc", "jemalloc"]
THREADS = [1, 2, stats.CROWD]


def is_met(bar):
    """Compares what is shown: a count of 30.002 instructions is 30."""
    shown = round(bar.measured, bar.digits)
    return shown <= bar.limit if bar.sign == "≤" else shown >= bar.limit


def pattern_name(pattern, size):
    return f"{pattern} {size}"


def of_instructions(summary):
    cells = stats.tabulate(summary.phases.get("micro", []))
    for pattern, size, bound in INSTRUCTIONS:
        cell = cells.get(pattern_name(pattern, size), {}).get(stats.OURS)
        if cell:
            yield Bar(f"instructions, {pattern} of {size} bytes", "≤", bound,
                      cell.median("instructions") - LOOP, 0)


def of_times(summary):
    for row, peer, limit in TIMES:
        found = stats.figures(summary.table.get(row, {}), "cpu", [stats.OURS, peer],
                              stats.Cell.least)
        if len(found) == 2:
            yield Bar(f"{row}: CPU time to {peer}'s", "≤", limit,
                      found[stats.OURS] / found[peer], 2)


def of_memory_returned(summary):
    for row, cells in summary.idle_table().items():
        share = stats.returned(cells.get(stats.OURS))
        if row in stats.RETURNED and share is not None:
            yield Bar(f"{row}: % given back after {summary.about['idle']} s", "≥",
                      100 * stats.RETURNED[row], 100 * share, 0)


def of_scaling(summary):
    for row in summary.threaded_rows():
        speed_up = summary.speed_up(row, stats.OURS)
        crowd = summary.crowd_cost(row, stats.OURS)
        if summary.live_grows(row, stats.OURS):
            crowd = None
        if speed_up is not None and row in stats.UNSHARED:
            yield Bar(f"{row}: 2 threads, times as fast as 1", "≥", stats.SPEED_UP, speed_up, 2)
        if crowd is not None:
            yield Bar(f"{row}: CPU per operation, {stats.CROWD} threads to 2", "≤",
                      stats.CROWD_COST, crowd, 2)


def of_start(summary):
    for cells in summary.start_table().values():
        ours, system = cells.get(stats.OURS), cells.get("glibc")
        if ours and system:
            yield Bar("hello: KiB resident above glibc's", "≤", START_RSS_KIB,
                      ours.median("rss_kib") - system.median("rss_kib"), 0)
            yield Bar("hello: page faults above glibc's", "≤", START_FAULTS,
                      ours.median("faults") - system.median("faults"), 0)


def table(summary):
    if not summary.about["full"]:
        return []
    return [bar for part in (of_instructions, of_times, of_memory_returned, of_scaling, of_start)
            for bar in part(summary)]
