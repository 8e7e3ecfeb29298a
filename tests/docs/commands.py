"""docs/reference/cli.md lists every command, option and exit code: what the program's --help says, as tables."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packaging"))
from help_text import Item, walk  # noqa: E402

PAGE = "docs/reference/cli.md"
BEGIN, END = "<!-- from --help: begin -->", "<!-- from --help: end -->"
EVERYWHERE = {"--help"}
COMMON = {"--separator", "--decimal", "--set", "--threads", "--metric"}  # mean the same wherever they are


def row_of(item):
    cells = [f"`{item.name}`", item.value(), item.notes()]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def options_of(found):
    all_items = [Item(head, meaning) for section, head, meaning in found if section == "Options"]
    return [each for each in all_items if each.name not in EVERYWHERE]


def rows_of(found):
    rows = [row_of(Item(head, meaning)) for section, head, meaning in found if section == "Positionals"]
    return rows + [row_of(each) for each in options_of(found) if each.name not in COMMON]


def section_of(command, does, found, like=None):
    """`like` is the command before, if it has the same arguments."""
    lines = [f"### `{' '.join(('parley', *command))}`", "", f"{does}.", ""]
    subcommands = [head.split()[0] for section, head, _ in found if section == "Subcommands"]
    if subcommands:
        lines += ["Commands: " + ", ".join(f"[`{each}`](#{'-'.join(('parley', *command, each))})"
                                           for each in subcommands) + ".", ""]
    if like:
        return "\n".join([*lines, f"Arguments as of `{' '.join(('parley', *like))}`.", ""])
    if rows_of(found):
        lines += ["| argument | value | meaning |", "|---|---|---|", *rows_of(found), ""]
    also = [f"`{each.name}`" for each in options_of(found) if each.name in COMMON]
    if also:
        lines += [f"And {', '.join(also)} ([above](#options-of-several-commands)).", ""]
    return "\n".join(lines)


def generated(binary):
    commands = [each for each in walk(binary) if each[0]]
    common = {each.name: row_of(each) for _, _, found in commands for each in options_of(found) if each.name in COMMON}
    sections = ["\n".join(["### Options of several commands", "", "| argument | value | meaning |", "|---|---|---|",
                           *sorted(common.values()), ""])]
    first = None  # of commands in a row that have the same arguments
    for command, does, found in commands:
        same = first is not None and found and not is_group(found) and found == first[1]
        sections.append(section_of(command, does, found, first[0] if same else None))
        if not same:
            first = (command, found)
    return "\n".join(sections)


def is_group(found):
    return any(section == "Subcommands" for section, _, _ in found)


def kept(page):
    return page.split(BEGIN)[1].split(END)[0].strip("\n") + "\n" if BEGIN in page else ""


def exit_codes(root):
    """Of include/parley/result.h: those of errors, and 0."""
    text = (root / "include/parley/result.h").read_text(encoding="utf-8")
    return {0, *map(int, re.search(r"kStatus\[\] = \{([^}]*)\}", text).group(1).split(","))}


def check(root, binary):
    page = (root / PAGE).read_text(encoding="utf-8")
    for code in sorted(exit_codes(root)):
        if not re.search(rf"^\| {code} \|", page, re.MULTILINE):
            yield f"{PAGE}: exit code {code} is not described"
    for section, head, _ in next(walk(binary))[2]:
        if section == "Options" and f"`{Item(head, '').name}`" not in page.split(BEGIN)[0]:
            yield f"{PAGE}: the option {Item(head, '').name} of every command is not described"
    rows = {row_of(each) for _, _, found in walk(binary) for each in options_of(found) if each.name in COMMON}
    if len(rows) != len(COMMON):
        yield f"{PAGE}: an option of several commands does not mean the same in all (COMMON in tests/docs/commands.py)"
    expected, found = generated(binary).split("\n"), kept(page).split("\n")
    for line in expected:
        if line not in found:
            yield f"{PAGE}: lacks what --help says (tests/docs/__main__.py --write mends it): {line}"
    for line in found:
        if line not in expected:
            yield f"{PAGE}: says what --help does not (tests/docs/__main__.py --write mends it): {line}"
    if expected != found and set(expected) == set(found):
        yield f"{PAGE}: is not in the order of --help (tests/docs/__main__.py --write mends it)"


def write(root, binary):
    path = root / PAGE
    page = path.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{generated(binary)}\n{END}{after}", encoding="utf-8")
