"""Real programs, with inputs that are the same on every machine. They are installed by
`./mi bench`, where it can do that; one that is not there is left out.
"""

import os
import re
import shutil
import subprocess

from . import inputs
from .measure import last_line
from .program import Program, Server, output_of, script


def system_python():
    """Debian's: a python3 found first in the path may be a shell script, or the suite's own."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"


class Lua(Program):
    name, needs, packages, in_quick = "lua", "lua5.4", ("lua5.4",), True
    description = "tables, closures, strings"

    def command(self):
        return ["lua5.4", script("objects.lua")]


class Python(Program):
    name, needs, packages, in_quick = "python", system_python(), ("python3",), True
    description = "objects, dictionaries, JSON; every object is a block"
    env = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}

    def command(self):
        return [self.needs, script("objects.py")]


class Perl(Program):
    name, needs, packages = "perl", "perl", ("perl",)
    description = "hashes, arrays of arrays, regular expressions"
    env = {"PERL_HASH_SEED": "0"}

    def command(self):
        return ["perl", script("hash.pl")]


class Sqlite(Program):
    name, needs, packages, in_quick = "sqlite", "sqlite3", ("sqlite3",), True
    description = "a database in memory: insert, index, join, update, vacuum"

    def command(self):
        return ["sqlite3", ":memory:", f".read {script('tables.sql')}"]


class Z3(Program):
    name, needs, packages = "z3", "z3", ("z3",)
    description = "equations over bit vectors"
    make_input = (inputs.formula, "formula.smt2")

    def command(self):
        return ["z3", self.input]


class Ghostscript(Program):
    name, needs, packages = "ghostscript", "gs", ("ghostscript",)
    description = "pages of text, curves, shadings, drawn as bitmaps"

    def command(self):
        return ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-dSAFER", "-sDEVICE=ppmraw", "-r150",
                "-o", "/dev/null", script("pages.ps")]


class Node(Program):
    name, needs, packages = "node", "node", ("nodejs",)
    description = "buffers, maps, JSON, compression"

    def command(self):
        return ["node", script("heap.js")]


class Compiler(Program):
    """The compiler proper, not the driver, which would start it in another process."""

    needs, packages = "gcc", ("gcc", "g++")
    proper, options = "", ()

    def prepare(self):
        return super().prepare() or self.missing()

    def missing(self):
        return None if shutil.which(self.command()[0]) else f"needs {self.proper}"

    def command(self):
        return [output_of("gcc", f"-print-prog-name={self.proper}"), "-quiet", "-imultiarch",
                output_of("gcc", "-print-multiarch"), *self.options, self.input, "-o", "/dev/null"]


class C(Compiler):
    name, proper, options, in_quick = "cc1", "cc1", ("-O2",), True
    description = "gcc's compiler of C, on functions with loops and switches"
    make_input = (inputs.c_source, "functions.c")


class Cpp(Compiler):
    name, proper, options = "cc1plus", "cc1plus", ("-O1", "-D_GNU_SOURCE")
    description = "gcc's compiler of C++, on templates of the standard library"
    make_input = (inputs.cpp_source, "templates.cpp")


class Git(Program):
    name, needs, packages = "git-gc", "git", ("git",)
    description = "packs a repository anew"
    make_input = (inputs.repository, "repository.git")

    def command(self):
        return ["git", "-C", self.input, "gc", "--quiet", "--aggressive"]


class Javac(Program):
    name, needs, packages = "javac", "javac", ("openjdk-17-jdk-headless",)
    description = "compiles 20 classes; the virtual machine's own blocks, not Java's"
    make_input = (inputs.java_sources, "java")

    def command(self):
        sources = sorted(name for name in os.listdir(self.input) if name.endswith(".java"))
        return ["javac", "-J-Xmx512m", "-J-XX:+UseSerialGC", "-J-XX:CICompilerCount=2", "-d",
                os.path.join(self.data, "classes"),
                *(os.path.join(self.input, name) for name in sources)]

    def shown(self):
        return re.sub(r"(java/\S+\.java ?)+", "java/*.java", super().shown())


class Rocksdb(Program):
    name, needs, packages = "rocksdb", "db_bench", ("rocksdb-tools",)
    description = "db_bench: fills a database, reads it at random, overwrites, scans"

    def command(self):
        return ["db_bench", "--db=" + os.path.join(self.data, "rocksdb"), "--seed=1",
                "--benchmarks=fillrandom,readrandom,overwrite,readseq", "--num=150000",
                "--value_size=200", "--disable_wal=1", "--cache_size=4000000", "--threads=1",
                "--write_buffer_size=8000000", "--compression_type=none"]

    def run(self, launcher, allocator):
        shutil.rmtree(os.path.join(self.data, "rocksdb"), ignore_errors=True)
        return super().run(launcher, allocator)


# ---- Servers -------------------------------------------------------------------------------------

class Redis(Server):
    name, needs = "redis", "redis-server"
    packages = ("redis-server", "redis-tools")
    description = "strings, lists, hashes and sorted sets, by redis-benchmark"

    @property
    def socket(self):
        return os.path.join(self.data, "redis.sock")

    def command(self):
        return ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                "--appendonly", "no", "--daemonize", "no", "--dir", self.data]

    def is_up(self):
        ping = ["redis-cli", "-s", self.socket, "ping"]
        return subprocess.run(ping, capture_output=True, text=True).stdout.strip() == "PONG"

    def client_commands(self):
        base = ["redis-benchmark", "-s", self.socket, "-q", "-c", "20", "-P", "16"]
        return [
            base + ["-n", "200000", "-r", "50000", "-d", "100", "-t", "set,get"],
            base + ["-n", "80000", "-r", "50000", "-d", "60",
                    "-t", "lpush,lpop,sadd,hset,zadd,incr"],
            base + ["-n", "60000", "-r", "50000", "-d", "700", "-t", "set"]]


class Postgres(Server):
    """It refuses to run as root. As root, it runs in a user namespace in which nobody is."""

    name, needs, packages = "postgres", "pgbench", ("postgresql",)
    description = "pgbench: transactions and queries by 4 clients"
    port = "54329"  # names the socket, and shares it with no other server

    def binary(self, name):
        found = shutil.which(name)
        base = "/usr/lib/postgresql"
        versions = sorted(os.listdir(base)) if os.path.isdir(base) else []
        for version in reversed(versions):
            path = os.path.join(base, version, "bin", name)
            if os.path.exists(path):
                return path
        return found or name

    @property
    def database(self):
        return os.path.join(self.data, "postgres")

    def as_user(self, command):
        if os.geteuid() != 0:
            return command
        return ["unshare", "--user", "--map-user=1000", "--map-group=1000", *command]

    def prepare(self):
        problem = super().prepare()
        if problem or os.path.exists(os.path.join(self.database, "PG_VERSION")):
            return problem
        shutil.rmtree(self.database, ignore_errors=True)
        made = subprocess.run(
            self.as_user([self.binary("initdb"), "-D", self.database, "-A", "trust", "-U", "bench",
                          "--no-locale", "-N", "-E", "UTF8"]), capture_output=True)
        if made.returncode != 0:
            shutil.rmtree(self.database, ignore_errors=True)
            return "cannot make a database: " + last_line(made.stderr)
        return None

    def on(self, allocator):
        return allocator

    def command(self):
        return [self.binary("postgres"), "-D", self.database, "-k", self.socket_directory,
                "-p", self.port, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "autovacuum=off",
                "-c", "shared_buffers=16MB", "-c", "max_connections=20"]

    @property
    def socket_directory(self):
        """The path of a socket may have about 100 characters only."""
        return "/tmp"

    def client(self, name, *arguments):
        return [self.binary(name), "-h", self.socket_directory, "-p", self.port, "-U", "bench",
                *arguments]

    def is_up(self):
        return subprocess.run(self.client("pg_isready", "-q")).returncode == 0

    def client_commands(self):
        return [self.client("pgbench", "-i", "-q", "-s", "2", "postgres"),
                self.client("pgbench", "-n", "-c", "4", "-t", "400", "--random-seed=1",
                            "postgres"),
                self.client("pgbench", "-n", "-S", "-c", "4", "-t", "1500", "--random-seed=1",
                            "postgres")]


ALL = [Lua, Python, Perl, Sqlite, Z3, Ghostscript, C, Cpp, Git, Node, Javac, Redis,
       Rocksdb, Postgres]


def all_programs(data, quick):
    return [program(data) for program in ALL if program.in_quick or not quick]
