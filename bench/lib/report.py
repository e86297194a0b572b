"""Writes results.csv as runs come in, and makes summary.md of it."""

import csv
import json
import os

from . import bars, stats
from .rows import KINDS

COLUMNS = ["phase", "round", "row", "kind", "allocator", "threads", "status", "wall", "user",
           "sys", "cpu", "rss_kib", "faults", "major_faults", "mappings", "instructions",
           "metrics", "message"]
TEXT = {"phase", "row", "kind", "allocator", "status", "message"}


# ---- results.csv ---------------------------------------------------------------------------------

class Writer:
    """Every single run is a line at once, so that nothing is lost when a run is broken off."""

    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.csv = csv.DictWriter(self.file, COLUMNS)
        self.csv.writeheader()

    def write(self, record):
        line = {name: record.get(name, "") for name in COLUMNS}
        line["metrics"] = ";".join(
            f"{name}={value:g}" for name, value in record.get("metrics", {}).items())
        for name in ("wall", "user", "sys", "cpu"):
            if name in record:
                line[name] = f"{record[name]:.6f}"
        self.csv.writerow(line)
        self.file.flush()

    def close(self):
        self.file.close()


def read(path):
    with open(path, newline="") as file:
        return [parse(line) for line in csv.DictReader(file)]


def parse(line):
    record = {}
    for name, value in line.items():
        if name == "metrics":
            for pair in filter(None, value.split(";")):
                metric, _, number = pair.partition("=")
                record[metric] = float(number)
        elif value != "":
            record[name] = value if name in TEXT else float(value)
    return record


# ---- Markdown ------------------------------------------------------------------------------------

def table(header, lines):
    """The first column is text, the others are numbers."""
    text = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    text += ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(text) + "\n"


def ratio(value):
    return "–" if value is None else f"{value:.2f}"


def seconds(value):
    return "–" if value is None else f"{value:.3f}"


def mib(kib):
    return "–" if kib is None else f"{kib / 1024:.1f}"


def percent(value):
    return "–" if value is None else f"{100 * value:.0f} %"


def whole(value):
    return "–" if value is None else f"{value:.0f}"


