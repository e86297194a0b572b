#!/usr/bin/env python3
"""Makes what the crates know of the C headers, from the headers: run it when they have changed.

  libmimalloc-sys/src/bindings.rs   all declarations, by bindgen, with the examples of examples.py
  mimalloc/src/options.rs           a constant for each option, between two markers
  mimalloc/src/stats.rs             a row for each statistic, between two markers

    rust/bindings.py            writes them
    rust/bindings.py --check    fails if they are not what it would write

It needs bindgen 0.72.1 (`cargo install bindgen-cli@0.72.1`; BINDGEN names it where it is not in
PATH) and libclang.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from examples import all_examples  # noqa: E402

RUST = Path(__file__).resolve().parent
INCLUDE = RUST.parent / "include"
HEADERS = sorted({path.name for path in INCLUDE.glob("*.h")}
                 - {"mimalloc-override.h", "mimalloc-new-delete.h", "mimalloc-cpp.h"})  # macros, C++
BINDGEN = os.environ.get("BINDGEN", "bindgen")
VERSION = "bindgen 0.72.1"
# Declared by hand in lib.rs, each for a reason that it gives.
BY_HAND = "wchar_t|mi_heap_area_[st].*|mi_heap_visit_blocks|mi_manage_os_memory_ex"

# What the example of an option sets it to; the others are switches that are off by default.
VALUES = {
    "arena_eager_commit": 1, "reserve_huge_os_pages": 4, "reserve_huge_os_pages_at": 0,
    "reserve_os_memory": 65536, "purge_delay": 100, "use_numa_nodes": 1, "os_tag": 101,
    "max_errors": 10, "max_warnings": 10, "arena_reserve": 65536, "arena_purge_mult": 2,
    "retry_on_oom": 100, "guarded_min": 1000, "guarded_max": 2000, "guarded_sample_rate": 1000,
    "guarded_sample_seed": 42, "generic_collect": 1000, "page_reclaim_on_free": 0,
    "page_full_retain": 1, "page_max_candidates": 1, "max_vabits": 47, "page_max_reclaim": 8,
    "page_cross_thread_max_reclaim": 8, "allow_thp": 0, "minimal_purge_size": 64,
    "arena_max_object_size": 65536, "profile_alloc_interval": 1024, "profile_inuse_interval": 1024,
    "profile_time_interval": 60, "profile_sample_rate": 1024, "stats_merge_threshold": 1024,
    "arena_purge_immediate_size": 1024, "corruption": 1, "fill_freed": 1, "quarantine_size": 1024,
    "guarded_sample_bytes": 1000000, "purge_decommits": False, "dlopen_deepbind": False,
}


def plain(comment):
    """The text of a C comment, in one line."""
    text = re.sub(r"^/\*|\*/$", "", comment.strip())
    text = re.sub(r"^\s*-{4}.*?-{4}\s*", "", text, flags=re.S)
    text = re.sub(r"<([^>`]*)>", r"`<\1>`", text).replace("[", r"\[").replace("]", r"\]")
    return " ".join(text.split())


def function_comments(header):
    """What the header says about each function: its own comment, and that of its group, which is the
    first in a paragraph or a paragraph of its own before it; where there is neither, its section's."""
    comments, section, group, is_alone = {}, "", "", False
    for part in re.split(r"\n\s*\n", header):
        own = {re.search(r"\b(_?mi_\w+)\s*\(", found[2])[1]: plain(found[1]) for found in re.finditer(
            r"(/\*(?:(?!\*/).)*\*/)\nmi_decl_\w+ ([^;]*);", part, re.S) if "(" in found[2]}
        bare = re.sub(r"/\*.*?\*/", "", part, flags=re.S)
        names = re.findall(r"\b(_?mi_\w+)\s*\(", bare)
        found = re.search(r"/\*.*?\*/", part, re.S)
        if found and part.lstrip().startswith("/*") and not (own and len(own) > 1):
            group = plain(found.group())
            if re.match(r"/\*\s*-{4}", found.group()):
                title = re.match(r"/\*\s*-{4}\s*(.*?)\s*-{4}", found.group(), re.S).group(1)
                group = section = group or title
        elif not is_alone or not own:
            group = "" if own else section
        for name in names:
            mine = own.get(name, "")
            comments.setdefault(name, group if mine in group else f"{mine} {group}".strip())
        is_alone = not names
    return comments


def statistics(header):
    """(kind, name, comment) of each statistic, in order."""
    rows = re.findall(r"MI_STAT_(COUNT|COUNTER)\((\w+)\)[ ]*(?:/\*(.*?)\*/)?[ ]*(?:\\?\n|$)", header)
    begun, begun_by = "", ""
    for kind, name, comment in rows:
        comment = comment.strip()
        if name == "name":
            continue
        if not comment.startswith("..."):
            begun, begun_by = comment, name
        elif ":" in begun:
            comment = f"{begun.split(':')[0]}: {comment[3:].strip()}"
        else:
            comment = f"See `{begun_by}`: {comment}"
        yield kind.lower(), name, comment


