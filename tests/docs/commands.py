"""docs/reference/cli.md lists every command, option and exit code: what the program's --help says, as tables."""

import re
import subprocess

PAGE = "docs/reference/cli.md"
BEGIN, END = "<!-- from --help: begin -->", "<!-- from --help: end -->"
COLUMN = 30  # where --help begins to describe
EVERYWHERE = {"--help"}


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


def section_of(command, does, found):
    name = " ".join(("parley", *command))
    positionals = [Item(head, meaning) for section, head, meaning in found if section == "Positionals"]
    options = [Item(head, meaning) for section, head, meaning in found if section == "Options"]
    options = [each for each in options if each.name not in EVERYWHERE]
    subcommands = [head.split()[0] for section, head, _ in found if section == "Subcommands"]
    lines = [f"### `{name}`", "", f"{does}.", ""]
    if subcommands:
        lines += ["Commands: " + ", ".join(f"[`{each}`](#{'-'.join(('parley', *command, each))})"
                                           for each in subcommands) + ".", ""]
    if positionals or options:
        lines += ["| argument | value | meaning |", "|---|---|---|"]
        lines += [each.row() for each in positionals + options] + [""]
    return "\n".join(lines)


def generated(binary):
    return "\n".join(section_of(*each) for each in walk(binary) if each[0])


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
