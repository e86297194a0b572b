#!/usr/bin/env python3
"""Compares the allocator with its peers: `./mi bench` builds what this needs, and calls it.

Every row (a workload or a real program) is run on every allocator, round by round, in an order that
rotates, and all runs are written down: see README.md beside this file.
"""

import argparse
import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import bars, machine, programs, report, rows, stats, sweep  # noqa: E402
from lib.measure import Allocator, Launcher  # noqa: E402
from micro import instructions  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

CHILD = os.path.join(ROOT, "tools", "child.h")  # what launch.c includes

INSTRUCTION_SCALE = 2  # percent of the work, for cachegrind
IDLE_AT_ONCE = 4  # runs that are asleep most of the time
QUICK = {"scale": 15, "rounds": 2, "idle": 2}
FULL = {"scale": 100, "rounds": 5, "idle": 10}
BARS = {"scale": 100, "rounds": 3, "idle": 10, "only": bars.ROWS, "peers": bars.PEERS,
        "threads": bars.THREADS}
QUICK_LATENCY = ["--rounds", "2", "--scale", "25"]


def say(text):
    print(f"bench: {text}", file=sys.stderr)


def fail(text):
    say(text)
    sys.exit(2)


# ---- What to run ---------------------------------------------------------------------------------

def named_peer(text):
    peer = Allocator.of(text)
    peer.role, peer.version = "peer", ", ".join(peer.preload) or "the C library's"
    return peer


def parse_arguments():
    names = lambda text: [each for each in text.split(",") if each]  # noqa: E731
    parser = argparse.ArgumentParser(
        prog="./mi bench", description="Compares the allocator with its peers.",
        epilog="Results go to results.csv, summary.md and, with matplotlib, *.svg in DIR.")
    add = parser.add_argument
    add("--quick", action="store_true", help="a few minutes: less work, fewer rounds and programs")
    add("--bars", action="store_true",
        help="what the bars are about, but for the scores, which take all rows: minutes; exit "
        "status 1 if one is not met")
    add("--micro", action="store_true",
        help="instructions and cache misses per operation over sizes, by cachegrind, instead "
        "(--quick: fewer sizes)")
    add("--sweep", action="store_true",
        help="CPU time per operation over live sets from 10 KiB to 1 GiB, instead")
    add("--latency", action="store_true",
        help="how long one malloc or free takes, to 99.999 %%, instead (--quick: less work)")
    add("--only", type=names, metavar="NAME,..",
        help="these rows only: names, patterns such as 'larson*', or kinds: "
        + ", ".join(rows.KINDS))
    add("--peers", type=names, metavar="A,B", help="these peers only; - for none")
    add("--peer", type=named_peer, action="append", default=[], metavar="NAME=FILE",
        help="a further peer, or another library in place of the peer of this name; several "
        "times: several peers")
    add("--builds", type=names, metavar="A,B", default=[],
        help="columns for other builds of this allocator, by preset, such as secure,secure-full; "
        "release: the same library again, which shows what chance does")
    add("--rounds", type=int, metavar="N", help="how often each row is run (5; --quick: 2)")
    add("--scale", type=int, metavar="PERCENT", help="of the work (100; --quick: 15)")
    add("--idle", type=int, metavar="SECONDS",
        help="how long rows of kind return sleep before memory is looked at (10; --quick: 2; 0: "
        "leaves this out)")
    add("--threads", type=lambda text: [int(each) for each in names(text)], metavar="1,2,4",
        help="a table of the threaded rows with these numbers of threads, instead")
    add("--instructions", action="store_true",
        help="count the workloads' instructions and cache misses too, by cachegrind")
    add("--library", metavar="FILE", help="the library to measure (the release build's)")
    add("--out", metavar="DIR", help="where results go (build/bench/results)")
    add("--report", metavar="DIR", help="only write summary and plots anew, of the results there")
    add("--no-plots", action="store_true", help="do not draw anything")
    add("--list", action="store_true", help="names all rows and peers")
    add("--packages", action="store_true", help=argparse.SUPPRESS)  # for ./mi, as is the next one
    add("--presets", action="store_true", help=argparse.SUPPRESS)
    add("--build", metavar="DIR", default=os.path.join(ROOT, "build", "bench"),
        help="where tools, peers and inputs are kept (build/bench)")
    add("--workloads", metavar="DIR",
        default=os.path.join(ROOT, "build", "release", "bench", "workloads"),
        help="where the workloads were built (build/release/bench/workloads)")
    options = parser.parse_args()
    defaults = {"only": [], **(BARS if options.bars else QUICK if options.quick else FULL)}
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    options.library = os.path.abspath(
        options.library or os.path.join(ROOT, "build", "release", "libmimalloc.so.3"))
    options.build = os.path.abspath(options.build)
    options.out = options.out or os.path.join(options.build, "results")
    return options