class Summary:
    """Everything is made of the records and of `about`, which is kept beside them in about.json."""

    def __init__(self, records, about):
        self.about = about
        self.names = [each["name"] for each in about["allocators"]]
        self.peers = [each["name"] for each in about["allocators"] if each["role"] == "peer"]
        self.builds = [each["name"] for each in about["allocators"] if each["role"] == "build"]
        self.limits = [each["name"] for each in about["allocators"] if each["role"] == "limit"]
        self.phases = {}
        for record in records:
            self.phases.setdefault(record["phase"], []).append(record)
        self.kinds = {record["row"]: record["kind"] for record in records}
        scored = [each for each in self.phases.get("time", []) if each["kind"] != "start"]
        self.table = stats.tabulate(scored)
        self.cpu = stats.score_cpu(self.table, self.peers)
        self.least_cpu = stats.score_least_cpu(self.table, self.peers)
        self.cpu_by_rounds = stats.score_cpu_by_rounds(self.table, self.peers)
        self.rss = stats.score_rss(self.table, self.peers)

    def text(self):
        parts = [
            "# The comparison\n", self.machine(), self.scores(), self.bars(), self.failures(),
            self.ratios("CPU time", "cpu", self.cpu, seconds, "s"),
            self.ratios("Peak RSS", "rss_kib", self.rss, mib, "MiB"),
            self.start(), self.idle(), self.sweep(), self.instructions(), self.misses(),
            self.scaling(), self.details(),
            self.commands()]
        return "\n".join(part for part in parts if part)

    def machine(self):
        lines = [f"| {name} | {value} |" for name, value in self.about["machine"]]
        versions = [f"| {each['name']} | {each['version']} |" for each in self.about["allocators"]]
        return "\n".join(["| | |", "|---|---|", *lines, f"| command | `{self.about['command']}` |",
                          *versions]) + "\n"

    # ---- scores

    def scores(self):
        if not self.cpu.comparisons:
            return ""
        lines = [self.score_line("CPU time, to the best peer of each row", self.cpu),
                 self.score_line("the same, by the quickest run of each", self.least_cpu),
                 self.score_line("the same, best by the other rounds", self.cpu_by_rounds),
                 self.score_line("peak RSS, to the leanest fast peer of each row", self.rss)]
        text = "## Scores\n\n" + table(
            ["ours to", "rows", "geometric mean", "goal", "rows above", "limit"], lines)
        for title, score in (("CPU time", self.cpu),
                             ("CPU time, best by the other rounds", self.cpu_by_rounds),
                             ("Peak RSS", self.rss)):
            if score.above:
                text += f"\n{title} above {score.limit:.2f}: " + ", ".join(
                    f"{each.row} {each.ratio:.2f} ({each.peer})" for each in score.above) + ".\n"
        spread = stats.spread(self.table, "cpu")
        if spread is not None:
            text += ("\nThe CPU times of one allocator in one row typically lie "
                     f"{100 * spread:.0f} % apart. The best of many peers is partly the luckiest: with "
                     "few rounds or a large spread, the score in CPU time comes out too high. Best by "
                     "the other rounds: in each round ours is compared with the peer that the other "
                     "rounds found to be the best, which luck does not choose.\n")
        return text + (
            "\nOf each row, the medians count. Fast peers are those within 25 % of the CPU time of "
            "the fastest peer. Rows in which ours, or all peers, failed do not count, nor do CPU "
            "times below 10 ms.\n")

    @staticmethod
    def score_line(name, score):
        return [name, str(len(score.comparisons)), f"{score.mean:.3f}" if score.mean else "–",
                f"{score.goal:.2f}", str(len(score.above)), f"{score.limit:.2f}"]

    def bars(self):
        lines = []
        for bar in bars.table(self):
            shown = f"{bar.measured:.{bar.digits}f}"
            lines.append([bar.name, f"{bar.sign} {bar.limit:.{bar.digits}f}",
                          shown if bars.is_met(bar) else f"**{shown}**"])
        return ("## Bars\n\nBold: not met.\n\n" + table(["", "bar", "ours"], lines)
                if lines else "")

    def failures(self):
        lines = []
        for row, cells in self.table.items():
            for name in self.names:
                cell = cells.get(name)
                if cell is not None and cell.failures:
                    first = cell.failures[0]
                    runs = len(cell.runs) + len(cell.failures)
                    lines.append(f"- {row} on {name}: {len(cell.failures)} of {runs} runs failed, "
                                 f"the first with {first['status']} {first.get('message', '')}")
        return "## Failures\n\nThey are not counted.\n\n" + "\n".join(lines) + "\n" if lines else ""

    # ---- one figure over rows and allocators

    def ratios(self, title, column, score, form, unit):
        if not self.table:
            return ""
        limits = self.limits if column == "cpu" else []
        others = self.peers + self.builds + limits
        best = {each.row: each for each in score.comparisons}
        lines = []
        for row, cells in self.sorted_rows():
            found = stats.figures(cells, column, [stats.OURS, *others])
            ours = found.get(stats.OURS)
            line = [row, form(ours)]
            line += [self.ratio_cell(cells, name, found, ours) for name in others]
            if column == "rss_kib":
                live = cells[stats.OURS].median("live_peak_kib") if stats.OURS in cells else None
                line.append(ratio(live / ours if live and ours else None))
            if row in best:
                line += [best[row].peer, self.marked(best[row].ratio, score.limit)]
            else:
                line += ["–", "–"]
            lines.append(line)
        means = [stats.mean_ratio(self.table, column, name) for name in others]
        lines.append(["**geometric mean**", "", *(f"**{ratio(mean)}**" for mean in means)]
                     + ([""] if column == "rss_kib" else [])
                     + ["", f"**{ratio(score.mean)}**"])
        header = ["", f"ours, {unit}", *others]
        header += ["live bytes"] if column == "rss_kib" else []
        header += ["best peer", "ours to it"]
        note = ("Other columns: ratio to ours; above 1: takes more than ours. "
                + ("live bytes: the peak of what the program itself asked for, the limit of "
                   "nature.\n" if column == "rss_kib"
                   else "bump never frees: the limit of nature, as long as memory lasts.\n"))
        return f"## {title}\n\n{note}\n" + table(header, lines)

    @staticmethod
    def ratio_cell(cells, name, found, ours):
        if name in found and ours:
            return ratio(found[name] / ours)
        return "failed" if name in cells and cells[name].failures else "–"

    @staticmethod
    def marked(value, limit):
        return f"**{value:.2f}**" if value > limit else f"{value:.2f}"

    def sorted_rows(self):
        order = list(KINDS)
        return sorted(self.table.items(), key=lambda item: order.index(self.kinds[item[0]]))

    # ---- other phases

    def start_table(self):
        return stats.tabulate(each for each in self.phases.get("time", [])
                              if each["kind"] == "start")

    def start(self):
        lines = []
        for row, cells in self.start_table().items():
            for name in self.names:
                cell = cells.get(name)
                if cell:
                    lines.append([f"{row}, {name}", whole(cell.median("rss_kib")),
                                  whole(cell.median("faults"))])
        header = ["", "resident, KiB", "page faults"]
        return "## Start\n\n" + table(header, lines) if lines else ""

    def idle_table(self):
        return stats.tabulate(self.phases.get("idle", []))

    def idle(self):
        shares, lines = [], []
        for row, cells in self.idle_table().items():
            bar = stats.RETURNED.get(row) if self.about["full"] else None
            shares.append([row, "–" if bar is None else "≥ " + percent(bar)]
                          + [self.share_cell(cells.get(name), bar)
                             for name in [stats.OURS, *self.peers]])
            for name in [stats.OURS, *self.peers]:
                cell = cells.get(name)
                if cell:
                    lines.append([f"{row}, {name}"] + [mib(cell.median(column)) for column in (
                        "rss_kib", "rss_end_kib", "rss_after_kib", "live_end_kib")])
        if not lines:
            return ""
        return (f"## Memory after {self.about['idle']} s without work\n\n"
                "Given back: of what was resident at the peak, less what is alive at the end. Bold:"
                " below the bar.\n\n"
                + table(["", "bar", stats.OURS, *self.peers], shares) + "\nMiB:\n\n"
                + table(["", "peak RSS", "at the end", "after idling", "live"], lines))

    @staticmethod
    def share_cell(cell, bar):
        share = stats.returned(cell)
        text = percent(share)
        return f"**{text}**" if None not in (share, bar) and share < bar else text

    def instructions(self):
        tabulated = stats.tabulate(self.phases.get("instructions", []))
        lines = []
        for row, cells in tabulated.items():
            found = stats.figures(cells, "instructions", self.names)
            ours = found.get(stats.OURS)
            lines.append([row, "–" if ours is None else f"{ours / 1e6:.1f}"] + [
                ratio(found[name] / ours) if name in found and ours else "–"
                for name in self.peers + self.limits])
        if not lines:
            return ""
        return ("## Instructions\n\nCounted by cachegrind, one run each, at "
                f"{self.about['instruction_scale']} % of the work.\n\n"
                + table(["", "ours, millions", *self.peers, *self.limits], lines))

    def misses(self):
        """For each operation of a workload, what it does with its blocks included."""
        lines = []
        for row, cells in stats.tabulate(self.phases.get("instructions", [])).items():
            for column, level in (("l1_misses", "first"), ("ll_misses", "last")):
                texts = [f"{cell.median(column) / cell.median('operations'):.2f}"
                         if cell and cell.median("operations") else "–"
                         for cell in (cells.get(name) for name in self.names)]
                lines.append([f"{row}, {level}", *texts])
        if not lines:
            return ""
        return ("## Cache misses\n\nFor each operation, by cachegrind: of a first level of 32 KiB "
                "and a last one of 1 MiB. The program's own are among them.\n\n"
                + table(["", *self.names], lines))

    def sweep_table(self):
        return stats.tabulate(self.phases.get("sweep", []))

    def sweep_points(self, name):
        """Pairs of KiB alive and nanoseconds for one operation, of the quickest run."""
        found = [cells.get(name) for cells in self.sweep_table().values()]
        return [(cell.median("live_peak_kib"), cell.least("steady_ps") / 1000)
                for cell in found if cell]

    def sweep(self):
        names = [stats.OURS, *self.peers, *self.builds]
        lines = []
        for row, cells in self.sweep_table().items():
            values = [cells[name].least("steady_ps") / 1000 if cells.get(name) else None
                      for name in names]
            best = min((each for each in values if each is not None), default=None)
            lines.append([row] + ["–" if each is None else f"**{each:.1f}**" if each == best
                                  else f"{each:.1f}" for each in values])
        if not lines:
            return ""
        return ("## Sweep\n\nCPU time of one replacement, in nanoseconds, by what is live: random "
                "blocks of 8 to 1000 bytes, one thread, the quickest run of each. The program's own "
                "cache misses are in it.\n\n" + table(["live", *names], lines))

    def thread_cells(self, row, name):
        """Of the runs with different numbers of threads: pairs of the number and a Cell."""
        cells = {}
        for record in self.phases.get("threads", []):
            if record["row"] == row and record["allocator"] == name:
                cells.setdefault(int(record["threads"]), stats.Cell()).add(record)
        return [(count, cell) for count, cell in sorted(cells.items())
                if cell and cell.median("operations")]

    def throughput(self, row, name):
        """Pairs of a number of threads and operations a second."""
        return [(count, cell.median("operations") / cell.median("wall"))
                for count, cell in self.thread_cells(row, name)]

    def threaded_rows(self):
        return list(dict.fromkeys(record["row"] for record in self.phases.get("threads", [])))

    def quickest(self, row, name, column):
        """Seconds per operation of the quickest run, by the number of threads."""
        return {count: cell.least(column) / cell.median("operations")
                for count, cell in self.thread_cells(row, name)}

    def speed_up(self, row, name):
        """Of two threads over one."""
        wall = self.quickest(row, name, "wall")
        return wall[1] / wall[2] if 1 in wall and 2 in wall else None

    def crowd_cost(self, row, name):
        """CPU per operation of many threads, to that of two."""
        cpu = self.quickest(row, name, "cpu")
        return cpu[stats.CROWD] / cpu[2] if 2 in cpu and stats.CROWD in cpu else None

    def live_grows(self, row, name):
        """Whether more threads have more blocks alive: then caches, not the allocator, decide."""
        live = {count: cell.median("live_peak_kib") for count, cell in self.thread_cells(row, name)}
        return bool(live.get(2) and live.get(stats.CROWD, 0) > 2 * live[2])

    def scaling_bars(self):
        """Rows beside allocators, by the quickest run of each; bold: the bar is not met."""
        names = [stats.OURS, *self.peers]
        speed, crowd = [], []
        for row in self.threaded_rows():
            speeds = [self.speed_up(row, name) for name in names]
            crowds = [self.crowd_cost(row, name) for name in names]
            limit = stats.SPEED_UP if row in stats.UNSHARED else None
            if any(speeds):
                speed.append([row, "–" if limit is None else f"≥ {limit}"] + [
                    f"**{ratio(each)}**" if limit and each and each < limit else ratio(each)
                    for each in speeds])
            if any(crowds):
                grows = self.live_grows(row, stats.OURS)
                crowd.append([row, "–" if grows else f"≤ {stats.CROWD_COST}"] + [
                    "–" if not each else ratio(each) if grows
                    else self.marked(each, stats.CROWD_COST) for each in crowds])
        header = ["", "bar", *names]
        text = ""
        if speed:
            text += ("\nTwo threads, times as fast as one, by the quickest runs; the bar is for "
                     "patterns in which threads share nothing:\n\n" + table(header, speed))
        if crowd:
            text += (f"\nCPU time per operation of {stats.CROWD} threads, to that of two, by the "
                     "quickest runs:\n\n"
                     + table(header, crowd))
        return text

    def scaling(self):
        records = self.phases.get("threads", [])
        if not records:
            return ""
        counts = sorted({int(record["threads"]) for record in records})
        text = ("## Threads\n\nThe same work, divided among more threads: million operations a "
                "second; the speed-up, which is that number over the one with "
                f"{counts[0]}; CPU time per operation in nanoseconds.\n")
        text += self.scaling_bars()
        for row in self.threaded_rows():
            text += f"\n### {row}\n\n" + self.scaling_of(row, counts)
        return text

    def scaling_of(self, row, counts):
        lines = []
        for name in self.names:
            speed = dict(self.throughput(row, name))
            cost = {count: cell.median("cpu") / cell.median("operations")
                    for count, cell in self.thread_cells(row, name)}
            first = speed.get(counts[0])
            lines.append(
                [name]
                + [f"{speed[n] / 1e6:.2f}" if n in speed else "–" for n in counts]
                + [ratio(speed[n] / first if n in speed and first else None) for n in counts[1:]]
                + [f"{1e9 * cost[n]:.1f}" if n in cost else "–" for n in counts])
        header = ([""] + [f"Mop/s, {count}" for count in counts]
                  + [f"speed-up, {count}" for count in counts[1:]]
                  + [f"ns/op, {count}" for count in counts])
        return table(header, lines)

    def details(self):
        lines = []
        for row, cells in self.sorted_rows():
            for name in self.names:
                cell = cells.get(name)
                if cell:
                    lines.append([f"{row}, {name}", self.spread(cell, "cpu", seconds),
                                  self.spread(cell, "wall", seconds),
                                  self.spread(cell, "rss_kib", mib),
                                  whole(cell.median("faults")), whole(cell.median("mappings"))])
        if not lines:
            return ""
        header = ["", "CPU, s", "wall, s", "peak RSS, MiB", "page faults", "mappings"]
        return "## All figures\n\nMedians, and least to greatest.\n\n" + table(header, lines)

    @staticmethod
    def spread(cell, column, form):
        low, high = cell.range(column)
        return f"{form(cell.median(column))} ({form(low)}–{form(high)})"

    def commands(self):
        lines = [f"- {name}: `{command}`: {description}"
                 for name, command, description in self.about["rows"]]
        left_out = [f"- {text}" for text in self.about["left_out"]]
        text = "## Rows\n\n" + "\n".join(lines) + "\n"
        return text + ("\nLeft out:\n\n" + "\n".join(left_out) + "\n" if left_out else "")


def load(directory):
    with open(os.path.join(directory, "about.json")) as file:
        about = json.load(file)
    return Summary(read(os.path.join(directory, "results.csv")), about)


def write(directory):
    """Makes summary.md of the other files in the directory; returns the summary."""
    summary = load(directory)
    with open(os.path.join(directory, "summary.md"), "w") as file:
        file.write(summary.text())
    return summary
