#!/usr/bin/env python3
"""Tests run.py: its arithmetic with made-up numbers, and a run of one workload from end to end.

    test_runner.py LIBRARY WORKLOADS-DIRECTORY SCRATCH-DIRECTORY
"""

import argparse
import csv
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from lib import bars, report, rows, stats  # noqa: E402
from lib.measure import Allocator, read_metrics, status_name, warm  # noqa: E402


def run_of(row, allocator, cpu, rss=1000, status="ok", kind="objects", number=0):
    return {"phase": "time", "round": number, "row": row, "kind": kind, "allocator": allocator,
            "status": status, "cpu": cpu, "wall": cpu, "rss_kib": rss, "faults": 10,
            "mappings": 20, "live_peak_kib": 500}


PEERS = ["a", "b", "c"]
RECORDS = (
    # a is the best in CPU, by its median; b is leaner, and just within 25 %; c is not fast.
    [run_of("one", "ours", cpu, 900) for cpu in (0.9, 1.0, 5.0)]
    + [run_of("one", "a", cpu, 1200) for cpu in (0.8, 0.8, 9.0)]
    + [run_of("one", "b", 1.0, 1000), run_of("one", "c", 2.0, 100)]
    # a failed once: b is the best, ours takes half of it.
    + [run_of("two", "ours", 0.5, 2000), run_of("two", "a", 0.1), run_of("two", "b", 1.0, 1000),
       run_of("two", "a", 0.0, status="signal 11")]
    # ours failed: no comparison. Too short for one.
    + [run_of("three", "ours", 0.1, status="exit 1"), run_of("three", "a", 0.1)]
    + [run_of("short", "ours", 0.001), run_of("short", "a", 0.002)])


def peak_rss_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Memory(unittest.TestCase):
    def test_memory_is_touched_before_a_run(self):
        more = peak_rss_kib() + 64 * 1024
        warm(more)
        self.assertGreaterEqual(peak_rss_kib(), more)

    def test_no_more_than_there_is(self):
        before = peak_rss_kib()
        warm(2**50)
        self.assertEqual(peak_rss_kib(), before)


class Arithmetic(unittest.TestCase):
    def setUp(self):
        self.table = stats.tabulate(RECORDS)

    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)

    def test_geometric_mean(self):
        self.assertAlmostEqual(stats.geometric_mean([0.5, 2, 8]), 2)
        self.assertIsNone(stats.geometric_mean([]))

    def test_cpu_is_compared_with_the_best_peer_of_each_row(self):
        score = stats.score_cpu(self.table, PEERS)
        found = {each.row: (each.peer, round(each.ratio, 6)) for each in score.comparisons}
        self.assertEqual(found, {"one": ("a", 1.25), "two": ("b", 0.5)})
        self.assertAlmostEqual(score.mean, (1.25 * 0.5) ** 0.5)
        self.assertEqual([each.row for each in score.above], ["one"])

    def test_cpu_by_the_quickest_run(self):
        score = stats.score_least_cpu(self.table, PEERS)
        self.assertAlmostEqual(score.comparisons[0].ratio, 0.9 / 0.8)

    def test_luck_does_not_choose_the_best_peer(self):
        # All alike, but each peer is lucky once.
        records = [run_of("x", name, 1.0 - 0.5 * (name == lucky), number=number)
                   for number, lucky in enumerate(PEERS) for name in ["ours", *PEERS]]
        table = stats.tabulate(records + [run_of("once", "ours", 1.0), run_of("once", "a", 2.0)])
        score = stats.score_cpu_by_rounds(table, PEERS)
        self.assertEqual([each.row for each in score.comparisons], ["x"])
        self.assertAlmostEqual(score.mean, 1.0)
        self.assertAlmostEqual(stats.score_least_cpu(table, PEERS).comparisons[0].ratio, 2.0)

    def test_spread(self):
        table = stats.tabulate([run_of("x", "a", cpu) for cpu in (0.9, 1.0, 1.2)])
        self.assertAlmostEqual(stats.spread(table, "cpu"), 0.3)
        self.assertIsNone(stats.spread({}, "cpu"))

    def test_memory_is_compared_with_the_leanest_of_the_fast_peers(self):
        score = stats.score_rss(self.table, PEERS)
        found = {each.row: (each.peer, round(each.ratio, 6)) for each in score.comparisons}
        self.assertEqual(found["one"], ("b", 0.9))
        self.assertEqual(found["two"], ("b", 2.0))
        self.assertNotIn("three", found)

    def test_returned(self):
        cell = stats.Cell()
        cell.add(dict(run_of("r", "a", 1.0, rss=1100), rss_after_kib=200, live_end_kib=100))
        self.assertAlmostEqual(stats.returned(cell), 0.9)
        self.assertIsNone(stats.returned(None))

    def test_mean_over_the_rows_in_common(self):
        self.assertAlmostEqual(stats.mean_ratio(self.table, "cpu", "b"), (1.0 * 2.0) ** 0.5)
        self.assertIsNone(stats.mean_ratio(self.table, "cpu", "nobody"))


