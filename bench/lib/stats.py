"""The arithmetic of the comparison: medians, geometric means, scores. No input or output.

A record is one run: a dictionary with the columns of results.csv. A table is what a set of
records comes to: table[row][allocator] is a Cell.
"""

import math
from collections import Counter, namedtuple

OURS = "ours"
FASTEST_MARGIN = 1.25  # memory is compared with peers that are at most this much slower
CPU_LIMIT, RSS_LIMIT = 1.03, 1.10  # no row should be above
CPU_GOAL, RSS_GOAL = 0.97, 1.00  # nor the geometric mean
LEAST_CPU = 0.01  # seconds; below it, times are all noise
RETURNED = {"return": 0.90, "survivors": 0.60}  # of what was freed, after the idle time
UNSHARED = {"simple-threads", "falseshare-active", "falseshare-passive"}  # by what they do
SPEED_UP = 1.9  # of two threads over one, on those
CROWD, CROWD_COST = 64, 1.1  # CPU per operation of so many threads, to that of two


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def geometric_mean(values):
    values = list(values)
    if not values:
        return None
    return math.exp(sum(math.log(value) for value in values) / len(values))


class Cell:
    """What one allocator did in one row: the records of the runs that succeeded."""

    def __init__(self):
        self.runs = []
        self.failures = []

    def add(self, record):
        (self.failures if record["status"] != "ok" else self.runs).append(record)

    def __bool__(self):
        """Whether it counts: a row that fails now and then is not a result."""
        return bool(self.runs) and not self.failures

    def values(self, column):
        return [run[column] for run in self.runs if run.get(column) is not None]

    def median(self, column):
        values = self.values(column)
        return median(values) if values else None

    def least(self, column):
        return min(self.values(column), default=None)

    def range(self, column):
        values = self.values(column)
        return (min(values), max(values)) if values else None


def returned(cell):
    """The part of what was freed after the peak that is no longer resident after the idle time."""
    if not cell or cell.median("rss_after_kib") is None:
        return None
    peak = cell.median("rss_kib")
    live = cell.median("live_end_kib") or 0
    if peak <= live:
        return None
    return max(0, peak - cell.median("rss_after_kib")) / (peak - live)


def tabulate(records):
    table = {}
    for record in records:
        row = table.setdefault(record["row"], {})
        row.setdefault(record["allocator"], Cell()).add(record)
    return table


def figures(cells, column, allocators, of=Cell.median):
    """Medians, or what else is wanted, of those allocators that succeeded in this row."""
    found = {}
    for name in allocators:
        cell = cells.get(name)
        value = of(cell, column) if cell else None
        if value:
            found[name] = value
    return found


# ---- Scores --------------------------------------------------------------------------------------

# One row beside the best peer of that row; ratio: ours to that peer's.
Comparison = namedtuple("Comparison", "row peer ratio")


class Score:
    def __init__(self, comparisons, limit, goal):
        self.comparisons = comparisons
        self.limit, self.goal = limit, goal

    @property
    def mean(self):
        return geometric_mean(comparison.ratio for comparison in self.comparisons)

    @property
    def above(self):
        """Rows above the limit, the worst first."""
        rows = [each for each in self.comparisons if each.ratio > self.limit]
        return sorted(rows, key=lambda each: -each.ratio)


def best_in_cpu(cells, peers, of=Cell.median):
    cpu = figures(cells, "cpu", peers, of)
    return min(cpu, key=cpu.get) if cpu else None


def quickest_in_cpu(cells, peers):
    return best_in_cpu(cells, peers, Cell.least)


def leanest_of_fast(cells, peers):
    """The peer with the lowest peak RSS among those within 25 % of the fastest peer."""
    cpu = figures(cells, "cpu", peers)
    if not cpu:
        return None
    bound = max(min(cpu.values()) * FASTEST_MARGIN, LEAST_CPU)
    rss = figures(cells, "rss_kib", [name for name in cpu if cpu[name] <= bound])
    return min(rss, key=rss.get) if rss else None


def score(table, peers, column, choose, limit, goal, of=Cell.median):
    comparisons = []
    for row, cells in table.items():
        peer = choose(cells, peers)
        ours = figures(cells, column, [OURS], of).get(OURS)
        if peer is None or ours is None:
            continue
        theirs = of(cells[peer], column)
        if column == "cpu" and max(ours, theirs) < LEAST_CPU:
            continue
        comparisons.append(Comparison(row, peer, ours / theirs))
    return Score(comparisons, limit, goal)


def score_cpu(table, peers):
    return score(table, peers, "cpu", best_in_cpu, CPU_LIMIT, CPU_GOAL)


def score_least_cpu(table, peers):
    """By the quickest run of each: what disturbs a run on a busy machine only ever slows it."""
    return score(table, peers, "cpu", quickest_in_cpu, CPU_LIMIT, CPU_GOAL, Cell.least)


def by_round(cell):
    return {run["round"]: run["cpu"] for run in cell.runs} if cell else {}


def best_of_other_rounds(cpu, left_out):
    """`cpu`: by peer, by round."""
    medians = {name: median(rest) for name, runs in cpu.items()
               if (rest := [value for number, value in runs.items() if number != left_out])}
    return min(medians, key=medians.get) if medians else None


def compare_by_rounds(row, cells, peers):
    """The peer that the other rounds found to be the best, beside ours, in each round; None: too
    few rounds, or too short."""
    ours = by_round(cells.get(OURS))
    cpu = {name: by_round(cells.get(name)) for name in peers}
    pairs = []
    for number, value in ours.items():
        peer = best_of_other_rounds(cpu, number)
        if peer is not None and number in cpu[peer]:
            pairs.append((peer, value, cpu[peer][number]))
    if not pairs or max(pairs[0][1:]) < LEAST_CPU:
        return None
    peer = Counter(name for name, _, _ in pairs).most_common(1)[0][0]
    return Comparison(row, peer, geometric_mean(value / theirs for _, value, theirs in pairs))


def score_cpu_by_rounds(table, peers):
    """Chosen and measured by the same runs, the best of many is partly the luckiest, and looks
    better than it is; here the runs that choose it are not those that it is measured by."""
    found = [compare_by_rounds(row, cells, peers) for row, cells in table.items()]
    return Score([each for each in found if each is not None], CPU_LIMIT, CPU_GOAL)


def score_rss(table, peers):
    return score(table, peers, "rss_kib", leanest_of_fast, RSS_LIMIT, RSS_GOAL)


def mean_ratio(table, column, allocator):
    """Geometric mean over all rows of an allocator's figure to ours; None: no row in common."""
    ratios = []
    for cells in table.values():
        found = figures(cells, column, [OURS, allocator])
        if len({OURS, allocator}) == len(found):
            if column == "cpu" and max(found.values()) < LEAST_CPU:
                continue
            ratios.append(found[allocator] / found[OURS])
    return geometric_mean(ratios)


def spread(table, column):
    """How far apart the runs of one allocator in one row typically are, as a part of the median."""
    spreads = []
    for cells in table.values():
        for cell in cells.values():
            values = cell.values(column)
            if len(values) > 1 and cell.median(column) > 0:
                spreads.append((max(values) - min(values)) / cell.median(column))
    return median(spreads) if spreads else None
