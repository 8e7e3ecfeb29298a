"""Three real tables and the example charters: SQLite, PostgreSQL, DuckDB and Spark give the kernel's integers, for every
loss, class weights, both norms, evaluations and moments, with features of a public bundle. Started by `scripts/check
sql`; PARLEY_DATA is the folder of the tables.

    real_tables.py [ROWS]      so many rows of each table, at even distances; without a number all
"""

import csv
import hashlib
import io
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import tomllib

from tables import GAUSSIAN, Table, compare, statistics

from charters import block, category, charter, number, write
from parley import SOURCE, run
from sources import Server

# File; whether its first line has names; columns of two classes and of numbers that are targets; options of the bundle.
TABLES = {
    "creditcard": ("creditcard/creditcard_subset_28266.csv.zst", True, -1, -2, ["--components", "8", "--whiten"]),
    "adult": ("adult/adult.data.zst", False, -1, 0, ["--trees", "4", "--top", "10"]),
    "lendingclub": ("lendingclub/modeldata_lending_club_9857x23.csv.zst", True, -1, 2, ["--fourier", "6", "--scale", "3"]),
}
EXAMPLES = ["three-banks", "loans", "hospitals"]  # The others' owners do not answer by sums of their own.
PILOT = 1000
ODD = ["", "NaN", "Infinity", "1e308", "5e-324", "-0.0"]


def read(file, header):
    text = subprocess.run(["zstd", "-dcq", pathlib.Path(os.environ["PARLEY_DATA"]) / file], stdout=subprocess.PIPE, check=True)
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text.stdout.decode()))]
    return [row for row in rows[header:] if len(row) == len(rows[0])]


def is_number(cells):
    try:
        return [float(cell) for cell in cells if cell] != []
    except ValueError:
        return False


def column(name, cells):
    """As the first rows have it: up to six levels, and others; bounds that some rows are outside of."""
    if not is_number(cells):
        return category(name, list(dict.fromkeys(filter(None, cells)))[:6], other=True)
    values = sorted(float(cell) for cell in cells if cell)
    low, high = values[len(values) // 100], values[-1 - len(values) // 100] + 1
    return number(name, low, high, (low + high) / 2, log=low == 0)


def with_bundle(folder, text, pilot, options):
    """The charter with a bundle that is made of the first rows."""
    write(folder, "draft.toml", text)
    name = hashlib.sha256(text.encode()).hexdigest()[:8] + ".json"
    done = run("--quiet", "data", "prepare", "draft.toml", "--pilot", pilot, *options, "--out", name, cwd=folder)
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    text = re.sub(r"(?ms)^\[preprocess\].*?(?=^\[)", "", text)
    return text.replace("[target]", block("[preprocess]", {"bundle": name, "sha256": digest}) + "\n[target]", 1)


def charters_of(folder, table, classes, target, options):
    names, pilot = list(table.columns), folder / "pilot.csv"
    cells = dict(zip(names, zip(*table.rows[:2 * PILOT])))
    kinds = {name: column(name, of) for name, of in cells.items()}
    values = [float(cell) for cell in cells[target]]
    targets = {target: {"column": target, "bounds": [min(values), max(values)], "center": values[0],
                        "scale": max(values) - min(values)},
               classes: {"column": classes, "levels": sorted(set(cells[classes]))}}
    Table(folder, table.columns, table.rows[:PILOT]).csv(pilot.name)

    def made(of, loss, **privacy):
        columns = [kinds[name] for name in names if name != of]
        return with_bundle(folder, charter(targets[of], columns, {"owner": 1000}, privacy, loss), pilot.name, options)
    for norm, privacy in [("l1", {}), ("l2", GAUSSIAN)]:
        for of, loss in [(target, "squared"), (target, "huber"), (classes, "logistic"), (classes, "hinge")]:
            yield f"{loss} {norm}", made(of, loss, evaluate=0.1, **privacy)
        weighted = made(classes, "logistic", **privacy).replace("[model]", "[model]\nclass_weights = [0.5, 8.0]")
        yield f"weighted logistic {norm}", weighted
        yield f"moments {norm}", statistics(made(target, "squared", **privacy))


def real_tables(folder, server, most):
    differ = 0
    for what, (file, header, classes, target, options) in TABLES.items():
        rows = read(file, header)
        rows = rows[::max(1, len(rows) // most)][:most] if most else rows
        names = [f"c{i}" for i in range(len(rows[0]))]
        numbers = {name: is_number(cells) for name, cells in zip(names, zip(*rows))}
        numbers[names[classes]] = False  # Classes are texts.
        table = Table(folder, numbers, rows)
        differ += compare(what, table, charters_of(folder, table, names[classes], names[target], options), server)
    return differ


def made_rows(given, count):
    """Ordinary and odd records of a charter's schema; `at` is their order, `person` the unit."""
    chance = random.Random(4)
    columns = {"at": True, **{each["name"]: each["kind"] == "number" for each in given["column"]},
               given["target"]["column"]: "bounds" in given["target"]}
    unit = given.get("privacy", {}).get("unit", "record")
    if unit != "record":
        columns[unit] = False
    kinds = {each["name"]: each for each in given["column"]} | {given["target"]["column"]: given["target"]}

    def cell(name, i):
        if name == "at":
            return i
        if name == unit:
            return chance.choice(["", *["p" + str(chance.randrange(count // 3)) for _ in range(50)]])
        if not columns[name]:
            return chance.choice([f" {level} " for level in kinds[name]["levels"]] + ["", "?"])
        low, high = kinds[name]["bounds"]
        return chance.choice(ODD) if i > PILOT and chance.random() < .1 else chance.uniform(1.2 * low - .2 * high, 1.2 * high - .2 * low)
    return columns, [[cell(name, i) for name in columns] for i in range(count)]


def examples(folder, server, count):
    differ = 0
    for name in EXAMPLES:
        text = (SOURCE / "examples" / f"{name}.charter.toml").read_text()
        for file in (SOURCE / "examples").glob("*.csv"):
            write(folder, file.name, file.read_text())
        columns, rows = made_rows(tomllib.loads(text), count)
        table = Table(folder, columns, rows)
        pilot = Table(folder, columns, rows[:PILOT]).csv("pilot.csv").read_bytes()
        text = re.sub(r'(?ms)(^\[pilot\].*?sha256 = ")\w+(".*?rows *= )\d+',
                      lambda found: found[1] + hashlib.sha256(pilot).hexdigest() + found[2] + str(PILOT), text)
        if "[preprocess]" in text:
            text = with_bundle(folder, text, "pilot.csv", ["--cut", "4"])
        differ += compare(f"examples/{name}", table, [(name, text)], server)
    return differ


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with tempfile.TemporaryDirectory() as name, Server() as server:
        differ = real_tables(pathlib.Path(name), server, most) + examples(pathlib.Path(name), server, 3000)
    sys.exit(f"{differ} integers differ" if differ else 0)


if __name__ == "__main__":
    main()
