"""What would not be drawn as it was meant: tables whose rows have other numbers of cells than the head, or no blank line
before; a line of a paragraph that begins like a list, such as "1) is" after "epsilon =".
"""

import re

import links

DELIMITER = re.compile(r"^\|(\s*:?-+:?\s*\|)+\s*$")
BEGINS_LIST = re.compile(r"(1[.)]|[-+*]|#+|>) ")
MAY_COME_BEFORE = re.compile(r"\s*$|\s*([-+*]|\d+[.)]) |\s\s|[|#>]")  # a blank line, a list, a table, a heading


def cells(line):
    """Of a row; a bar after a backslash is a character."""
    return len(re.split(r"(?<!\\)\|", line.strip())) - 2


def check(root):
    for page in links.files(root, links.PAGES):
        text = links.FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), page.read_text(encoding="utf-8"))
        yield from check_tables(page.relative_to(root), text.split("\n"))
        yield from check_paragraphs(page.relative_to(root), text.split("\n"))


def check_paragraphs(page, lines):
    for number, (before, line) in enumerate(zip(lines, lines[1:]), 2):
        if BEGINS_LIST.match(line) and not MAY_COME_BEFORE.match(before):
            yield f"{page}:{number}: this line of a paragraph is drawn as a list or heading: {line[:30]}"


def check_tables(page, lines):
    for i, line in enumerate(lines):
        if not DELIMITER.match(line):
            continue
        if i < 2 or lines[i - 1].strip() and lines[i - 2].strip():
            yield f"{page}:{i + 1}: a table needs a blank line before it"
        for row, content in enumerate(lines[i + 1:], i + 2):
            if not content.startswith("|"):
                break
            if cells(content) != cells(line):
                yield f"{page}:{row}: a row of {cells(content)} cells in a table of {cells(line)}"
        if cells(lines[i - 1]) != cells(line):
            yield f"{page}:{i + 1}: a head of {cells(lines[i - 1])} cells over {cells(line)}"
