#!/usr/bin/env python3
"""Hands Parley's events to Google's dp_accounting, so that anyone can recompute an epsilon.

    pip install dp_accounting
    parley ledger export bank-a.ledger --dataset loans > events.json
    experiments/dp_events.py events.json --delta 1e-6 [--adjacency replace_one]

Reads what `parley account`, `parley ledger export` and `parley ledger show --json` (with --dataset)
print, or a bare event
(docs/reference/account.md). In Python: `event, relation = parley.to_dp_events(json_object)`.
"""

import argparse
import json
import pathlib
import sys

import dp_accounting as dp
from dp_accounting import pld, rdp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "apps/python/parley"))
from _dp_events import convert, load  # noqa: E402, F401


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--delta", type=float, required=True)
    parser.add_argument("--dataset")
    parser.add_argument("--adjacency", choices=["replace_one", "add_remove"])
    parser.add_argument("--step", type=float, default=1e-4, help="of the losses' grid")
    options = parser.parse_args()
    with open(options.file) as file:
        event, relation = load(json.load(file), options.adjacency, options.dataset)
    for name, accountant in (
            ("pld", lambda: pld.PLDAccountant(relation, value_discretization_interval=options.step)),
            ("rdp", lambda: rdp.RdpAccountant(neighboring_relation=relation))):
        try:
            print(f"{name}  epsilon {accountant().compose(event).get_epsilon(options.delta):.9g}")
        except (ValueError, dp.privacy_accountant.UnsupportedEventError) as error:
            print(f"{name}  cannot: {error}")


if __name__ == "__main__":
    main()
