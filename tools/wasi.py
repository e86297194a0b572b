#!/usr/bin/env python3
"""Runs a WASI program in wasmtime, with this process's environment: wasi.py PROGRAM ARGS...

With WASI_REPORT set it prints, at the end, how much memory the program had and how many
instructions it took."""
import os
import sys

import wasmtime

FUEL = 2**62


def main():
    config = wasmtime.Config()
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    module = wasmtime.Module.from_file(engine, sys.argv[1])
    store = wasmtime.Store(engine)
    store.set_fuel(FUEL)
    wasi = wasmtime.WasiConfig()
    wasi.inherit_stdin()
    wasi.inherit_stdout()
    wasi.inherit_stderr()
    wasi.argv = sys.argv[1:]
    wasi.env = list(os.environ.items())
    store.set_wasi(wasi)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    instance = linker.instantiate(store, module)
    status = 0
    try:
        instance.exports(store)["_start"](store)
    except wasmtime.ExitTrap as end:
        status = end.code
    except (wasmtime.Trap, wasmtime.WasmtimeError) as trap:
        print(trap, file=sys.stderr)
        status = 134
    if "WASI_REPORT" in os.environ:
        memory = instance.exports(store)["memory"].data_len(store) // 1024
        used = FUEL - store.get_fuel()
        print(f"memory {memory} KiB, {used} instructions", file=sys.stderr)
    sys.exit(status)


main()
