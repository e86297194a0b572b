"""Makes a page of the API reference of a header: its groups, and in each what it declares, with the
comment that stands above it. A comment with a blank line below it speaks of all that follows."""

import re

GROUP = re.compile(r"^---- (.*?) ----\s*")
ATTRIBUTE = re.compile(
    r"\bmi_attr_(?:malloc|noexcept)\b|\bmi_attr_alloc\w*\([^)]*\)|\bmi_decl_\w+\b|\bmi_cdecl\b"
)
# Which mimalloc has a function: 3.4 and older ones, but for these.
PEERS = {
    "in mimalloc 3.6": """
        mi_arena_max_object_size mi_arenas_purge mi_free_small_local mi_free_small_local_nonnull
        mi_free_small_nonnull mi_heap_profile mi_heap_profile_disable mi_heap_set_debug_fill_preserve
        mi_pprof_profiler_delete mi_pprof_profiler_new mi_profile mi_profiler_snapshot mi_profiler_start
        mi_profiler_stop mi_subproc_profile mi_theap_alloc_new mi_theap_alloc_new_n
        mi_theap_alloc_new_nothrow mi_theap_delete mi_theap_quiescent_abandon mi_theap_rezalloc
        mi_theap_stats_get mi_theap_stats_merge_to_heap mi_theap_wmalloc_small mi_theap_wzalloc_small
        mi_theap_zalloc_aligned mi_thread_id_of mi_wmalloc_small mi_wzalloc_small""",
    "in mimalloc 2": """
        mi_abandoned_visit_blocks mi_heap_check_owned mi_heap_contains_block mi_heap_get_backing
        mi_heap_get_default mi_heap_guarded_set_sample_rate mi_heap_guarded_set_size_bound mi_heap_new_ex
        mi_heap_set_default mi_subproc_delete""",
    "only here": "mi_page_user_data mi_register_page_release",
}
SKIPPED = re.compile(r"^(#(if|el|endif|include|undef|pragma)|#define (MIMALLOC_|mi_(attr|decl|cdecl)))")


