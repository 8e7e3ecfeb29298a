#!/usr/bin/env python3
"""Checks on the documents: every key, command, option and exit code is described, no link is dead, no document is
cited that is not there, every picture is what its script draws, and every table and paragraph can be drawn.

    tests/docs [ROOT]           checks the repository, prints one line per violation
    tests/docs --write [ROOT]   writes what is generated: the commands of docs/reference/cli.md, and the pictures
    tests/docs --words [ROOT]   counts the words of every page, by what it is for (words.py says how)
    tests/docs --self-test      plants one violation of each kind and checks that it is found

PARLEY_BINARY names the program whose --help is compared.
"""

import os
import pathlib
import shutil
import sys
import tempfile

import commands
import keys
import links
import pictures
import tables
import words

HERE = pathlib.Path(__file__).resolve().parents[2]


def violations(root, binary):
    yield from keys.check(root)
    yield from commands.check(root, binary)
    yield from links.dead_links(root)
    yield from links.missing_documents(root)
    yield from links.named_files(root)
    yield from links.named_tests(root)
    yield from links.cited_specifications(root)
    yield from pictures.check(root)
    yield from tables.check(root)
    yield from words.check(root)


def append(path, text):
    return path, lambda old: old + text


def replace(path, old, new):
    def act(text):
        assert old in text, f"{path} no longer has {old!r}"
        return text.replace(old, new, 1)
    return path, act


# (which file of a copy, what is done to it), what must then be found
PLANTED = [
    (replace("src/parley/charter/protocol.cc", 't.optional("l2"', 't.optional("l3"'), "the key model.l3 is not described"),
    (replace("src/parley/charter/policy.cc", 't.optional("threads"', 't.optional("cores"'),
     "the key limits.cores is not described"),
    (replace("src/parley/charter/schema.cc", "void read_records(", "void read_people("), "does not know of which section"),
    (replace("docs/reference/charter.md", "| `l2` |", "| `l4` |"), "describes model.l4, which no reader knows"),
    (replace("docs/reference/charter.md", "`box = 1.0`", "`box = one`"), "the example of model.box is no TOML"),
    (replace("src/parley/charter/words.h", 'names("zero", "pilot")', 'names("zero", "pilot", "random")'),
     'the word "random" (Start) is not described'),
    (replace("docs/reference/cli.md", "### `parley predict`", "### `parley guess`"), "lacks what --help says"),
    (replace("docs/reference/cli.md", "- `--query NAME`:", "- `--question NAME`:"), "says what --help does not"),
    (replace("docs/reference/cli.md", "| `--quiet` |", "| `--silent` |"), "the option --quiet of every command"),
    (replace("include/parley/result.h", "{2, 3, 3, 4, 5, 1}", "{2, 3, 6, 4, 5, 1}"), "exit code 6 is not described"),
    (append("docs/README.md", "\n[gone](how-to/gone.md)\n"), "dead link to how-to/gone.md"),
    (append("docs/README.md", "\n[gone](tutorial.md#no-such-part)\n"), "tutorial.md has no heading #no-such-part"),
    (append("src/parley/charter/words.h", "\n// See docs/gone.md.\n"), "cites docs/gone.md, which is not there"),
    (append("docs/README.md", "\nSee `learn/kernel/gone.h`.\n"), "names learn/kernel/gone.h, which is not there"),
    (replace("docs/checks.md", "| 1 | `AnHonestOwner.*`", "| 1 | `AnHonestOwners.*`"), "names the test AnHonestOwners.*, which is not there"),
    (replace("docs/checks.md", "| 14 | `Secret", "| 140 | `Secret"), "row 14 of table 1 of docs/threat-model.md names no test"),
    (append("src/parley/charter/words.h", "\n// See decisions/9999.\n"), "cites decision 9999"),
    (append("src/parley/charter/words.h", "\n// By theory (Z99).\n"), "cites equation (Z99)"),
    (append("src/parley/charter/words.h", "\n// As in spec, horizontal 3.\n"), "cites a specification"),
    (append("docs/glossary.md", "\n| a | b |\n|---|---|\n| only one |\n"), "a row of 1 cells in a table of 2"),
    (append("docs/glossary.md", "\nOne owner (at epsilon =\n1) is enough.\n"), "is drawn as a list or heading: 1) is enough"),
    (append("docs/glossary.md", "\n" + "word " * words.READER_MOST), "cut what readers do not need"),
    (append("docs/pictures/layers.svg", "<!-- by hand -->"), "docs/pictures/layers.svg is not what"),
]


def self_test(binary):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "tree"
        copy(root)
        for (path, act), expected in PLANTED:
            before = (root / path).read_text(encoding="utf-8")
            (root / path).write_text(act(before), encoding="utf-8")
            if not any(expected in violation for violation in violations(root, binary)):
                print(f"not found: {expected}")
                failed += 1
            (root / path).write_text(before, encoding="utf-8")
    print(f"{len(PLANTED) - failed} of {len(PLANTED)} planted violations found")
    return failed


def copy(root):
    """What the checks look at, and all that links lead to."""
    def skip(folder, names):
        return [each for each in names if (pathlib.Path(folder) / each).is_dir() and not links.is_ours(each)]
    shutil.copytree(HERE, root, ignore=skip)


def main(arguments):
    binary = os.environ.get("PARLEY_BINARY", str(HERE / "build/dev/parley"))
    paths = [each for each in arguments if not each.startswith("--")]
    root = pathlib.Path(paths[0]).resolve() if paths else HERE
    if "--self-test" in arguments:
        return 1 if self_test(binary) else 0
    if "--words" in arguments:
        words.show(root)
        return 0
    if "--write" in arguments:
        commands.write(root, binary)
        pictures.write(root)
    found = list(violations(root, binary))
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
