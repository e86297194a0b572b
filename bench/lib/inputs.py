"""Makes the larger inputs of the real programs: the same on every machine, from fixed seeds."""

import os
import random
import subprocess


def c_source(path):
    """Functions with loops, switches and structures, as a compiler gets them by the hundred."""
    rng = random.Random(1)
    with open(path, "w") as file:
        file.write("typedef struct { int a, b; double d[8]; char s[32]; } item;\n")
        for i in range(45):
            names = [f"v{n}" for n in range(8)]
            file.write(f"int f{i}(item* p, int n, unsigned x) {{\n  int r = n;\n")
            file.write("  int " + ", ".join(f"{name} = n + {rng.randrange(99)}"
                                            for name in names) + ";\n")
            for _ in range(7):
                one, two, three = rng.sample(names, 3)
                file.write(f"  for (int i = 0; i < n; i++) {{\n    {one} += {two} * i ^ p[i].a;\n"
                           f"    if ({one} % {rng.randrange(3, 17)} == 0) {{ p[i].b = {three}; }}\n"
                           f"    else {{ p[i].d[i % 8] += {two} / {rng.randrange(2, 9)}.0; }}\n"
                           "  }\n")
            file.write("  switch (x % 16) {\n")
            for case in range(16):
                file.write(f"    case {case}: r += {rng.choice(names)} >> {case % 5}; break;\n")
            callee = f"f{rng.randrange(i)}(p, r & 7, x / 3)" if i else "0"
            file.write(f"  }}\n  return r + {' + '.join(names)} + {callee};\n}}\n")
        file.write("int start(item* p, int n) { return f44(p, n, 77u) + f30(p, n, 5u); }\n")


def cpp_source(path):
    """Templates of the standard library, instantiated for many types."""
    with open(path, "w") as file:
        for header in ("algorithm", "functional", "map", "memory", "string", "vector"):
            file.write(f"#include <{header}>\n")
        for i in range(3):
            file.write(
                f"struct key{i} {{ int n; std::string s; bool operator<(const key{i}& o) const "
                "{ return n < o.n || (n == o.n && s < o.s); } };\n"
                f"std::size_t use{i}(int n) {{\n"
                f"  std::map<key{i}, std::vector<std::unique_ptr<key{i}>>> all;\n"
                f"  std::function<void(int)> add = [&](int j) {{\n"
                f"    key{i} k{{j % {i + 7}, std::to_string(j)}};\n"
                f"    all[k].push_back(std::make_unique<key{i}>(k)); }};\n"
                "  for (int j = 0; j < n; j++) { add(j); }\n"
                f"  std::vector<key{i}> flat;\n"
                "  for (auto& [k, list] : all) { flat.push_back(k); }\n"
                f"  std::sort(flat.begin(), flat.end());\n"
                f"  std::stable_sort(flat.begin(), flat.end(), [](const key{i}& a, const key{i}& b)"
                " { return b < a; });\n  return flat.size();\n}\n")


def formula(path):
    """For z3: a system of equations over bit vectors: products whose factors are to be found."""
    rng = random.Random(3)
    bits = 14
    with open(path, "w") as file:
        file.write("(set-logic QF_BV)\n")
        for i in range(12):
            one, two = (rng.randrange(2 ** (bits - 1), 2 ** bits) | 1 for _ in range(2))
            for name in (f"a{i}", f"b{i}"):
                file.write(f"(declare-const {name} (_ BitVec {2 * bits}))\n"
                           f"(assert (bvult {name} (_ bv{2 ** bits} {2 * bits})))\n")
            file.write(f"(assert (bvugt a{i} (_ bv1 {2 * bits})))\n"
                       f"(assert (bvuge a{i} b{i}))\n"
                       f"(assert (= (bvmul a{i} b{i}) (_ bv{one * two} {2 * bits})))\n")
        file.write("(check-sat)\n")


def java_sources(directory):
    """Classes with generics and lambdas that use each other."""
    os.makedirs(directory, exist_ok=True)
    for i in range(20):
        other = f"C{(i * 7 + 1) % 20}"
        methods = "\n".join(
            f"  public static List<String> m{n}(Map<String, List<Integer>> in) {{\n"
            f"    return in.entrySet().stream().filter(e -> e.getValue().size() > {n})\n"
            "      .sorted(Map.Entry.comparingByKey())\n"
            "      .map(e -> e.getKey() + e.getValue().stream()"
            f".mapToInt(x -> x * {n + 2}).sum())\n"
            "      .collect(Collectors.toList());\n  }" for n in range(8))
        with open(os.path.join(directory, f"C{i}.java"), "w") as file:
            file.write("import java.util.*;\nimport java.util.stream.*;\n\n"
                       f"public class C{i} {{\n{methods}\n"
                       f"  public static int all(Map<String, List<Integer>> in) {{ return "
                       f"m0(in).size() + {other}.m1(in).size(); }}\n}}\n")


def repository(directory):
    """A git repository of many versions of many files."""
    rng = random.Random(5)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randrange(2, 9))) for _ in range(3000)]
    files = [[" ".join(rng.choices(words, k=9)) for _ in range(rng.randrange(20, 300))]
             for _ in range(120)]
    stream = []
    for commit in range(100):
        stream.append(f"commit refs/heads/main\nmark :{commit + 1}\n"
                      f"committer A <a@example.org> {1500000000 + commit * 1000} +0000\n"
                      "data 6\nchange")
        for number in range(120) if commit == 0 else rng.sample(range(120), 6):
            lines = files[number]
            for _ in range(4):
                lines[rng.randrange(len(lines))] = " ".join(rng.choices(words, k=9))
            text = "\n".join(lines) + "\n"
            stream.append(f"M 644 inline dir{number % 7}/file{number}\ndata {len(text)}\n{text}")
    git = ["git", "-c", "fastimport.unpackLimit=0", "-C", directory]
    subprocess.run(["git", "init", "-q", "--bare", directory], check=True)
    subprocess.run(git + ["fast-import", "--quiet"], input="\n".join(stream).encode(), check=True)
    for name, value in (("pack.threads", "1"), ("gc.auto", "0"), ("gc.autoDetach", "false")):
        subprocess.run(git + ["config", name, value], check=True)
    subprocess.run(git + ["gc", "--quiet", "--aggressive"], check=True)  # the first one differs