def build_tool(directory, name, *flags):
    """Compiles NAME.c into the directory's bin/, if it, or what it includes, is newer."""
    source = os.path.join(HERE, os.path.splitext(name)[0] + ".c")
    path = os.path.join(directory, "bin", name)
    newest = max(os.path.getmtime(each) for each in (source, CHILD))
    if not os.path.exists(path) or os.path.getmtime(path) < newest:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run([*compiler, "-O2", *flags, source, "-o", path], check=True)
    return path


def build_launcher(options):
    scratch = os.path.join(options.build, "scratch")
    os.makedirs(scratch, exist_ok=True)
    try:  # as small as can be
        path = build_tool(options.build, "launch", "-static")
    except subprocess.CalledProcessError:
        path = build_tool(options.build, "launch")
    return Launcher(path, scratch)


def get_peers(options):
    """Has peers.sh make those that are wanted and not there yet."""
    wanted = options.peers
    if wanted is not None:
        given = ["-", "glibc", *(each.name for each in options.peer)]
        wanted = [name for name in wanted if name not in given]
    if wanted != []:
        peers = os.path.join(options.build, "peers")
        if subprocess.run([os.path.join(HERE, "peers.sh"), peers, *(wanted or [])]).returncode:
            fail("--peers: see --list")


def find_peers(options):
    """The C library's own, and those that peers.sh has made."""
    directory = os.path.join(options.build, "peers")
    found = [Allocator("glibc", [], "peer", "the C library's: " + machine.libc())]
    for name in sorted(os.listdir(directory) if os.path.isdir(directory) else []):
        name, extension = os.path.splitext(name)
        if extension != ".version":
            continue
        base = os.path.join(directory, name)
        libraries = [base + ".so"]
        if os.path.exists(base + ".also"):
            libraries.append(os.path.join(directory, machine.read(base + ".also")))
        env = {}
        if os.path.exists(base + ".env"):
            env = dict([machine.read(base + ".env").split("=", 1)])
        found.append(Allocator(name, libraries, "peer", machine.read(base + ".version"), env))
    named = [each.name for each in options.peer]
    found = [each for each in found if options.peers is None or each.name in options.peers]
    return [each for each in found if each.name not in named] + options.peer


def find_builds(options):
    """Other builds of ours, which ./mi has made."""
    found = []
    for name in options.builds:
        libraries = glob.glob(os.path.join(ROOT, "build", name, "libmimalloc*.so.3"))
        if not libraries:
            fail(f"--builds: there is no library in build/{name}")
        found.append(Allocator(name, libraries[:1], "build", "our build " + name))
    return found


def find_allocators(options):
    if not os.path.exists(options.library):
        fail(f"there is no library {options.library}")
    file = os.path.basename(os.path.realpath(options.library))
    ours = Allocator(stats.OURS, [options.library], "ours", file + machine.revision(ROOT))
    bump = build_tool(options.build, "bump.so", "-fno-builtin", "-fPIC", "-shared",
                      "-fvisibility=hidden")
    limit = Allocator("bump", [bump], "limit", "never frees: not a peer, but a limit of nature")
    return [ours, *find_peers(options), *find_builds(options), limit]


def find_rows(options):
    if options.sweep:
        return rows.selected(sweep.sweep_rows(options.workloads, options.scale), options.only)
    found = rows.workloads(os.path.join(HERE, "workloads"), options.workloads, options.scale)
    found += programs.all_programs(os.path.join(options.build, "data"), options.quick)
    return rows.selected(found, options.only)


def prepare(chosen):
    """Returns the rows that can be run, and texts about those that cannot."""
    ready, left_out = [], []
    for row in chosen:
        try:
            problem = row.prepare()
        except (OSError, subprocess.CalledProcessError) as error:
            problem = str(error)
        if problem:
            left_out.append(f"{row.name} {problem}")
            say("left out: " + left_out[-1])
        else:
            ready.append(row)
    return ready, left_out


# ---- Running -------------------------------------------------------------------------------------

