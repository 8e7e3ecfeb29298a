"""docs/reference/cli.md lists every command, option and exit code: what the program's --help says, as tables."""

import re
import subprocess

PAGE = "docs/reference/cli.md"
BEGIN, END = "<!-- from --help: begin -->", "<!-- from --help: end -->"
COLUMN = 30  # where --help begins to describe
EVERYWHERE = {"--help"}
COMMON = {"--separator", "--decimal", "--set", "--threads", "--metric"}  # mean the same wherever they are


class Item:
    """A positional or an option: its name, what it takes, and what it means."""

    def __init__(self, head, meaning):
        words = head.split()
        self.name = words[0].split(",")[-1]
        rest = " ".join(words[1:])
        self.required = "REQUIRED" in rest
        self.needs = self.after(rest, "Needs:")
        self.excludes = self.after(rest, "Excludes:")
        rest = re.split(r"REQUIRED|Needs:|Excludes:", rest)[0].strip()
        value, _, self.default = rest.partition("=")
        if re.fullmatch("[A-Z]+", self.default):  # KEY=VALUE is no default
            value, self.default = rest, ""
        many = value.endswith("...")
        kind, _, limit = value.removesuffix("...").strip().partition(":")
        self.value = self.plain(kind, limit) + (" ..." if many else "")
        self.meaning = meaning

    @staticmethod
    def after(text, word):
        found = re.search(word + r"((?: (?!Needs:|Excludes:)\S+)+)", text)
        return found.group(1).split() if found else []

    @staticmethod
    def plain(kind, limit):
        words = {"UINT": "whole number", "INT": "whole number", "FLOAT": "number", "TEXT": "text"}
        limits = {"POSITIVE": ", above 0", "NONNEGATIVE": ", 0 or more"}
        limit = limits.get(limit, limit)
        within = re.fullmatch(r"\w+ in \[(\S+) - (\S+)\]", limit)
        if within:
            limit = f", {within.group(1)} to {within.group(2)}"
        if limit.startswith("{"):
            return "one of " + ", ".join(f"`{word}`" for word in limit.strip("{}").split(","))
        return words.get(kind, kind) + limit

    def row(self):
        notes = [self.meaning.rstrip()]
        if self.default:
            notes.append(f"Default: `{self.default}`.")
        if self.required:
            notes.append("Required.")
        if self.needs:
            notes.append("Only with " + ", ".join(f"`{name}`" for name in self.needs) + ".")
        if self.excludes:
            notes.append("Not with " + ", ".join(f"`{name}`" for name in self.excludes) + ".")
        if len(notes) > 1 and not notes[0].endswith((".", "?")):
            notes[0] += "."
        cells = [f"`{self.name}`", self.value, " ".join(notes)]
        return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def help_of(binary, command):
    return subprocess.run([binary, *command, "--help"], capture_output=True, text=True, check=True).stdout


def items(text):
    """[(section, head, meaning)] of one --help."""
    section, found = "", []
    lines = text.split("\n")
    for line, after in zip(lines, [*lines[1:], ""]):
        indent = len(line) - len(line.lstrip())
        column = COLUMN - 2 + indent
        if re.match(r"\[?[A-Z][\w ]+:", line) and not line.startswith("Usage"):
            section = "Options" if line.startswith("[Option Group") else line.rstrip(":")
        elif not 2 <= indent <= 4 or section not in ("Positionals", "Options", "Subcommands"):
            continue
        elif re.match(r" +(Options:|One of these|\[Exactly)", line):
            continue
        elif after.startswith(" " * column):  # described on the next line
            found.append((section, line.strip(), after.strip()))
        else:
            found.append((section, line[:column].strip(), line[column:].strip()))
    return found


def walk(binary, command=()):
    """(command, what it does, its items) of every command, groups first."""
    text = help_of(binary, command)
    found = items(text)
    yield command, text.split("\n")[0], found
    for section, head, _ in found:
        if section == "Subcommands":
            yield from walk(binary, (*command, head.split()[0]))


def options_of(found):
    all_items = [Item(head, meaning) for section, head, meaning in found if section == "Options"]
    return [each for each in all_items if each.name not in EVERYWHERE]


def rows_of(found):
    rows = [Item(head, meaning).row() for section, head, meaning in found if section == "Positionals"]
    return rows + [each.row() for each in options_of(found) if each.name not in COMMON]


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
    common = {each.name: each.row() for _, _, found in commands for each in options_of(found) if each.name in COMMON}
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
    rows = {each.row() for _, _, found in walk(binary) for each in options_of(found) if each.name in COMMON}
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
