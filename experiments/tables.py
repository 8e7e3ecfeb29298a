"""Columns of a charter as numbers in Python, for methods that are not Parley's."""

import json
import math
import re

import numpy

from worth import as_number


def keys_of(text):
    """The keys of a [[column]] block."""
    return {key: json.loads(value) for key, value in re.findall(r"(\w+) = (.*)", text)}


def moved(column, values):
    """Numbers to [-1, 1] by the column's bounds."""
    log = math.log1p if column.get("log") else lambda value: value
    low, high = map(log, column["bounds"])
    cut = [min(max(column["missing"] if v is None else v, column["bounds"][0]), column["bounds"][1]) for v in values]
    return [(log(v) - (low + high) / 2) / ((high - low) / 2) for v in cut]


def encoded(rows, columns):
    """As public bounds standardise them, without the bias; and how many columns there were: no row is longer than
    the root of that."""
    made, count = [], 0
    for column in map(keys_of, columns):
        name = column["name"]
        names = [f"{name}{i + 1}" for i in range(column["count"])] if "count" in column else [name]
        count += len(names)
        for name in names:
            if column["kind"] == "category":
                made += [[float(row[name] == level) for row in rows] for level in column["levels"]]
            else:
                made.append(moved(column, [as_number(row[name]) for row in rows]))
    return numpy.array(made).T, count
