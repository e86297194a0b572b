"""The classes of real programs: a command line, and a server with its client."""

import os
import re
import shutil
import subprocess
import tempfile
import time

from . import inputs
from .measure import Allocator, environment, last_line, read_figures
from .rows import Row

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
START_LIMIT = 30  # seconds for a server to answer


def script(name):
    return os.path.join(SCRIPTS, name)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Program(Row):
    """A command line, which subclasses make; with an input that is made by the suite, or none."""

    kind = "program"
    needs = ""  # the program that has to be there
    in_quick = False
    make_input = None  # (function, name of the file or folder that it makes)
    env = {}

    def __init__(self, data):
        self.data = data

    @property
    def input(self):
        return os.path.join(self.data, self.make_input[1]) if self.make_input else None

    def command(self):
        raise NotImplementedError

    def prepare(self):
        if not shutil.which(self.needs):
            return f"needs {self.needs}"
        os.makedirs(self.data, exist_ok=True)
        if self.make_input:
            self.renew_input()
        return None

    def renew_input(self):
        function, _ = self.make_input
        if is_newer(self.input, inputs.__file__):
            return
        if os.path.isdir(self.input):
            shutil.rmtree(self.input)
        function(self.input)
        os.utime(self.input)  # a folder's own time is that of what it was made of

    def shown(self):
        words = [f"{name}={value}" for name, value in self.env.items()] + self.command()
        return " ".join(words).replace(self.data + "/", "").replace(SCRIPTS + "/", "")

    def run(self, launcher, allocator):
        return launcher.run(self.on(allocator), self.command(), env=self.env)

    def on(self, allocator):
        """The allocator as this program needs it: one that is linked with another allocator gets
        the C library preloaded, where that one's malloc is to be measured."""
        if allocator.preload:
            return allocator
        libraries = output_of("ldd", os.path.realpath(shutil.which(self.needs)))
        if not re.search("jemalloc|tcmalloc", libraries):
            return allocator
        found = re.search(r"libc\.so\.6 => (\S+)", libraries)
        return Allocator(allocator.name, [found.group(1)], allocator.role, allocator.version)


def is_newer(path, than):
    return os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(than)


class Server(Program):
    """The server runs on the allocator, its client does not: only the server's figures count."""

    def client_commands(self):
        raise NotImplementedError

    def is_up(self):
        raise NotImplementedError

    def set_up(self):
        """Before each start."""

    def as_user(self, command):
        return command

    def shown(self):
        clients = [" ".join(each) for each in self.client_commands()]
        return super().shown() + " & " + "; ".join(clients).replace(self.data + "/", "")

    def run(self, launcher, allocator):
        self.set_up()
        figures = launcher.figures_file()
        chosen = self.on(allocator)
        with tempfile.TemporaryFile() as output:
            server = subprocess.Popen(
                launcher.command(figures, chosen, self.as_user(self.command())),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=environment(chosen, self.env))
            problem = self.serve(server)
            server.terminate()  # the launcher passes it on
            server.wait()
            output.seek(0)
            said = last_line(output.read())
        record = read_figures(figures)
        os.unlink(figures)
        if problem:
            record.update(status="failed", message=f"{problem}: {said}")
        return record

    def serve(self, server):
        """Runs the clients; returns what went wrong, or None."""
        limit = time.monotonic() + START_LIMIT
        while not self.is_up():
            if server.poll() is not None or time.monotonic() > limit:
                return "the server does not start"
            time.sleep(0.05)
        for command in self.client_commands():
            result = subprocess.run(command, capture_output=True)
            if result.returncode != 0:
                return "the client failed: " + last_line(result.stderr)
        return None
