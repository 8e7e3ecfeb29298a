"""Every key of a charter and of a policy is described, with an example that the TOML reader takes."""

import re
import tomllib

# Reader of the code -> section of the page. A reader that is not listed is a violation, too.
CHARTER_READERS = {
    "read_title": "charter", "read_pilot": "pilot", "read_preprocess": "preprocess",
    "read_records": "records", "read_target": "target", "read_number_target": "target",
    "read_column": "column", "read_number": "column", "read_category": "column", "read_product": "column", "read_cell": "column", "expand": "column",
    "read_model": "model", "read_loss_constants": "model",
    "read_protocol": "protocol", "read_sync": "protocol", "read_async": "protocol",
    "read_federated": "protocol", "read_sharing": "protocol", "read_dealer": "protocol", "read_grid": "protocol", "read_admm": "protocol",
    "read_descent": "protocol", "read_once": "protocol", "read_gram": "protocol",
    "read_on_alarm": "protocol", "read_learners": "protocol",
    "read_privacy": "privacy", "read_clip": "privacy", "read_gram_bounds": "privacy",
    "read_gram_clip": "privacy", "read_shares": "secure_aggregation",
    "read_owner": "owner", "read_address": "owner", "insert_owners_table": "owners",
    "read_learner": "learner", "read_network": "network",
}
POLICY_READERS = {
    "read_owner": "owner", "read_identity": "identity", "read_dataset": "dataset",
    "read_source": "dataset", "read_command": "dataset", "read_csv_signs": "dataset", "read_driver": "dataset",
    "read_engine": "dataset", "read_filter": "dataset.where", "read_budget": "dataset.budget",
    "read_unit": "dataset.unit", "read_accept": "accept", "read_protocols": "accept",
    "read_web": "web", "read_worth": "worth",
    # One function for several tables: the table of each call is the one opened last.
    "read_machine": None, "read_sections": None,
}

FUNCTION = re.compile(r"^[A-Za-z][\w:<>,&* ]*?[ &*](\w+)\([^;{]*\{$", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"""\b\w+\.(?:required|optional|forecast|decisive)\(\s*([^,]*"[^,]*),"""
                  r"""|members->find\(("\w+")\)"""
                  r"""|\b\w+\.table(?:_if_given)?\(\s*"(\w+)\"""")
ROW = re.compile(r"^\| *`([\w.]+)` *\|(.*)$", re.MULTILINE)
HEADING = re.compile(r"^#{2,4} (?:`\[+([\w.]+)\]+`)?", re.MULTILINE)
WORDS = re.compile(r"kNames<([\w:]+)> =\s*names\(([^)]*)\)")


def keys_of_code(source, files, readers):
    """({section.key}, violations)."""
    keys, wrong = set(), []
    for name in files:
        text = (source / name).read_text(encoding="utf-8")
        starts = [(m.start(), m.group(1)) for m in FUNCTION.finditer(text)]
        table = None
        for match in CALL.finditer(text):
            if match.group(3):
                table = match.group(3)
                continue
            reader = next((f for at, f in reversed(starts) if at < match.start()), None)
            if reader not in readers:
                wrong.append(f"src/parley/charter/{name}: {reader} reads keys, and tests/docs/keys.py "
                             "does not know of which section")
                continue
            section = readers[reader] or table
            for key in re.findall(r'"(\w+)"', match.group(1) or match.group(2)):
                keys.add(f"{section}.{key}")
    return keys, wrong


def rows_of_page(text):
    """{section.key: cells}: tables whose first cell is a key, under a heading such as `[pilot]`."""
    sections = [(m.start(), m.group(1)) for m in HEADING.finditer(text)]
    rows = {}
    for match in ROW.finditer(text):
        section = next((s for at, s in reversed(sections) if at < match.start()), None)
        if section:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", match.group(2))][:-1]
            rows[f"{section}.{match.group(1)}"] = cells
    return rows


def check_page(root, page, of_policy, readers):
    source = root / "src/parley/charter"
    files = [str(each.relative_to(source)) for each in sorted([*source.glob("*.cc"), *source.glob("dataset/*.cc")])
             if not each.name.endswith("_test.cc")
             and (each.name.startswith("policy") or each.parent.name == "dataset") == of_policy]
    known, wrong = keys_of_code(source, files, readers)
    yield from wrong
    text = (root / page).read_text(encoding="utf-8")
    rows = rows_of_page(text)
    for key in sorted(known - rows.keys()):
        yield f"{page}: the key {key} is not described"
    for key in sorted(rows.keys() - known):
        yield f"{page}: describes {key}, which no reader knows"
    for key, cells in rows.items():
        if len(cells) != 4:
            yield f"{page}: {key} needs four cells: type and values, default, meaning, example"
            continue
        yield from wrong_example(page, key, cells[3])


def wrong_example(page, key, cell):
    example = cell.strip("`").replace("\\|", "|")
    try:
        if key.split(".")[-1] not in tomllib.loads(example):
            yield f"{page}: the example of {key} gives another key: {example}"
    except tomllib.TOMLDecodeError as error:
        yield f"{page}: the example of {key} is no TOML: {example} ({error})"


def check_words(root):
    """Where a key takes one of a few words, each is described."""
    pages = [("docs/reference/charter.md", "words.h"), ("docs/reference/policy.md", "policy.h")]
    for page, header in pages:
        text = (root / page).read_text(encoding="utf-8")
        for name, words in WORDS.findall((root / "src/parley/charter" / header).read_text()):
            for word in re.findall(r'"(\w+)"', words):
                if f'"{word}"' not in text:
                    yield f"{page}: the word \"{word}\" ({name}) is not described"


def check(root):
    yield from check_page(root, "docs/reference/charter.md", False, CHARTER_READERS)
    yield from check_page(root, "docs/reference/policy.md", True, POLICY_READERS)
    yield from check_words(root)
