"""docs/reference/cli.md lists every command, option and exit code: what the program's --help says."""

import collections
import functools
import re
import subprocess

PAGE = "docs/reference/cli.md"
BEGIN, END = "<!-- from --help: begin -->", "<!-- from --help: end -->"
COLUMN = 30  # where --help begins to describe
EVERYWHERE = {"--help"}
SEVERAL = 3  # so many commands with the same argument, and it is described once for all


class Item:
    """A positional or an option: its name, what it takes, and what it means."""

    def __init__(self, head, meaning):
        words = head.split()
        self.name = words[0].split(",")[-1]
        rest = " ".join(words[1:])
        self.required = "REQUIRED" in rest and self.name.startswith("-")  # the usage line shows it of a positional
        self.needs = self.after(rest, "Needs:")
        rest = re.split(r"REQUIRED|Needs:|Excludes:", rest)[0].strip()
        value, _, self.default = rest.partition("=")
        if re.fullmatch("[A-Z]+", self.default):  # KEY=VALUE is no default
            value, self.default = rest, ""
        many = value.endswith("...")
        kind, _, limit = value.removesuffix("...").strip().partition(":")
        self.value = self.plain(kind, limit)
        self.value += "..." if many and not self.value.endswith("...") else ""
        self.meaning = meaning

    @staticmethod
    def after(text, word):
        found = re.search(word + r"((?: (?!Needs:|Excludes:)\S+)+)", text)
        return found.group(1).split() if found else []

    @staticmethod
    def plain(kind, limit):
        """What stands for the value; --help alone tells how large a number may be."""
        if limit.startswith("{"):
            return limit.strip("{}").replace(",", "|")
        is_address = limit and not re.match(r"POSITIVE|NONNEGATIVE|\w+ in ", limit)  # HOST:PORT
        return f"{kind}:{limit}" if is_address else {"UINT": "N", "INT": "N", "FLOAT": "X"}.get(kind, kind)

    def row(self):
        notes = ["required"] if self.required else []
        notes += [f"default `{self.default}`"] if self.default else []
        notes += ["only with " + ", ".join(f"`{name}`" for name in self.needs)] if self.needs else []
        meaning = self.meaning.strip() + (f" ({'; '.join(notes)})" if notes else "")
        # A positional is named by itself in the usage line; what kind of file it is, the meaning says.
        head = f"{self.name} {self.value}".strip() if self.name.startswith("-") else self.name
        return f"- `{head}`: {meaning.replace('<', '&lt;')}"


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
