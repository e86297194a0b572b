"""Draws results: a bar chart of CPU time and one of memory, by row, and both beside each other.
    plots.py DIRECTORY        needs matplotlib; run.py finds or makes a Python that has it
"""

import os
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "bench"  # the same figures make the same file
import matplotlib.pyplot as plt  # noqa: E402

if __package__ in (None, ""):
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib import report, stats  # noqa: E402

TALLEST = 3.0  # ratios above it are cut off, and written at the bar's end
COLOURS = plt.get_cmap("tab10").colors
MARKERS = "os^Dv"


def style(names, name):
    """The same for a peer in all charts."""
    if name == stats.OURS:
        return {"color": "black", "marker": "*"}
    at = names.index(name)
    return {"color": COLOURS[at % len(COLOURS)], "marker": MARKERS[at % len(MARKERS)]}


def save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    print(path)


def draw_ratios(summary, column, title, path):
    """Rows from top to bottom, a dot for each peer; ours is the line at 1."""
    names = summary.peers
    lines = [(row, stats.figures(cells, column, [stats.OURS, *names]))
             for row, cells in summary.sorted_rows()]
    lines = [(row, found) for row, found in lines if stats.OURS in found]
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.32 * len(lines)))
    axes.axvline(1, color="black", linewidth=1.5, label="ours")
    for name in names:
        dots = [(found[name] / found[stats.OURS], -at)
                for at, (_, found) in enumerate(lines) if name in found]
        axes.scatter([min(ratio, TALLEST) for ratio, _ in dots], [y for _, y in dots], s=24,
                     **style(names, name), label=name, alpha=0.85, zorder=3)
        for ratio, y in dots:
            if ratio > TALLEST:
                axes.annotate(f"{ratio:.0f}", (TALLEST, y), fontsize=6, xytext=(3, -2),
                              textcoords="offset points")
    axes.set_yticks([-at for at in range(len(lines))], [row for row, _ in lines], fontsize=8)
    axes.set_xlim(0, TALLEST * 1.05)
    axes.grid(axis="both", linewidth=0.3)
    axes.set_xlabel(f"{title}, ratio to ours (right of the line: takes more than ours)")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    save(figure, path)


def draw_means(summary, path):
    """Each allocator is a dot: geometric means of time and memory over all rows."""
    figure, axes = plt.subplots(figsize=(7, 5))
    labelled = []
    for name in [stats.OURS, *summary.peers]:
        cpu = stats.mean_ratio(summary.table, "cpu", name)
        rss = stats.mean_ratio(summary.table, "rss_kib", name)
        if cpu and rss:
            axes.scatter([cpu], [rss], s=45, **style(summary.peers, name), zorder=3)
            # A label that would lie on another goes below its dot.
            near = name == stats.OURS or any(abs(cpu - x) < 0.35 and abs(rss - y) < 0.07 for x, y in labelled)
            labelled.append((cpu, rss))
            axes.annotate("this library" if name == stats.OURS else name, (cpu, rss), fontsize=8,
                          xytext=(5, -11 if near else 4), textcoords="offset points")
    axes.set_xlabel("CPU time, relative to this library")
    axes.set_ylabel("peak memory, relative to this library")
    axes.margins(0.15)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(linewidth=0.3)
    save(figure, path)


def draw_threads(summary, path):
    """Operations a second over the number of threads, a small chart for each row."""
    records = summary.phases["threads"]
    names = list(dict.fromkeys(record["row"] for record in records))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.2 * lines),
                                squeeze=False)
    for at, row in enumerate(names):
        axes = grid[at // columns][at % columns]
        for name in [stats.OURS, *summary.peers]:
            points = summary.throughput(row, name)
            axes.plot([count for count, _ in points], [speed / 1e6 for _, speed in points],
                      **style(summary.peers, name), markersize=4, label=name,
                      linewidth=2 if name == stats.OURS else 1)
        axes.set_xscale("log", base=2)
        counts = sorted({int(record["threads"]) for record in records})
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.set_title(row, fontsize=9)
        axes.set_xlabel("threads", fontsize=8)
        axes.set_ylabel("million operations a second", fontsize=8)
        axes.set_ylim(bottom=0)
        axes.grid(linewidth=0.3)
    for at in range(len(names), lines * columns):
        grid[at // columns][at % columns].axis("off")
    grid[0][-1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    figure.tight_layout()
    save(figure, path)


def draw_sweep(summary, path):
    figure, axes = plt.subplots(figsize=(8, 5))
    for name in [stats.OURS, *summary.peers]:
        points = summary.sweep_points(name)
        axes.plot([kib / 1024 for kib, _ in points], [ns for _, ns in points],
                  **style(summary.peers, name), markersize=4, label=name,
                  linewidth=2 if name == stats.OURS else 1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("live, MiB")
    axes.set_ylabel("nanoseconds for one replacement")
    axes.grid(linewidth=0.3, which="both")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    save(figure, path)


def main(directory):
    summary = report.load(directory)
    if summary.table:
        draw_ratios(summary, "cpu", "CPU time", os.path.join(directory, "cpu.svg"))
        draw_ratios(summary, "rss_kib", "peak RSS", os.path.join(directory, "rss.svg"))
        draw_means(summary, os.path.join(directory, "means.svg"))
    if "sweep" in summary.phases:
        draw_sweep(summary, os.path.join(directory, "sweep.svg"))
    if "threads" in summary.phases:
        draw_threads(summary, os.path.join(directory, "threads.svg"))


if __name__ == "__main__":
    main(sys.argv[1])
