"""Small charters and policies, made by the tests."""

import pathlib


def number(name, low, high, missing, **more):
    keys = {"name": name, "kind": "number", "bounds": [low, high], "missing": missing, **more}
    return block("[[column]]", keys)


def category(name, levels, **more):
    return block("[[column]]", {"name": name, "kind": "category", "levels": levels, **more})


def block(head, keys):
    return head + "\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return repr(value)


def charter(target, columns, owners, privacy=None, loss="squared"):
    """The text of a complete charter; `owners` maps names to rows."""
    return "\n".join([
        block("[charter]", {"version": 1, "name": "small", "consortium": "test.example"}),
        block("[target]", target), *columns,
        block("[model]", {"loss": loss, "l2": 0.001, "bias": True, "box": 1.0}),
        block("[protocol]", {"name": "sync", "rule": "algorithm2", "rounds": 3, "step": 0.01}),
        block("[privacy]", {"max_grad_norm": 8.0, **(privacy or {})}),
        *[block("[[owner]]", {"name": name, "rows": rows, "epsilon": 1.0})
          for name, rows in owners.items()],
        block("[learner]", {"name": "learner"})])


def policy(owner, dataset, unit=None):
    """The text of a policy that accepts everything of test.example with one data set, `data`."""
    return "\n".join([
        block("[owner]", {"name": owner, "state": "state", "charters": "charters"}),
        block("[[dataset]]", {"name": "data", **dataset}),
        block("[dataset.budget]", {"epsilon": 4.0}),
        block("[dataset.unit]", unit) if unit else "",
        block("[[accept]]", {"consortium": "test.example", "dataset": "data", "epsilon_max": 2.0,
                             "person": False})])


def write(folder, name, text):
    (pathlib.Path(folder) / name).write_text(text)
    return name
