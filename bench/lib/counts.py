"""Exact figures of one run, by cachegrind: instructions, and misses of caches that it models.

The caches have one size everywhere, so figures of two machines compare: 32 KiB at the first level
and 1 MiB at the last, about what one core has to itself. Only misses on data are counted.
"""

import re
import subprocess

CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
FIGURES = {"instructions": "I +refs", "l1_misses": "D1 +misses", "ll_misses": "LLd misses"}


def count(command, env):
    """Figures by name; raises RuntimeError if the program does not end well."""
    run = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cachegrind-out-file=/dev/null", *CACHES, *command],
        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", check=False)
    found = {name: re.search(rf"{title}: +([\d,]+)", run.stdout)
             for name, title in FIGURES.items()}
    if run.returncode != 0 or None in found.values():
        raise RuntimeError(run.stdout.strip().splitlines()[-1] if run.stdout else "no output")
    figures = {name: int(match.group(1).replace(",", "")) for name, match in found.items()}
    operations = re.search(r"^metric operations (\d+)$", run.stdout, re.MULTILINE)
    return {**figures, "operations": int(operations.group(1))} if operations else figures