class Progress:
    """One line that is written over on a terminal; elsewhere, a line now and then."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.begin = self.last = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def step(self, text):
        now = time.monotonic()
        left = ""
        if self.done:
            seconds = (now - self.begin) / self.done * (self.total - self.done)
            left = f", {int(seconds // 60)}:{int(seconds % 60):02d} left"
        line = f"bench: {self.done + 1} of {self.total}{left}: {text}"
        if self.terminal:
            print(f"\r{line[:99]:<99}", end="", file=sys.stderr, flush=True)
        elif self.done == 0 or now - self.last > 20:
            print(line, file=sys.stderr, flush=True)
            self.last = now
        self.done += 1

    def end(self):
        if self.terminal:
            print(file=sys.stderr)


def in_rounds(items, allocators, rounds):
    """Each item on each allocator in each round; who comes first changes. Once is enough for limits
    of nature, which take much memory."""
    order = []
    for number in range(rounds):
        taking_part = [each for each in allocators if number == 0 or each.role != "limit"]
        for index, item in enumerate(items):
            for turn in range(len(taking_part)):
                chosen = taking_part[(turn + number + index) % len(taking_part)]
                order.append((number, item, chosen))
    return order


def record(writer, phase, number, row, allocator, result):
    writer.write({"phase": phase, "round": number + 1, "row": row.name, "kind": row.kind,
                  "allocator": allocator.name, **result})


def measure_time(writer, launcher, ready, allocators, rounds, phase="time"):
    order = in_rounds(ready, allocators, rounds)
    progress = Progress(len(order))
    for number, row, allocator in order:
        progress.step(f"round {number + 1}: {row.name} on {allocator.name}")
        record(writer, phase, number, row, allocator, row.run(launcher, allocator))
    progress.end()


def measure_idle(writer, launcher, ready, allocators, idle):
    """Memory is looked at here, not time: several at once."""
    items = [row for row in ready if row.kind == "return"] if idle else []
    progress = Progress(len(items) * len(allocators))

    def run(row, allocator):
        progress.step(f"{idle} s idle: {row.name} on {allocator.name}")
        return row, allocator, row.run(launcher, allocator, idle=idle)

    with ThreadPoolExecutor(IDLE_AT_ONCE) as pool:
        pairs = [(row, allocator) for row in items for allocator in allocators]
        for row, allocator, result in pool.map(lambda pair: run(*pair), pairs):
            record(writer, "idle", 0, row, allocator, result)
    if items:
        progress.end()


def measure_instructions(writer, ready, allocators):
    if not shutil.which("valgrind"):
        say("there is no valgrind: no instructions")
        return
    items = [row for row in ready if isinstance(row, rows.Workload)]
    order = in_rounds(items, allocators, 1)
    progress = Progress(len(order))
    for number, row, allocator in order:
        progress.step(f"instructions: {row.name} on {allocator.name}")
        result = row.count(allocator, INSTRUCTION_SCALE)
        record(writer, "instructions", number, row, allocator, result)
    progress.end()


def measure_patterns(writer, options, allocator):
    """Of patterns.c, those that a bar is about."""
    if not shutil.which("valgrind"):
        say("there is no valgrind: no instructions")
        return
    program = instructions.build(os.environ.get("CC", "cc"), os.path.join(options.build, "bin"))
    progress = Progress(len(bars.INSTRUCTIONS))
    for pattern, size, _ in bars.INSTRUCTIONS:
        name = bars.pattern_name(pattern, size)
        progress.step(f"instructions: {name}")
        count = instructions.measure(program, allocator, pattern, size).get("instructions")
        writer.write({"phase": "micro", "round": 1, "row": name, "kind": "micro",
                      "allocator": allocator.name, "instructions": count,
                      "status": "failed" if count is None else "ok"})
    progress.end()


def measure_threads(writer, launcher, ready, allocators, rounds, counts):
    threaded = {row.name: row for each in ready if each.kind == "threads"
                for row in [each.without_threads()]}
    items = [(row, count) for row in threaded.values() for count in counts]
    if not items:
        fail("--threads: none of the rows is of kind threads")
    order = in_rounds(items, allocators, rounds)
    progress = Progress(len(order))
    for number, (row, count), allocator in order:
        progress.step(f"round {number + 1}: {row.name}, {count} threads, on {allocator.name}")
        result = row.run(launcher, allocator, threads=count)
        record(writer, "threads", number, row, allocator, {"threads": count, **result})
    progress.end()


def no_limits(allocators):
    return [each for each in allocators if each.role != "limit"]


def measure_everything(options, writer, launcher, ready, allocators):
    measure_idle(writer, launcher, ready, no_limits(allocators), options.idle)
    measure_time(writer, launcher, ready, allocators, options.rounds)
    if options.instructions:
        measure_instructions(writer, ready, allocators)


def measure_bars(options, writer, launcher, ready, allocators):
    ours, compared = allocators[0], no_limits(allocators)
    idle = [row for row in ready if row.name in stats.RETURNED]
    timed = [row for row in ready if row.kind not in ("return", "threads")]
    threaded = [row for row in ready if row.kind == "threads"]
    measure_patterns(writer, options, ours)
    measure_idle(writer, launcher, idle, compared, options.idle)
    measure_time(writer, launcher, timed, compared, options.rounds)
    if threaded:
        measure_threads(writer, launcher, threaded, [ours], options.rounds, options.threads)


def measure(options, launcher, ready, allocators):
    writer = report.Writer(os.path.join(options.out, "results.csv"))
    try:
        if options.bars:
            measure_bars(options, writer, launcher, ready, allocators)
        elif options.sweep:
            measure_time(writer, launcher, ready, no_limits(allocators), options.rounds, "sweep")
        elif options.threads:
            measure_threads(writer, launcher, ready, allocators, options.rounds, options.threads)
        else:
            measure_everything(options, writer, launcher, ready, allocators)
    except KeyboardInterrupt:
        say("broken off; the summary is of what there is")
    finally:
        writer.close()


def look_closer(options, name, *arguments):
    """Runs a program of micro/, which takes the allocators as arguments."""
    allocators = [each.named() for each in no_limits(find_allocators(options))]
    program = os.path.join(HERE, "micro", name + ".py")
    return subprocess.run([sys.executable, program, "--out", options.out, *arguments,
                           *allocators]).returncode


def look_closer_at(options):
    """The worst exit status; None if no program of micro/ is asked for."""
    status = []
    if options.micro:
        status.append(look_closer(options, "instructions", *(["--quick"] * options.quick)))
    if options.latency:
        status.append(look_closer(options, "latency", *(QUICK_LATENCY * options.quick)))
    return max(status, default=None)


# ---- Results -------------------------------------------------------------------------------------

def about(options, ready, left_out, allocators):
    return {
        "machine": machine.describe(),
        "command": shlex.join(["./mi", "bench", *sys.argv[1:]]),
        "allocators": [{"name": each.name, "role": each.role, "version": each.version}
                       for each in allocators],
        "idle": options.idle,
        "full": options.scale >= FULL["scale"] and options.idle >= FULL["idle"],
        "instruction_scale": INSTRUCTION_SCALE,
        "rows": [(row.name, row.shown().replace(ROOT + os.sep, ""), row.description) for row in ready],
        "left_out": left_out,
    }


def python_with_matplotlib(directory):
    """This one, or one in a virtual environment that is made for it; None if that cannot be."""
    own = os.path.join(directory, "venv", "bin", "python3")
    for python in (sys.executable, own):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
            return python
    try:
        say("getting matplotlib, for the plots")
        subprocess.run([sys.executable, "-m", "venv", os.path.join(directory, "venv")], check=True,
                       capture_output=True)
        subprocess.run([own, "-m", "pip", "install", "-q", "matplotlib"], check=True,
                       capture_output=True)
        return own
    except (OSError, subprocess.CalledProcessError):
        return None


def draw(options, directory):
    if options.no_plots:
        return
    python = python_with_matplotlib(options.build)
    if python is None:
        say("there is no matplotlib, and it cannot be installed: no plots")
        return
    subprocess.run([python, os.path.join(HERE, "lib", "plots.py"), directory])


def write_report(options, directory):
    summary = report.write(directory)
    for name, score in (("CPU time", summary.cpu), ("peak RSS", summary.rss)):
        if score.comparisons:
            print(f"{name}: geometric mean {score.mean:.3f} of the best peers' over "
                  f"{len(score.comparisons)} rows; {len(score.above)} above {score.limit:.2f}")
    for bar in bars.table(summary):
        mark = "met" if bars.is_met(bar) else "NOT MET"
        print(f"{bar.name}: {bar.measured:.{bar.digits}f}, {bar.sign} "
              f"{bar.limit:.{bar.digits}f}: {mark}")
    print(os.path.join(directory, "summary.md"))
    draw(options, directory)
    return summary


def show_list(options, chosen):
    for row in chosen:
        print(f"{row.kind:8}  {row.name:18}  {row.description}")
    for peer in find_peers(options):
        print(f"{'peer':8}  {peer.name:18}  {peer.version}")


def main():
    options = parse_arguments()
    if options.report:
        write_report(options, options.report)
        return
    if options.presets:
        print(*options.builds)
        return
    chosen = find_rows(options)
    if options.packages:
        needed = [] if options.micro or options.latency else chosen
        print(*sorted({package for row in needed for package in row.packages}))
        return
    if options.list:
        show_list(options, chosen)
        return
    if not chosen:
        fail("--only: there is no such row; see --list")
    get_peers(options)
    status = look_closer_at(options)
    if status is not None:
        sys.exit(status)
    allocators = find_allocators(options)
    launcher = build_launcher(options)
    ready, left_out = prepare(chosen)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "about.json"), "w") as file:
        json.dump(about(options, ready, left_out, allocators), file, indent=1)
    measure(options, launcher, ready, allocators)
    summary = write_report(options, options.out)
    if options.bars and not all(bars.is_met(bar) for bar in bars.table(summary)):
        sys.exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for --list | head
    main()