def pieces(text):
    """Yields (kind, text) of a header: comment, code or blank, one for each construct."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        start = at
        if not line.strip():
            yield "blank", ""
        elif line.startswith("/*"):
            while "*/" not in lines[at]:
                at += 1
            comment = "\n".join(lines[start : at + 1])
            yield "comment", "\n".join(each.strip() for each in comment[2:-2].strip().split("\n"))
        elif line.startswith("#"):
            while lines[at].endswith("\\"):
                at += 1
            if not SKIPPED.match(line):
                yield "code", "\n".join(lines[start : at + 1])
        elif not line.startswith(('extern "C"', "}")):
            depth = 0
            while True:
                code = re.sub(r"/\*.*?(\*/|$)", "", lines[at])
                depth += code.count("{") + code.count("(") - code.count("}") - code.count(")")
                if depth == 0 and re.search(r"[;}]\s*$", code):
                    break
                at += 1
            yield "code", "\n".join(lines[start : at + 1])
        at += 1


def declared(code):
    """The names that a construct declares."""
    define = re.match(r"#define (\w+)", code)
    if define:
        return [define.group(1)]
    if code.startswith("typedef"):
        pointer = re.search(r"\((?:mi_cdecl )?\*?\s*(mi_\w+)\)\s*\(", code)
        return [pointer.group(1) if pointer else re.search(r"(\w+)\s*;\s*$", code).group(1)]
    if code.startswith("struct"):
        return [re.match(r"struct (\w+)", code).group(1)]
    found = re.search(r"\b(_?mi_\w+)\s*\(", ATTRIBUTE.sub("", code))
    if not found:
        raise SystemExit(f"api: what does this declare? {code}")
    return [found.group(1)]


def tidy(code):
    """A declaration without what is for the compiler, and without a body."""
    code = ATTRIBUTE.sub("", code)
    if not code.startswith(("typedef", "#", "struct")):
        code = re.sub(r"\s*\{.*", ";", code, flags=re.S)
        code = re.sub(r"\s+", " ", code).strip()
        return wrapped(re.sub(r" ?([,;)])", r"\1", code))
    return re.sub(r"[ \t]+\n", "\n", code).replace("( mi_", "(mi_")


def wrapped(code):
    """Breaks a long declaration after commas."""
    lines, indent = [code], code.find("(") + 1
    while len(lines[-1]) > 84 and lines[-1].rfind(",", 0, 84) > indent:
        line = lines.pop()
        at = line.rfind(",", 0, 84) + 1
        lines += [line[:at], " " * indent + line[at:].strip()]
    return "\n".join(lines)


def prose(comment, names):
    """A comment as Markdown; names of functions lead to them."""
    comment = re.sub(r"(?<!\n)\n- ", "\n\n- ", comment, count=1)  # a list begins a paragraph
    paragraphs = re.split(r"\n\s*\n", comment)

    def linked(match):
        name = match.group(1)
        return f"[`{name}`](#{name})" if name in names else match.group(0)

    text = "\n\n".join(re.sub(r"`(\w+)`", linked, each.replace("<", "&lt;")) for each in paragraphs)
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](../\1)", text)


def entries(text):
    """Yields ("group", title, text), ("note", text) and ("entry", comment, [code])."""
    comment, codes = None, []
    for kind, piece in [*pieces(text), ("blank", "")]:
        group = GROUP.match(piece) if kind == "comment" else None
        if kind == "code":
            codes.append(piece)
            continue
        if codes:
            yield "entry", comment, codes
        elif comment:
            yield "note", comment
        comment, codes = None, []
        if group:
            yield "group", group.group(1), piece[group.end() :]
        elif kind == "comment":
            comment = piece


def group(title, text, names, examples):
    """The lines of a group: its heading, what holds for all of it, and an example, if there is one."""
    title, _, rest = re.match(r"([^:(]*)(: |\()?(.*)", title).groups()
    rest = rest.rstrip(")")
    rest = rest[:1].upper() + rest[1:] + "." if rest else ""
    out = [f"## {title.strip()}", "", rest, "", prose(text, names), ""]
    name = re.sub(r"[^a-z0-9]+", "-", title.strip().lower())
    if name == "types":
        return out
    if name not in examples:
        raise SystemExit(f"api: docs/examples has no {name}.c, the example of a group")
    return out + shown(examples.pop(name))


def shown(example):
    """The lines of an example, to be unfolded; none, if there is none."""
    if example is None:
        return []
    lines = ["    " + line for line in example.split("\n")]
    return ['??? example "Example"', "", "    ```c", *lines, "    ```", ""]


def versions(text):
    """Maps each function to the version that brought it, the node of cmake/mimalloc.map, and to
    mimalloc's that has it."""
    found = {}
    peers = {name: peer for peer, names in PEERS.items() for name in names.split()}
    for line in text.split("\n"):
        node = re.match(r"MIMALLOC_([0-9.]+)", line)
        if node:
            version = node.group(1)
        elif re.match(r" +mi_\w+;", line):
            name = line.strip(" ;")
            peer = peers.pop(name, "in mimalloc 3.4")
            found[name] = f"{version}; {peer}"
    if peers:
        raise SystemExit(f"api: not in the map of symbols: {sorted(peers)}")
    return found


def page(header, text, examples, since):
    """The page of a header. The examples, by the names of their groups or headers, are taken as they are used."""
    found = [each for each in entries(text)]
    if found[0][0] != "note":
        raise SystemExit(f"{header}: no comment at its start")
    names = {name for each in found if each[0] == "entry" for code in each[2] for name in declared(code)}
    out = [f"# {header}", "", f"```c\n#include <{header}>\n```", ""]
    out += ["*Since* is the version of this library that brought a function, and a version of mimalloc that has it.", ""]
    out += [prose(found[0][1], names), ""]
    out += shown(examples.pop(header[:-2], None))
    hidden = False
    for each in found[1:]:
        if each[0] == "group":
            hidden = each[1].startswith("Attributes")  # for the compiler alone
            if not hidden:
                out += group(each[1], each[2], names, examples)
        elif hidden:
            continue
        elif each[0] == "note":
            out += ['<div class="about" markdown>', "", prose(each[1], names), "", "</div>", ""]
        else:
            out += entry(header, each[1], each[2], names, since)
    return "\n".join(out)


def entry(header, comment, codes, names, since):
    each = [name for code in codes for name in declared(code)]
    if not comment and not codes[0].startswith(("#define", "typedef")):
        raise SystemExit(f"{header}: no comment says what {each[0]} does")
    out = []
    if len(each) > 1:  # the first has the heading; the others are found by name as well
        out += ["".join(f'<a id="{name}"></a>' for name in each[1:]), ""]
    title = ", ".join(f"`{name}`" for name in each[:4]) + (" …" if len(each) > 4 else "")
    out += [f"### {title} {{ #{each[0]} }}", ""]
    brought = sorted({since[name] for name in each if name in since})
    if brought:
        out += [f'<span class="since">since {", ".join(brought)}</span>', ""]
    out += ["```c", *[tidy(code) for code in codes], "```", ""]
    return out + [prose(comment or "", names), ""]