class Reading(unittest.TestCase):
    def test_metrics(self):
        self.assertEqual(read_metrics(b"metric operations 12\nother\nmetric x 1.5\n"),
                         {"operations": 12, "x": 1.5})

    def test_status(self):
        self.assertEqual([status_name(code) for code in (0, 3, 139)], ["ok", "exit 3", "signal 11"])


class Names(unittest.TestCase):
    def test_an_allocator_as_an_argument(self):
        peer = Allocator("a", [__file__, __file__], "peer", "1", {"X": "y=z"})
        read = Allocator.of(peer.named())
        self.assertEqual((read.name, read.preload, read.env), (peer.name, peer.preload, peer.env))
        self.assertEqual(Allocator.of("system=").preload, [])
        with self.assertRaises(argparse.ArgumentTypeError):
            Allocator.of("a=/no/such/library")
        with self.assertRaises(SystemExit):
            Allocator("a", ["/a folder/library.so"], "peer", "1")


class Rows(unittest.TestCase):
    SOURCE = """// bench: threads, what it is
// rows: --live 10,20 --threads 1,2
// rows: --live 99 --threads 8; needs 1000000 GiB
/* Text. */
"""

    def setUp(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "many.c")
            with open(path, "w") as file:
                file.write(self.SOURCE)
            self.rows = rows.workloads(scratch, os.path.dirname(sys.executable), 15)

    def test_each_combination_of_values_is_a_row(self):
        self.assertEqual([row.name for row in self.rows],
                         ["many-10-1", "many-10-2", "many-20-1", "many-20-2", "many-99-8"])
        self.assertEqual(self.rows[1].shown(), "many --live 10 --threads 2 --scale 15")
        self.assertEqual({(row.kind, row.description) for row in self.rows},
                         {("threads", "what it is")})

    def test_rows_that_differ_in_threads_are_one(self):
        open_rows = {row.without_threads().shown() for row in self.rows}
        self.assertEqual(open_rows, {f"many --live {live} --scale 15" for live in (10, 20, 99)})
        self.assertEqual(self.rows[0].without_threads().name, "many-10")

    def test_selected_by_program_kind_or_pattern(self):
        for pattern, count in (("many", 5), ("threads", 5), ("many-*-1", 2), ("objects", 0)):
            self.assertEqual(len(rows.selected(self.rows, [pattern])), count)

    def test_a_row_that_needs_more_memory_than_there_is(self):
        self.rows[-1].path = sys.executable
        self.assertEqual(self.rows[-1].prepare(), "needs 1000000 GiB of free memory")


