#!/usr/bin/env python3
"""Man pages from --help, so that they cannot go stale: parley(1), and one page for each command.

    man_pages.py PROGRAM OUT DATE      DATE as 2026-11-18
"""

import pathlib
import re
import sys

from help_text import Item, walk

ROOT = pathlib.Path(__file__).resolve().parents[1]


def exit_codes():
    """Of the page of commands, where a test compares them with the program's."""
    page_of_commands = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (\d) \| (.*) \|$", page_of_commands, re.MULTILINE)


def text(words):
    """As troff has it; a line must not begin with a full stop or an apostrophe."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", escaped)


def entry(item):
    value = item.value("")
    takes = f" \\fR({text(value)})" if value else ""
    return [".TP", f".B {text(item.name)}{takes}", text(item.notes("'"))]


def usage(command, found):
    positionals = [Item(head, meaning) for section, head, meaning in found if section == "Positionals"]
    words = [each.name + (" ..." if each.many else "") for each in positionals]
    words = [word if each.required else f"[{word}]" for word, each in zip(words, positionals)]
    if any(section == "Subcommands" for section, _, _ in found):
        words.append("COMMAND")
    return [f".B {text(' '.join(('parley', *command)))}", f"[OPTIONS] {text(' '.join(words))}".rstrip()]


def arguments(found):
    lines = []
    for section in ("Positionals", "Options"):
        those = [Item(head, meaning) for kind, head, meaning in found if kind == section]
        for each in those:
            lines += entry(each) if each.name != "--help" else []
    return lines


def subcommands(command, found):
    lines = []
    for section, head, meaning in found:
        if section == "Subcommands":
            name = head.split()[0]
            page = f"parley\\-{text(name)} (1)" if not command else text(" ".join(("parley", *command, name)))
            lines += [".TP", f".BR {page}" if not command else f".B {page}", text(meaning)]
    return lines


def page(name, does, date, body):
    title = name.replace("-", "\\-")
    return "\n".join([f'.TH {name.upper()} 1 "{date}" "Parley" "User Commands"', ".SH NAME",
                      f"{title} \\- {text(does[0].lower() + does[1:])}", *body, ".SH EXIT STATUS",
                      *[line for code, meaning in exit_codes() for line in (".TP", f".B {code}", text(meaning))],
                      ".SH SEE ALSO", "The pages in", ".IR /usr/share/doc/parley ,", "first of all",
                      ".IR README.md ."]) + "\n"


def root_page(does, found, date):
    body = [".SH SYNOPSIS", *usage((), found), ".SH DESCRIPTION", text(does),
            "Results go to standard output, progress and messages to standard error.",
            ".SH OPTIONS", *arguments(found), ".SH COMMANDS", *subcommands((), found)]
    return page("parley", "train a model together, with differential privacy", date, body)


def command_page(name, parts, date):
    """`parts`: (command, what it does, items) of the command and of those below it."""
    body = [".SH SYNOPSIS", *usage(parts[0][0], parts[0][2])]
    for command, does, found in parts:
        head = ".SH DESCRIPTION" if len(command) == 1 else f".SH {text(' '.join(('parley', *command)).upper())}"
        own = [] if len(command) == 1 else [*usage(command, found), ".PP"]
        body += [head, *own, text(does) + ".", *arguments(found), *subcommands(command, found)]
    return page(f"parley-{name}", parts[0][1], date, body)


def main():
    program, out, date = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    commands = list(walk(program))
    _, does, found = commands[0]
    (out / "parley.1").write_text(root_page(does, found, date), encoding="utf-8")
    for section, head, _ in found:
        if section == "Subcommands":
            name = head.split()[0]
            parts = [each for each in commands if each[0][:1] == (name,)]
            (out / f"parley-{name}.1").write_text(command_page(name, parts, date), encoding="utf-8")


if __name__ == "__main__":
    main()
