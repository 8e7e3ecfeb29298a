"""Parley's events as those of Google's dp_accounting, so that anyone can recompute an epsilon. Of the
package's modules this one alone needs dp_accounting, and nothing else of the package."""

# mypy: ignore-errors

from __future__ import annotations

import json
import math

import dp_accounting as dp
from dp_accounting import dp_event


def rho_of_shares(body):
    """zCDP of a sum of discrete Gaussian shares (Kairouz, Liu, Steinke 2021, theorem 1)."""
    sigma2, honest, dimension = body["variance"], body["honest"], body["dimension"]
    tau = 10 * sum(math.exp(-2 * math.pi ** 2 * sigma2 * k / (k + 1)) for k in range(1, body["present"]))
    gaussian = body["sensitivity"] ** 2 / (honest * sigma2)
    return min(gaussian + tau * dimension / 2, (math.sqrt(gaussian) + tau * math.sqrt(dimension)) ** 2) / 2


def rho_of_skellam(body):
    """zCDP of Skellam noise (docs/explanation/mechanisms/skellam.md)."""
    l2, variance = body["sensitivity"], body["variance"]
    l1 = min(math.sqrt(body["dimension"]) * l2, l2 ** 2)
    return (l2 ** 2 + l1) * (1 / variance + 9 / (4 * variance ** 2)) / 2


def convert(event, factor=1.0):
    """A DpEvent. `factor` multiplies Gaussian noise, whose unit may differ there."""
    if isinstance(event, list):
        return dp.ComposedDpEvent([convert(e, factor) for e in event])
    (kind, body), = event.items()
    if kind == "gaussian":
        return dp.GaussianDpEvent(factor * body["noise_multiplier"])
    if kind == "laplace":
        return dp.LaplaceDpEvent(body["noise_multiplier"])
    if kind == "discrete_laplace":
        return dp_event.DiscreteLaplaceDpEvent(body["noise_parameter"], int(body["sensitivity"]))
    if kind == "discrete_gaussian":  # Its RDP is that of continuous noise; its PLD differs, by little.
        return dp.GaussianDpEvent(factor * body["sigma"] / body["sensitivity"])
    if kind == "gaussian_shares":
        return dp.ZCDpEvent(rho_of_shares(body))
    if kind == "skellam":
        return dp.ZCDpEvent(rho_of_skellam(body))
    if kind == "poisson_sampled":
        return dp.PoissonSampledDpEvent(body["sampling_probability"], convert(body["event"], factor))
    if kind == "zcdp":
        return dp.ZCDpEvent(body["rho"], body.get("xi", 0.0))
    if kind == "self_composed":
        return dp.SelfComposedDpEvent(convert(body["event"], factor), body["count"])
    if kind == "composed":
        return convert(body["events"], factor)
    if kind == "no_op":
        return dp.NoOpDpEvent()
    raise ValueError(f"dp_accounting has no event for {kind}")


def events_of(parsed, dataset=None):
    """The event tree of a file: a ledger's charges, an account's events, or itself."""
    if isinstance(parsed, dict) and "rows" in parsed:
        rows = [row for row in parsed["rows"] if row["kind"] not in ("budget", "approval")
                and dataset in (None, row["dataset"])]
        if len({row["dataset"] for row in rows}) > 1:
            raise ValueError("the ledger has several data sets: choose one")
        return [row["event"] for row in rows]
    return parsed["events"] if isinstance(parsed, dict) and "events" in parsed else parsed


def load(parsed, adjacency=None, dataset=None):
    """The DpEvent and the neighbouring relation under which dp_accounting means the same.

    A multiplier of Parley's is the noise over the sensitivity under the adjacency in force. That is
    dp_accounting's meaning under add/remove, where the sensitivity is the norm of a record. Only
    sampled events know how a neighbour differs: under its REPLACE_ONE the multiplier refers to the
    norm again, of which the sensitivity is twice.
    """
    events = events_of(parsed, dataset)
    if adjacency is None:
        adjacency = parsed.get("adjacency", "replace_one") if isinstance(parsed, dict) else "replace_one"
    if adjacency == "replace_one" and "poisson_sampled" in json.dumps(events):
        return convert(events, 2.0), dp.NeighboringRelation.REPLACE_ONE
    return convert(events), dp.NeighboringRelation.ADD_OR_REMOVE_ONE
