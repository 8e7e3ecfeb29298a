"""Runs an owner's statements in Snowflake: the `command` of a data set whose rows stay there. Needs the package
snowflake-connector-python.

    source  = "command"
    dialect = "duckdb"
    command = ["python3", "snowflake_engine.py", "connection_name=parley", "database=BANK", "schema=PUBLIC"]

`connection_name` is one of Snowflake's connections.toml, where keys and passwords belong.
"""

import json
import os
import re
import sys

import snowflake.connector

KINDS = {0: "decimal", 1: "real", 2: "text", 13: "boolean"}  # Snowflake's codes of types


def value_of(parameter):
    (kind, text), = parameter.items()
    return {"real": float.fromhex, "integer": int, "text": str}[kind](text)


def translated(text, values):
    """A statement of dialect "duckdb", and its constants in the order of its question marks."""
    text = re.sub(r"\(k & (\d+)\)", r"bitand(k, \1)", text.replace(" as not materialized (", " as ("))
    uses = re.findall(r"\$(\d+)::\w+", text)
    return re.sub(r"\$\d+::(\w+)", r"cast(? as \1)", text), [values[int(use) - 1] for use in uses]


def answer(cursor, said):
    if "parley_engine" in said:
        query = said["query"].rstrip().rstrip(";")
        cursor.execute(f"select * from ({query}) q limit 0")
        return {"columns": [{"name": column.name, "kind": KINDS.get(column.type_code, "other")} for column in cursor.description]}
    row = cursor.execute(*translated(said["text"], [value_of(each) for each in said["parameters"]])).fetchone()
    if any(isinstance(number, float) and abs(number) > 2**53 for number in row):
        raise ArithmeticError("a sum is not exact")
    return {"numbers": [str(int(number or 0)) for number in row]}


def main():
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What libraries print is no reply.
    snowflake.connector.paramstyle = "qmark"
    cursor = snowflake.connector.connect(**dict(word.split("=", 1) for word in sys.argv[1:])).cursor()
    for line in sys.stdin:
        said = json.loads(line)
        opening = "parley_engine" in said
        try:
            reply = answer(cursor, said)
        except Exception as error:  # Only a complaint about the query is quoted: others may hold a value of a record.
            text = str(error).splitlines()[0] if opening else f"{type(error).__name__} while it was computed"
            reply = {"error": text, "invalid": opening}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
