#!/usr/bin/env python3
"""Reads a site as a browser would: each link and source inside of it leads to a file and, where it
names one, to an id in it; and no page makes a browser fetch something from elsewhere.

  links.py SITE           prints each offence; exit status 1 if there is one
"""

import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.fetched = set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.ids.add(values["id"])
        link = values.get("href") or values.get("src")
        if link:
            (self.links if tag == "a" else self.fetched).append(link)


def offences(site, pages, path):
    page = pages[path]
    for link in page.links + page.fetched:
        parts = urllib.parse.urlparse(link)
        if parts.scheme or parts.netloc:
            if link in page.fetched:
                yield f"{path} fetches {link}"
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
        target = path if not parts.path else target
        if not os.path.exists(os.path.join(site, target)):
            yield f"{path} links to {link}, which is not there"
        elif parts.fragment and target in pages and parts.fragment not in pages[target].ids | {"__toc"}:
            yield f"{path} links to {link}, which has no such place"


def main():
    site = sys.argv[1]
    pages = {}
    for folder, _, files in os.walk(site):
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), site)
            if name.endswith(".html") and path != "404.html":  # whose links are from a server's root
                pages[path] = Page(os.path.join(site, path))
    found = [each for path in sorted(pages) for each in offences(site, pages, path)]
    for each in found:
        print(f"links: {each}")
    links = sum(len(page.links) for page in pages.values())
    print(f"links: {len(pages)} pages, {links} links")
    return 1 if found or len(pages) < 40 else 0


sys.exit(main())
