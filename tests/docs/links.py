"""Links of the pages, and documents that pages and code name."""

import os
import pathlib
import re

PAGES = (".md",)
CITING = (".md", ".h", ".cc", ".py", ".proto", ".toml", ".txt", ".cmake", ".js", ".in")
LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
ANCHOR = re.compile(r"""<a (?:id|name)=["']([^"']+)["']""")
CITED = re.compile(r"\bdocs/[\w./-]+?\.(?:md|svg|ipynb)\b")
DECISION = re.compile(r"\bdecisions?/(\d{4})\b")
EQUATIONS = re.compile(r"\btheory,? ((?:\([A-Z]\d+\)(?:, | and | to )?)+)")
SPECIFICATION = re.compile(r"\bspec(ification)?s?\b", re.IGNORECASE)
# The same word where it names a document that anyone can find.
KNOWN_SPECIFICATIONS = re.compile(r"Arrow|C data interface|RFC|TLS|TOML|JSON|spec(ification)?s?\(", re.IGNORECASE)


def without_code(text):
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return CODE.sub(blank, FENCE.sub(blank, text))


def named_files(root):
    """`src/parley/...`, `scripts/test`, and `learn/kernel/lattice.h` for short, in pages, are there."""
    top = {path.name for path in root.iterdir() if path.is_dir()} - {"build", "data"}
    modules = {path.name for path in (root / "src/parley").iterdir()}
    for page in files(root, PAGES):
        if page.name in ("CHANGELOG.md", "reproduction.md"):
            continue  # tells of what is gone; is printed
        for line, content in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
            for name in re.findall(r"`([\w.-]+(?:/[\w.-]+)+)/?`", content):
                first = name.split("/")[0]
                inside = root if first in top else root / "src/parley" if first in modules else None
                made_up = "name" in name.split("/")[-1].split(".") or "NAME" in name
                if inside and "." in name and not made_up and not (inside / name).exists():
                    yield f"{page.relative_to(root)}:{line}: names {name}, which is not there"


TESTED_CLAIMS = "docs/threat-model.md"  # its numbered tables
TEST_NAMES = "docs/checks.md"  # has a table of tests for each of them, in the same order


def tests_of(root):
    """Every suite.test and suite.* of gtest and of Python, and every end_to_end.script."""
    names = {f"end_to_end.{path.stem}" for path in (root / "tests/end_to_end").glob("*.py")}
    for path in (root / "src").rglob("*_test.cc"):
        text = path.read_text(encoding="utf-8")
        for suite, name in re.findall(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", text):
            names |= {f"{suite}.{name}", f"{suite}.*"}
    for path in (root / "tests").rglob("*.py"):
        for suite in re.split(r"^class ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name = re.match(r"\w+", suite)[0]
            names |= {f"{name}.{test}" for test in re.findall(r"^    def (test_\w+)", suite, re.MULTILINE)} | {f"{name}.*"}
    return names


def numbered(text):
    """The numbers of the rows of every table whose rows are numbered from 1 on."""
    tables = []
    for row in map(int, re.findall(r"^\| (\d+) \|", text, re.MULTILINE)):
        if row == 1:
            tables.append(set())
        if tables:
            tables[-1].add(row)
    return tables


def named_tests(root):
    """A test that stands beside a claim is there, and the rows of a numbered table have some."""
    known = tests_of(root)
    text = (root / TEST_NAMES).read_text(encoding="utf-8")
    for line, content in enumerate(text.split("\n"), 1):
        for name in re.findall(r"`([A-Z]\w+\.(?:\*|[A-Z]\w+|test_\w+)|end_to_end\.\w+)`", content):
            if name not in known:
                yield f"{TEST_NAMES}:{line}: names the test {name}, which is not there"
    claims = numbered((root / TESTED_CLAIMS).read_text(encoding="utf-8"))
    tested = numbered(text)
    for table, rows in enumerate(claims):
        for row in sorted(rows - (tested[table] if table < len(tested) else set())):
            yield f"{TEST_NAMES}: row {row} of table {table + 1} of {TESTED_CLAIMS} names no test"


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower().strip()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    found, seen = set(ANCHOR.findall(text)), {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        name = slug(heading)
        seen[name] = seen.get(name, -1) + 1
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
    return found


def is_ours(name):
    """Of a folder: neither built nor installed nor hidden."""
    made = name.startswith("build") or name in ("runs", "node_modules", "__pycache__", "reproduction", "parley-demo")
    return name == ".github" or not (made or name.startswith("."))


def files(root, suffixes):
    for folder, inside, names in os.walk(root):
        inside[:] = sorted(each for each in inside if is_ours(each))
        for name in sorted(names):
            if name.endswith(tuple(suffixes)):
                yield pathlib.Path(folder) / name


def dead_links(root):
    for page in files(root, PAGES):
        text = page.read_text(encoding="utf-8")
        if re.search(r"^(<{7} |>{7} )", text, re.MULTILINE):
            yield f"{page.relative_to(root)}: a merge was not finished"
        plain = without_code(text)
        for match in LINK.finditer(plain):
            target, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue  # nobody is asked over the network
            line = plain.count("\n", 0, match.start()) + 1
            where = f"{page.relative_to(root)}:{line}"
            aim = page if not target else (page.parent / target)
            if not aim.exists():
                yield f"{where}: dead link to {target}"
            elif anchor and aim.suffix in PAGES and anchor not in anchors(aim.read_text(encoding="utf-8")):
                yield f"{where}: {target or page.name} has no heading #{anchor}"


def equations(root):
    """Numbers that docs/theory gives: a line that begins with **(A1), or a row of the table of papers."""
    return {number for page in files(root / "docs/theory", PAGES)
            for number in re.findall(r"^(?:\*\*\(|\| <a id=.*?</a>)([A-Z]\d+)\b", page.read_text(encoding="utf-8"),
                                     re.MULTILINE)}


def missing_documents(root):
    """What is named by its path from the root, by a decision's or an equation's number."""
    decisions = {path.name[:4] for path in (root / "docs/decisions").glob("*.md")}
    numbers = equations(root)
    here = pathlib.Path(__file__).resolve().parent
    for path in files(root, CITING):
        if here in path.resolve().parents:
            continue  # these checks name what does not exist
        text = path.read_text(encoding="utf-8", errors="replace")
        name = path.relative_to(root)
        for line, content in enumerate(text.split("\n"), 1):
            for cited in CITED.findall(content):
                if not (root / cited).exists() and not cited.endswith("/name.md"):
                    yield f"{name}:{line}: cites {cited}, which is not there"
            for number in DECISION.findall(content):
                if number not in decisions:
                    yield f"{name}:{line}: cites decision {number}, which is not there"
            for group in EQUATIONS.findall(content):
                for number in re.findall(r"[A-Z]\d+", group):
                    if number not in numbers:
                        yield f"{name}:{line}: cites equation ({number}), which docs/theory does not have"


def cited_specifications(root):
    """A specification that is not in the repository helps no reader."""
    here = pathlib.Path(__file__).resolve().parent
    for path in files(root, CITING):
        if here in path.resolve().parents:
            continue
        for line, content in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if SPECIFICATION.search(content) and not KNOWN_SPECIFICATIONS.search(content):
                yield (f"{path.relative_to(root)}:{line}: cites a specification: "
                       f"name the page of docs/theory, or say it here")