def doc(text):
    return f"#[doc = {quoted(' ' + text)}]\n"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def run_bindgen():
    version = subprocess.run([BINDGEN, "--version"], capture_output=True, text=True, check=True)
    if version.stdout.strip() != VERSION:
        sys.exit(f"bindings: {VERSION} is needed, this is {version.stdout.strip()}")
    command = [
        BINDGEN, "headers.h", "--use-core", "--no-layout-tests",
        "--allowlist-item", "_?(mi|MI)_.*", "--blocklist-item", BY_HAND,
        "--no-prepend-enum-name", "--default-enum-style", "consts", "--merge-extern-blocks",
        "--default-macro-constant-type", "signed", "--no-copy", "mi_(t?heap|profiler)_s",
        "--no-debug", "mi_(t?heap|profiler)_s", "--rust-target", "1.65", "--disable-header-comment",
        "--", "-fparse-all-comments", f"-I{INCLUDE}",
    ]
    with tempfile.TemporaryDirectory() as folder:
        includes = "".join(f"#include <{name}>\n" for name in HEADERS)
        Path(folder, "headers.h").write_text(includes)
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout


def bindings(header):
    """The text of bindings.rs: what bindgen makes, with a description of each item."""
    functions, examples = function_comments(header), all_examples()
    fields = {name: comment for _, name, comment in statistics(header)}
    macros = {}
    for comment, names in re.findall(r"(/\*(?:(?!\*/).)*\*/)\n((?:#define [^\n]*\n)+)", header, re.S):
        for name in re.findall(r"#define (\w+)", names):
            macros[name] = plain(comment)
    out, described = [], False
    for line in run_bindgen().splitlines(keepends=True):
        # The same type on all platforms, whatever integer C has for an enum there.
        line = re.sub(r"^(pub type \w+_e = ::core::ffi::)c_uint;", r"\1c_int;", line)
        bare = line.strip()
        if bare.startswith('#[doc'):
            described = True
            out.append(re.sub(r" ---- .*? ----\\n", " ", line))
            continue
        if bare.startswith("#["):
            out.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        function = re.match(r"pub fn (\w+)", bare)
        item = re.match(r"pub (?:const|type|struct|union)? ?(\w+)", bare)
        if function:
            if described:
                while out[-1].strip().startswith('#[doc'):
                    out.pop()
            name = function.group(1)
            if name not in examples:
                sys.exit(f"bindings: {name} has no example in examples.py")
            out.append(indent + doc(f"{functions[name]}\n\n{examples[name]}"))
        elif item and not described:
            name = item.group(1)
            text = macros.get(name) or fields.get(name) or description(name, bare)
            out.insert(attributes_begin(out), indent + doc(text))
        out.append(line)
        described = False
    return "// Made by rust/bindings.py from the C headers.\n\nuse crate::{mi_heap_area_t, wchar_t};\n\n" + "".join(out)


def attributes_begin(lines):
    place = len(lines)
    while place and lines[place - 1].strip().startswith("#["):
        place -= 1
    return place


def description(name, declaration):
    """Of what the headers describe only by where it is."""
    enum = re.match(r"pub const \w+: (\w+)_e = ", declaration)
    if enum and not name.startswith("mi_option_"):
        return f"One of [`{enum.group(1)}_t`]."
    if name.endswith(("_s", "_e")):
        return f"The type behind [`{name[:-2]}_t`]."
    if name in ("total", "peak", "current"):
        return {"total": "All there ever was.", "peak": "The most at one time.",
                "current": "What there is now."}[name]
    if name.startswith("_") or name.startswith("segments"):
        return "Kept for its place."
    if name.startswith("mi_option_"):
        return "An older name of an option, or one that does nothing."
    if name == "mi_option_t":
        return "An option, one of the constants `mi_option_…`."
    return sys.exit(f"bindings: {name} has no comment in the headers")


def options(header):
    """A constant for each option that has a description."""
    begun_by = ""
    for name, comment in re.findall(r"\n  mi_option_(\w+) = \d+,\s*/\* (.*?) \*/", header):
        if comment.startswith(("...", "(")):
            comment = f"See `{begun_by}`: {comment}"
        else:
            begun_by = name.upper()
        if not name.startswith("deprecated"):
            yield f"    /// {comment[0].upper() + comment[1:].rstrip('.')}.\n"
            option = f"mimalloc::Opt::{name.upper()}"
            value = VALUES.get(name, True)
            if value is True:
                lines = f"{option}.set_enabled(true);", f"assert!({option}.is_enabled());"
            elif value is False:
                lines = f"{option}.set_enabled(false);", f"assert!(!{option}.is_enabled());"
            else:
                lines = f"{option}.set({value});", f"assert_eq!({option}.get(), {value});"
            for line in ("", "```", *lines, "```"):
                yield f"    /// {line}".rstrip() + "\n"
            yield f"    pub const {name.upper()}: Opt = Opt(ffi::mi_option_{name});\n"


def stat_rows(header):
    for kind, name, comment in statistics(header):
        if comment and not name.startswith("_"):
            yield f"    {kind} {name} {quoted(comment[0].upper() + comment[1:] + '.')},\n"


def between_markers(path, lines):
    text = path.read_text()
    begin, end = "    // ---- from the headers ----\n", "    // ---- end ----\n"
    head, rest = text.split(begin)
    return head + begin + "".join(lines) + end + rest.split(end)[1]


def main():
    header = "\n".join((INCLUDE / name).read_text() for name in HEADERS)
    safe = RUST / "mimalloc" / "src"
    files = {
        RUST / "libmimalloc-sys" / "src" / "bindings.rs": bindings(header),
        safe / "options.rs": between_markers(safe / "options.rs", options(header)),
        safe / "stats.rs": between_markers(safe / "stats.rs", stat_rows(header)),
    }
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"bindings: {path.relative_to(RUST.parent)} is not what rust/bindings.py makes")
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(files[path])
        print(f"bindings: wrote {path.relative_to(RUST.parent)}")


main()
