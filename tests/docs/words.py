"""Counts words of the pages: what holds a letter, outside blocks of code and comments, without the addresses of links."""

import re

import links

READER_MOST = 36_500
TARGET = re.compile(r"\]\([^)\s]*\)")
ITEM = re.compile(r"([-+*]|\d+[.)]) ")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PRINTED = re.compile(r"<!-- from --help: begin -->.*?<!-- from --help: end -->", re.DOTALL)

# Group -> what a page's name begins with; the first that fits counts. Other pages are for whoever changes Parley.
GROUPS = {
    "reader": ("README.md", "docs/README.md", "docs/tutorial.md", "docs/how-to/", "docs/reference/", "docs/explanation/",
               "docs/theory/", "docs/threat-model.md", "docs/glossary.md", "docs/dependencies.md"),
    "results": ("docs/results/",),
    "generated": ("docs/reproduction.md",),
    "contributors": ("",),
}


def without_blocks(text):
    """Without fenced and indented blocks of code; a line of a list may be indented without being code."""
    kept, code, blank, margin = [], False, True, 4
    for line in links.FENCE.sub("", text).split("\n"):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            blank = True
            continue
        code = indent >= margin and (code or blank)
        if not code:
            kept.append(line)
        if indent == 0:
            margin = 7 if ITEM.match(line) else 4
        blank = False
    return "\n".join(kept)


def count(text):
    words = TARGET.sub("] ", without_blocks(COMMENT.sub("", text))).split()
    return sum(any(each.isalpha() for each in word) for word in words)


def group_of(name):
    return next(group for group, starts in GROUPS.items() if name.startswith(starts))


def counts(root):
    """{group: {page: words}}; what is printed from --help counts as generated."""
    found = {group: {} for group in GROUPS}
    for page in links.files(root, links.PAGES):
        name, text = str(page.relative_to(root)), page.read_text(encoding="utf-8")
        found[group_of(name)][name] = count(PRINTED.sub("", text))
        if printed := sum(count(each.removeprefix("<!-- from --help: begin -->").removesuffix("<!-- from --help: end -->"))
                          for each in PRINTED.findall(text)):
            found["generated"][f"{name}, from --help"] = printed
    return found


def check(root):
    words = sum(counts(root)["reader"].values())
    if words > READER_MOST:
        yield f"readers' pages have {words} words, above {READER_MOST}: cut what readers do not need"


def show(root):
    for group, pages in counts(root).items():
        print(f"{sum(pages.values()):6} words in {len(pages)} pages: {group}")
        for name, words in sorted(pages.items(), key=lambda each: -each[1]):
            print(f"{words:10} {name}")
