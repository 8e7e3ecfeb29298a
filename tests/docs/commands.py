"""docs/reference/cli.md lists every command, option and exit code: what the program's --help says."""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packaging"))
import help_text  # noqa: E402
from help_text import help_of, walk  # noqa: E402

PAGE = "docs/reference/cli.md"
BEGIN, END = "<!-- from --help: begin -->", "<!-- from --help: end -->"
EVERYWHERE = {"--help"}
SEVERAL = 3  # so many commands with the same argument, and it is described once for all


class Item(help_text.Item):
    """On the page: one line. --help alone tells how large a number may be, and what excludes what."""

    def short_value(self):
        value = {"UINT": "N", "INT": "N", "FLOAT": "X"}.get(self.kind, self.kind)
        if self.choices:
            value = "|".join(self.choices)
        elif self.limit.startswith(":"):  # HOST:PORT
            value += self.limit
        return value + ("..." if self.many and not value.endswith("...") else "")

    def row(self):
        notes = ["required"] if self.required and self.name.startswith("-") else []
        notes += [f"default `{self.default}`"] if self.default else []
        notes += ["only with " + ", ".join(f"`{name}`" for name in self.needs)] if self.needs else []
        meaning = self.meaning.strip() + (f" ({'; '.join(notes)})" if notes else "")
        # A positional is named by itself in the usage line; what kind of file it is, the meaning says.
        head = f"{self.name} {self.short_value()}".strip() if self.name.startswith("-") else self.name
        return f"- `{head}`: {meaning.replace('<', '&lt;')}"


def arguments_of(found):
    """Positionals first."""
    found = [each for name in ("Positionals", "Options") for each in found if each[0] == name]
    return [each for each in (Item(head, meaning) for _, head, meaning in found) if each.name not in EVERYWHERE]


def rows_of(found):
    return [each.row() for each in arguments_of(found)]


def shared_rows(commands):
    """{group: rows} of arguments that every command of a group has, and no other command."""
    having = collections.defaultdict(list)  # row -> commands
    for command, _, found in commands:
        for row in rows_of(found):
            having[row].append(command)
    shared = collections.defaultdict(list)
    for group in dict.fromkeys(command[:-1] for command, _, found in commands if command[1:] and not is_group(found)):
        members = [command for command, _, found in commands if command[:-1] == group and not is_group(found)]
        shared[group] = [row for row, has in having.items() if len(members) > 1 and has == members]
    return shared


def common_rows(commands, shared):
    """{name: row} of arguments that several commands have: of each name the row that most of them have."""
    counts = collections.Counter((each.name, each.row()) for command, _, found in commands
                                 for each in arguments_of(found) if each.row() not in shared[command[:-1]])
    rows = {}
    for (name, row), count in counts.most_common():
        if count >= SEVERAL:
            rows.setdefault(name, row)
    return rows


def usage(binary, command):
    """The positionals, as --help shows them."""
    line = next(line for line in help_of(binary, command).split("\n") if line.startswith("Usage:"))
    words = line.removeprefix("Usage: ").replace("[OPTIONS]", "").replace("...", " ...").split()
    return " ".join(words[1 + len(command):])


def list_of(rows):
    return [*rows, ""] if rows else []


def group_section(command, does, found, shared):
    names = [head.split()[0] for section, head, _ in found if section == "Subcommands"]
    links = ", ".join(f"[`{each}`](#{'-'.join(('parley', *command, each))})" for each in names)
    all_have = ["All of them have:", "", *list_of(shared)] if shared else []
    return "\n".join([f"### `{' '.join(('parley', *command))}`", "", f"{does}: {links}.", "", *all_have])


def section_of(binary, command, does, found, common, shared, like=None):
    """Arguments that all commands of the group have are with the group; `like` is the command before, if it has the
    same arguments."""
    takes = usage(binary, command)
    lines = [f"### `{' '.join(('parley', *command))}`", "", f"{does}." + (f" Takes `{takes}`." if takes else ""), ""]
    if like:
        lines[2] = f"{does}. Arguments as of `{' '.join(('parley', *like))}`."
        return "\n".join(lines)
    arguments = [each for each in arguments_of(found) if each.row() not in shared]
    rows = [each.row() for each in arguments if common.get(each.name) != each.row()]
    also = [f"`{each.name}`" for each in arguments if common.get(each.name) == each.row() and each.name[0] == "-"]
    return "\n".join([*lines, *list_of(rows), *([f"Also {', '.join(also)}.", ""] if also else [])])


def generated(binary):
    commands = [each for each in walk(binary) if each[0]]
    shared = shared_rows(commands)
    common = common_rows(commands, shared)
    sections = ["\n".join(["### Arguments of several commands", "", *list_of(sorted(common.values()))])]
    first = None  # of commands in a row that have the same arguments
    for command, does, found in commands:
        if is_group(found):
            sections.append(group_section(command, does, found, shared[command]))
            continue
        same = first is not None and rows_of(found) and found == first[1]
        like = first[0] if same else None
        sections.append(section_of(binary, command, does, found, common, shared[command[:-1]], like))
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
