#!/usr/bin/env python3
"""Tests run.py: its arithmetic with made-up numbers, and a run of one workload from end to end.

    test_runner.py LIBRARY WORKLOADS-DIRECTORY SCRATCH-DIRECTORY
"""

import argparse
import csv
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from lib import bars, report, stats  # noqa: E402
from lib.measure import Allocator, read_metrics, status_name  # noqa: E402


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
        lines, summary = self.bench("rounds", "--only", "simple,hello")
        found = sorted((line["round"], line["row"], line["allocator"]) for line in lines)
        self.assertEqual(found, sorted(
            (number, row, allocator) for row in ("simple", "hello") for number, allocator in
            (("1", "ours"), ("1", "glibc"), ("1", "bump"), ("2", "ours"), ("2", "glibc"))))
        for line in lines:
            self.assertEqual(line["status"], "ok")
            self.assertGreater(float(line["rss_kib"]), 500)
            self.assertGreater(float(line["faults"]), 20)
        self.assertIn("| simple |", summary)
        self.assertIn("hello, ours", summary)

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
