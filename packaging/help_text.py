"""What the program's --help says of every command: for docs/reference/cli.md, man pages and completion."""

import functools
import re
import subprocess

COLUMN = 30  # where --help begins to describe


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
        self.kind, self.many, self.meaning = kind, many, meaning
        self.choices = limit.strip("{}").split(",") if limit.startswith("{") else []
        self.limit = self.plain_limit(limit)

    @staticmethod
    def after(text, word):
        found = re.search(word + r"((?: (?!Needs:|Excludes:)\S+)+)", text)
        return found.group(1).split() if found else []

    @staticmethod
    def plain_limit(limit):
        limits = {"POSITIVE": ", above 0", "NONNEGATIVE": ", 0 or more"}
        if re.fullmatch(r"[A-Z]+(\|.*)?", limit) and limit not in limits:  # HOST:PORT
            return ":" + limit
        within = re.fullmatch(r"\w+ in \[(\S+) - (\S+)\]", limit)
        return f", {within.group(1)} to {within.group(2)}" if within else limits.get(limit, limit)

    def value(self, quote="`"):
        """What it takes, in words; empty if it takes nothing."""
        words = {"UINT": "whole number", "INT": "whole number", "FLOAT": "number", "TEXT": "text"}
        if self.choices:
            text = "one of " + ", ".join(quote + word + quote for word in self.choices)
        else:
            text = words.get(self.kind, self.kind) + self.limit
        return text + (" ..." if self.many else "")

    def notes(self, quote="`"):
        """Meaning, default, and what it goes with, in sentences."""
        def names(those):
            return ", ".join(quote + each + quote for each in those)
        notes = [self.meaning.rstrip()]
        if self.default:
            notes.append(f"Default: {names([self.default])}.")
        if self.required:
            notes.append("Required.")
        if self.needs:
            notes.append(f"Only with {names(self.needs)}.")
        if self.excludes:
            notes.append(f"Not with {names(self.excludes)}.")
        if len(notes) > 1 and not notes[0].endswith((".", "?")):
            notes[0] += "."
        return " ".join(notes)


@functools.cache
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