class Report(unittest.TestCase):
    def made_of(self, records):
        return report.Summary(records, {
            "machine": [("CPU", "some")], "command": "./mi bench", "idle": 1, "full": True,
            "instruction_scale": 2, "rows": [("one", "one --scale 1", "text")],
            "left_out": ["four needs it"],
            "allocators": [{"name": name, "role": "peer", "version": "1"} for name in PEERS]
            + [{"name": "ours", "role": "ours", "version": "2"}]})

    def summary(self, records):
        return self.made_of(records).text()

    def test_tables(self):
        text = self.summary(RECORDS)
        self.assertIn("| one | 1.000 | 0.80 | 1.00 | 2.00 | a | **1.25** |", text)
        self.assertIn("two on a: 1 of 2 runs failed, the first with signal 11", text)
        self.assertIn("- four needs it", text)

    def test_builds(self):
        summary = self.made_of(RECORDS + [run_of("one", "secure", 0.5)])
        summary.builds = ["secure"]  # a column, but no peer
        self.assertIn("| one | 1.000 | 0.80 | 1.00 | 2.00 | 0.50 | a | **1.25** |", summary.text())

    def test_sweep(self):
        records = [dict(run_of(row, name, 1.0, kind="sweep"), phase="sweep", steady_ps=ps,
                        live_peak_kib=kib) for row, kib in (("10 KiB", 10), ("1 MiB", 1024))
                   for name, ps in (("ours", 9000), ("ours", 8000), ("a", 8500))]
        summary = self.made_of(records)
        self.assertEqual(summary.sweep_points("ours"), [(10, 8.0), (1024, 8.0)])
        self.assertIn("| 1 MiB | **8.0** | 8.5 | – | – |", summary.text())

    def test_cache_misses(self):
        records = [dict(run_of("x", name, 1.0), phase="instructions", instructions=100,
                        operations=200, l1_misses=misses, ll_misses=10)
                   for name, misses in (("ours", 300), ("a", 100))]
        text = self.summary(records)
        self.assertIn("| x, first | 0.50 | – | – | 1.50 |", text)
        self.assertIn("| x, last | 0.05 | – | – | 0.05 |", text)

    def test_no_bar_for_a_crowd_whose_live_blocks_grow(self):
        def summary(live):
            return self.made_of([dict(run_of("t", "ours", cpu, kind="threads"), phase="threads",
                                      threads=threads, operations=1e6, live_peak_kib=kib)
                                 for threads, cpu, kib in ((2, 1.0, 100), (64, 2.0, live))])

        name = "t: CPU per operation, 64 threads to 2"
        self.assertEqual([bar.name for bar in bars.table(summary(150))], [name])
        self.assertEqual(bars.table(summary(3200)), [])

    def test_threads(self):
        records = [dict(run_of("t", "ours", 1.0, kind="threads"), phase="threads", threads=threads,
                        wall=wall, operations=1e6) for threads, wall in ((1, 1.0), (2, 0.5))]
        self.assertIn("| ours | 1.00 | 2.00 | 2.00 | 1000.0 | 1000.0 |", self.summary(records))


    def test_bars(self):
        def run(row, allocator, phase, cpu=1.0, **more):
            return dict(run_of(row, allocator, cpu), phase=phase, **more)

        def threads(count, wall, cpu):
            return run("simple-threads", "ours", "threads", cpu, threads=count, wall=wall,
                       operations=1e6)

        found = {bar.name: (round(bar.measured, 6), bars.is_met(bar)) for bar in bars.table(
            self.made_of([
                run("pair 16", "ours", "micro", instructions=43),
                run("growth", "ours", "time", 1.5), run("growth", "ours", "time", 0.9),
                run("growth", "glibc", "time", 1.0),
                run("return", "ours", "idle", rss_after_kib=300, live_end_kib=0),
                threads(1, 1.0, 1.0), threads(2, 0.5, 1.0), threads(64, 0.5, 1.2)]))}
        self.assertEqual(found, {
            "instructions, pair of 16 bytes": (30, True),
            "growth: CPU time to glibc's": (0.9, True),
            "return: % given back after 1 s": (70, False),
            "simple-threads: 2 threads, times as fast as 1": (2, True),
            "simple-threads: CPU per operation, 64 threads to 2": (1.2, False)})


