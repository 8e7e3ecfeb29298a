"""Tables that would not be drawn as tables: rows with other numbers of cells than the head, or no blank line before."""

import re

import links

DELIMITER = re.compile(r"^\|(\s*:?-+:?\s*\|)+\s*$")


def cells(line):
    """Of a row; a bar after a backslash is a character."""
    return len(re.split(r"(?<!\\)\|", line.strip())) - 2


def check(root):
    for page in links.files(root, links.PAGES):
        text = links.FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), page.read_text(encoding="utf-8"))
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if not DELIMITER.match(line):
                continue
            name = f"{page.relative_to(root)}:{i + 1}"
            if i < 2 or lines[i - 1].strip() and lines[i - 2].strip():
                yield f"{name}: a table needs a blank line before it"
            for row, content in enumerate(lines[i + 1:], i + 2):
                if not content.startswith("|"):
                    break
                if cells(content) != cells(line):
                    yield f"{page.relative_to(root)}:{row}: a row of {cells(content)} cells in a table of {cells(line)}"
            if cells(lines[i - 1]) != cells(line):
                yield f"{name}: a head of {cells(lines[i - 1])} cells over {cells(line)}"
