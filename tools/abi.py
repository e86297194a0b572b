#!/usr/bin/env python3
"""Writes down the binary interface as it is, for later versions to be compared with: a C file that
compiles only with headers that declare each function in the same way and give each enumerator and
field the same value, place and size; and the exported symbols with their versions.

  abi.py LIBRARY        writes packaging/abi/MAJOR.MINOR.c and .symbols, see packaging/abi/README.md
"""

import os
import re
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = ["mimalloc.h", "mimalloc-stats.h", "mimalloc-profile.h"]
INCLUDES = "".join(f"#include <{header}>\n" for header in HEADERS) + "#include <stddef.h>\n"


def compiler(*arguments, source):
    command = [os.environ.get("CC", "cc"), f"-I{TREE}/include", "-x", "c", *arguments, "-"]
    return subprocess.run(command, input=source, stdout=subprocess.PIPE, text=True, check=True).stdout


def statements():
    """What the headers of the library declare, without attributes, one declaration an entry."""
    text = compiler("-E", "-P", "-DMI_SHARED_LIB_EXPORT", source=INCLUDES)
    text = text[text.index("typedef struct mi_heap_s"):]
    attribute = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
    exported = re.compile(r'__attribute__\(\(visibility\("default"\)\)\)')
    return " ".join(attribute.sub(" ", exported.sub("EXPORTED ", text)).split())


def functions(text):
    for match in re.finditer(r"EXPORTED ([^;{}]*\));?", text.replace(" ;", ";")):
        yield re.sub(r" +", " ", match.group(1)).strip()


def enumerators(text):
    for body in re.findall(r"enum \w+ \{([^}]*)\}", text):
        for entry in body.split(","):
            name = entry.split("=")[0].strip()
            if name and name != "_mi_option_last":  # which grows with each option
                yield name


def structs(text):
    """Name and fields of each struct; those of an unnamed union count as fields of the struct."""
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text):
        body = re.sub(r"union \{([^}]*)\};", r"\1", body)
        fields = [re.search(r"(\w+)\s*(?:\[[^]]*\])*$", each.strip()).group(1) for each in body.split(";") if each.strip()]
        yield name, fields


def values(expressions):
    """What the expressions are, by a program that prints them."""
    lines = "".join(f'  printf("%lld\\n", (long long)({each}));\n' for each in expressions)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "values")
        compiler("-o", program, source=f"#include <stdio.h>\n{INCLUDES}int main(void) {{\n{lines}}}\n")
        printed = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return dict(zip(expressions, map(int, printed)))


def symbols(library):
    listed = subprocess.run(["readelf", "--dyn-syms", "-W", library], stdout=subprocess.PIPE, text=True, check=True)
    for line in listed.stdout.splitlines():
        words = line.split()
        if len(words) >= 8 and words[6].isdigit() and words[4] != "LOCAL" and words[3] != "OBJECT":
            yield words[7]


def main():
    text = statements()
    expressions = list(enumerators(text))
    for name, fields in structs(text):
        expressions.append(f"sizeof({name})")
        for field in fields:
            expressions += [f"offsetof({name}, {field})", f"sizeof((({name}*)0)->{field})"]
    known = values(expressions)
    asserts = [f"SAME({each}, {known[each]});" for each in expressions]
    version = re.search(r"MI_MALLOC_VERSION (\d)(\d\d)", open(f"{TREE}/include/mimalloc.h").read())
    name = f"{TREE}/packaging/abi/{version.group(1)}.{int(version.group(2))}"
    with open(name + ".c", "w") as file:
        print("// Made by tools/abi.py: the interface of this version, on 64 bits.", file=file)
        print("// clang-format off", file=file)
        print(INCLUDES, file=file)
        print("#define SAME(what, value) _Static_assert((what) == (value), #what)\n", file=file)
        print("\n".join(asserts), end="\n\n", file=file)
        print("\n".join(each + ";" for each in functions(text)), file=file)
    with open(name + ".symbols", "w") as file:
        print("\n".join(sorted(symbols(sys.argv[1]))), file=file)


main()