class Run(unittest.TestCase):
    library = workloads = scratch = None

    def bench(self, name, *arguments):
        out = os.path.join(self.scratch, name)
        subprocess.run(
            [sys.executable, os.path.join(HERE, "run.py"), "--rounds", "2", "--scale", "2",
             "--peers", "glibc", "--no-plots", "--out", out, "--build", self.scratch,
             "--library", self.library, "--workloads", self.workloads, *arguments],
            check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(out, "results.csv"), newline="") as file:
            lines = list(csv.DictReader(file))
        with open(os.path.join(out, "summary.md")) as file:
            return lines, file.read()

    def test_rounds(self):
        lines, summary = self.bench("rounds", "--only", "simple-64-25,hello")
        found = sorted((line["round"], line["row"], line["allocator"]) for line in lines)
        self.assertEqual(found, sorted(
            (number, row, allocator) for row in ("simple-64-25", "hello") for number, allocator in
            (("1", "ours"), ("1", "glibc"), ("1", "bump"), ("2", "ours"), ("2", "glibc"))))
        for line in lines:
            self.assertEqual(line["status"], "ok")
            self.assertGreater(float(line["rss_kib"]), 500)
            self.assertGreater(float(line["faults"]), 20)
        self.assertIn("| simple-64-25 |", summary)
        self.assertIn("hello, ours", summary)

    def test_a_peer_that_is_named(self):
        lines, summary = self.bench("peer", "--only", "simple-64-25", "--peer", "other=" + self.library)
        self.assertEqual({line["allocator"] for line in lines if line["status"] == "ok"},
                         {"ours", "glibc", "bump", "other"})
        self.assertIn("other", summary)

    @unittest.skipUnless(shutil.which("valgrind"), "there is no valgrind")
    def test_instructions_and_cache_misses(self):
        lines, summary = self.bench("misses", "--only", "replace-1000-1000-1", "--instructions")
        counted = [line for line in lines if line["phase"] == "instructions"]
        self.assertEqual({line["status"] for line in counted}, {"ok"})
        self.assertIn("| replace-1000-1000-1, last |", summary)

    def test_sweep(self):
        lines, summary = self.bench("sweep", "--sweep", "--only", "10 KiB,1 MiB")
        self.assertEqual({(line["phase"], line["row"]) for line in lines},
                         {("sweep", "10 KiB"), ("sweep", "1 MiB")})
        self.assertIn("## Sweep", summary)

    def test_builds_side_by_side(self):
        output = subprocess.run(
            [sys.executable, os.path.join(HERE, "ab.py"), "--only", "larson", "--rounds", "2",
             "--scale", "2", "--build", self.scratch, "--workloads", self.workloads,
             "one=" + self.library, "two=" + self.library, "system="],
            check=True, capture_output=True, text=True).stdout
        lines = output.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]],
                         ["larson-2", "larson-8", "geometric"])
        for line in lines[1:]:
            self.assertEqual(line.count("("), 2)  # two libraries beside the first
            self.assertNotIn("failed", line)

    def test_threads(self):
        lines, summary = self.bench("threads", "--only", "simple-threads", "--threads", "1,2")
        self.assertEqual({line["threads"] for line in lines}, {"1", "2"})
        self.assertIn("### simple-threads", summary)

    def test_idle(self):
        lines, summary = self.bench("idle", "--only", "survivors", "--idle", "1")
        self.assertEqual({line["phase"] for line in lines}, {"idle", "time"})
        self.assertIn("Given back", summary)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        Run.library, Run.workloads, Run.scratch = sys.argv[1:]
        del sys.argv[1:]
    else:
        del Run
    unittest.main()
