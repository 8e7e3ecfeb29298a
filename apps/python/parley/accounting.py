"""What releases cost, by every accountant side by side; attacks on ourselves; proofs of a model."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from ._library import call, shown
from .charter import Charter

Numbers = Union[float, Sequence[float]]


class Account:
    """Epsilon at deltas, or delta at epsilons.

    Attributes
    ----------
    result : dict
        As ``parley account --json`` prints it.
    """

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.result: dict[str, Any] = said["result"]
        self.text: str = said["text"]

    def by(self, accountant: str) -> list[Optional[float]]:
        """One accountant's numbers, one for each question; None where it has no answer."""
        said = [next(value for value in point.values() if isinstance(value, dict)) for point in self.curve]
        return [each.get(accountant) for each in said]

    @property
    def curve(self) -> list[dict[str, Any]]:
        """One entry for each question: what was asked at, and what each accountant says."""
        if "curve" in self.result:
            return list(self.result["curve"])
        return [{key: self.result[key] for key in ("epsilon", "delta")}]

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def _events(events: Any) -> dict[str, Any]:
    """Events as arguments: dp_accounting's JSON form, a Ledger's, or one kind by its noise."""
    if hasattr(events, "events"):
        events = events.events()
    if isinstance(events, Mapping) and set(events) <= {"gaussian", "laplace", "sampling_probability", "count"}:
        if not any(isinstance(value, Mapping) for value in events.values()):
            return dict(events)
    return {"events": json.dumps(events)}


def account(events: Any, *, delta: Optional[Numbers] = None, epsilon: Optional[Numbers] = None,
            accountant: Optional[str] = None, adjacency: str = "replace_one") -> Account:
    """What all events together cost.

    Parameters
    ----------
    events : dict, list or Ledger
        ``{"gaussian": 12, "count": 100}`` or ``{"laplace": 3}`` by noise multiplier, with
        ``sampling_probability`` if records are sampled; or events in dp_accounting's JSON form; or
        a :class:`parley.Ledger`.
    delta, epsilon : float or list
        One of them: what the other is asked at.
    accountant : str, optional
        Only this one; else all.
    adjacency : {"replace_one", "add_remove"}
        Which data sets are neighbours.

    Examples
    --------
    >>> print(parley.account({"gaussian": 12, "count": 100}, delta=1e-6))  # doctest: +SKIP
    """
    return Account(call("account", {**_events(events), "delta": delta, "epsilon": epsilon,
                                    "accountant": accountant, "adjacency": adjacency}))


def calibrate(events: Any, *, epsilon: float, delta: float, accountant: Optional[str] = None,
              adjacency: str = "replace_one") -> dict[str, Any]:
    """The smallest factor of all noise with which the events keep (epsilon, delta)."""
    result: dict[str, Any] = call("account.calibrate", {**_events(events), "epsilon": epsilon, "delta": delta,
                                                        "accountant": accountant, "adjacency": adjacency})["result"]
    return result


def to_dp_events(events: Any, adjacency: Optional[str] = None) -> tuple[Any, Any]:
    """A ``dp_accounting.DpEvent`` and the neighbouring relation under which it means the same.

    Needs the package dp-accounting. `events` is a Ledger, a result of :func:`account`, or JSON.
    """
    from ._dp_events import load

    if isinstance(events, Account):
        events = events.result
    found: tuple[Any, Any] = load(  # type: ignore[no-untyped-call]
        events.events() if hasattr(events, "events") else events, adjacency)
    return found


def audit(target: Union[str, Charter], *, owner: Optional[str] = None, epsilon: float = 1.0,
          delta: float = 1e-5, answers: int = 1, method: str = "two_world", runs: Optional[int] = None,
          confidence: Optional[float] = None, seed: int = 1, progress: Any = False) -> dict[str, Any]:
    """Attack a mechanism by its name, or an owner of a charter's job.

    Made-up records only; nothing is spent. A ``certified_epsilon`` above that of ``claimed`` in the result
    would prove a violation, which ``verdict`` says; below, nothing is proven.
    """
    how: dict[str, Any] = {"method": method, "runs": runs, "confidence": confidence, "seed": seed}
    if isinstance(target, Charter):
        how.update(target._arguments(), owner=owner)
    else:
        how.update(mechanism=target, epsilon=epsilon, delta=delta, answers=answers)
    result: dict[str, Any] = call("audit", how, target._tables() if isinstance(target, Charter) else None,
                                  shown("audit", progress))["result"]
    return result


def verify(model: Union[str, os.PathLike[str]], transcript: Union[str, os.PathLike[str]], charter: Charter, *,
           ledgers: Optional[Mapping[str, Union[str, os.PathLike[str]]]] = None) -> dict[str, Any]:
    """Recompute a model from what its owners signed, and every epsilon by a second accountant.

    Returns the result of ``parley verify --json``, with ``holds``.
    """
    lent = {owner: os.fspath(file) for owner, file in (ledgers or {}).items()}
    said = call("verify", {**charter._arguments(), "model": os.fspath(model),
                           "transcript": os.fspath(transcript), "ledgers": lent or None}, charter._tables())
    return {**said["result"], "holds": said["holds"]}
