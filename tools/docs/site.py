#!/usr/bin/env python3
"""Lays out the pages of the documentation site for mkdocs: those of docs/, the READMEs of folders,
and the API reference made of the headers. Links that fit the source tree are made to fit the site.

  site.py TREE OUTPUT     writes OUTPUT/pages and OUTPUT/mkdocs.yml
"""

import os
import re
import shutil
import subprocess
import sys

import api
import plot

# Pages that lie outside of docs/, by the name that they have in the site.
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
    "src/README.md": "source.md",
    "bench/README.md": "bench.md",
    "bench/results/summary.md": "results.md",
    "bench/trace/README.md": "traces.md",
    "packaging/README.md": "packaging.md",
    "rust/mimalloc/README.md": "rust.md",
    "rust/libmimalloc-sys/README.md": "rust-sys.md",
}
HEADERS = ["mimalloc.h", "mimalloc-stats.h", "mimalloc-profile.h"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
DECISION = re.compile(r"\[[^\]]*\]\([^)]*\)|`[^`]*`|\bdecision (\d{3})\b")
DRAWING = re.compile(r"<!-- drawing: (\S+\.dot) -->")
PLOT = re.compile(r"<!-- plot of programs: (\S+) -->")
FENCE = re.compile(r"^ *(```|~~~)")


def pages_of(tree):
    """Maps each document of the tree to its page, both relative."""
    pages = {}
    for folder, folders, files in os.walk(os.path.join(tree, "docs")):
        folders.sort()
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), tree)
            if name.endswith(".md"):
                pages[path] = os.path.relpath(path, "docs")
    pages.update(ELSEWHERE)
    return pages


class Links:
    """Rewrites the links of a document: to the page of what they name, or to its name alone."""

    def __init__(self, tree, pages, output):
        self.tree, self.pages, self.output = tree, pages, output

    def target(self, path):
        """The page of a file or folder of the tree, or None."""
        for each in (path, os.path.join(path, "README.md"), os.path.join(path, "index.md")):
            if each in self.pages:
                return self.pages[each]
        if path == "docs/decisions":
            return "decisions/index.md"
        return None

    def rewrite(self, document, page, match):
        image, text, link = match.groups()
        if re.match(r"[a-z]+:|#", link):
            return match.group(0)
        link, hash_sign, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(document), link))
        if not os.path.exists(os.path.join(self.tree, path)):
            if link.startswith("api/"):  # made here, and checked by mkdocs
                return match.group(0)
            raise SystemExit(f"{document}: links to {link}, which is not there")
        target = self.target(path)
        if image:
            target = os.path.join("images", os.path.basename(path))
            copy_to = os.path.join(self.output, target)
            os.makedirs(os.path.dirname(copy_to), exist_ok=True)
            shutil.copyfile(os.path.join(self.tree, path), copy_to)
        if target is None:  # a file of the sources, which are not part of the site
            return text
        if text.endswith(".md"):
            text = title_of(os.path.join(self.tree, path))
        target = os.path.relpath(target, os.path.dirname(page) or ".")
        return f"{image}[{text}]({target}{hash_sign}{anchor})"

    def decision(self, page, match):
        """`decision 007` becomes a link to it, where it is none yet."""
        for target in self.pages.values():
            if match.group(1) and target.startswith(f"decisions/{match.group(1)}-"):
                target = os.path.relpath(target, os.path.dirname(page) or ".")
                return f"[{match.group(0)}]({target})"
        return match.group(0)

    def drawing(self, document, match):
        """A drawing by graphviz as part of the page, which site.css gives its colours."""
        path = os.path.join(self.tree, os.path.dirname(document), match.group(1))
        svg = subprocess.run(["dot", "-Tsvg", path], check=True, capture_output=True, text=True).stdout
        svg = re.sub(r"<!--.*?-->\n?", "", svg[svg.index("<svg") :], flags=re.S)
        return f'<div class="drawing">\n{svg}</div>'

    def plot(self, document, match):
        return plot.programs(read(os.path.join(self.tree, os.path.dirname(document), match.group(1))))

    def rewrite_all(self, document, page, text):
        lines, fenced = [], False
        for line in text.split("\n"):
            if not fenced and re.match(r"   [^ ]", line):  # mkdocs' lists want four spaces
                line = " " + line
            elif not fenced and re.match(r"\d\. ", line) and lines[-1].startswith("    "):
                lines.append("")
            line = DRAWING.sub(lambda match: self.drawing(document, match), line)
            line = PLOT.sub(lambda match: self.plot(document, match), line)
            if line.startswith("|"):  # mkdocs takes a bar in code as it is
                line = re.sub(r"`[^`]*`", lambda match: match.group(0).replace("\\|", "|"), line)
            if FENCE.match(line):
                fenced = not fenced
            if not fenced:
                line = LINK.sub(lambda match: self.rewrite(document, page, match), line)
                if not line.startswith("#"):
                    line = DECISION.sub(lambda match: self.decision(page, match), line)
            lines.append(line)
        return "\n".join(lines)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def title_of(path):
    return re.search(r"^# (.*)$", read(path), re.M).group(1)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def decisions(tree):
    """Number and title, and file, of each decision."""
    folder = os.path.join(tree, "docs/decisions")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    return [(read(os.path.join(folder, name)).split("\n")[0].lstrip("# "), name) for name in names]


def decisions_index(found):
    rows = "\n".join(f"- [{title}]({name})" for title, name in found)
    return f"""# Decisions

What was chosen, why, and what follows from it; each links to what was measured. One that a later one
replaced says so in its first lines.

{rows}
"""


def navigation(tree, template, found):
    """The template's lines, with those that only the tree knows."""
    each = "".join(f"      - decisions/{name}\n" for _, name in found)
    headers = "".join(f"      - {header}: api/{header[:-2]}.md\n" for header in HEADERS)
    return template.replace("      - @DECISIONS@\n", each).replace("      - @HEADERS@\n", headers)


def main():
    tree, output = sys.argv[1:]
    folder = os.path.join(output, "pages")
    shutil.rmtree(folder, ignore_errors=True)
    pages = pages_of(tree)
    links = Links(tree, pages, folder)
    for document, page in pages.items():
        text = links.rewrite_all(document, page, read(os.path.join(tree, document)))
        write(os.path.join(folder, page), text)
    found = decisions(tree)
    write(os.path.join(folder, "decisions/index.md"), decisions_index(found))
    folder_of_examples = os.path.join(tree, "docs/examples")
    examples = {name[:-2]: read(os.path.join(folder_of_examples, name)).rstrip() for name in os.listdir(folder_of_examples)}
    since = api.versions(read(os.path.join(tree, "cmake/mimalloc.map")))
    for header in HEADERS:
        text = api.page(header, read(os.path.join(tree, "include", header)), examples, since)
        write(os.path.join(folder, "api", header[:-2] + ".md"), text)
    if examples:
        raise SystemExit(f"no header, and no group of one, has the name of these examples: {sorted(examples)}")
    for name in ("site.css", "iframe-worker.js"):
        shutil.copyfile(os.path.join(tree, "docs", name), os.path.join(folder, name))
    template = read(os.path.join(tree, "docs/mkdocs.yml"))
    write(os.path.join(output, "mkdocs.yml"), navigation(tree, template, found))


main()
