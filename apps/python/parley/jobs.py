"""Jobs among several owners: what one would be worth, one in this process, an owner's private look."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Mapping, Optional, Union

from ._library import call, shown
from ._tables import Tables
from .charter import Charter


def _frame(rows: list[dict[str, Any]]) -> Any:
    """A pandas DataFrame if pandas is installed, else the list."""
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.json_normalize(rows)


class Forecast:
    """What a job is expected to be worth, for whom, before anyone pays.

    Shows its page in a notebook.

    Attributes
    ----------
    result : dict
        As ``parley forecast --json`` prints it.
    text : str
        As ``parley forecast`` prints it.
    html : str
        One page that stands alone.
    charter : Charter
        The charter with what was chosen for it.
    """

    def __init__(self, said: Mapping[str, Any], charter: Charter) -> None:
        self.result: dict[str, Any] = said["result"]
        self.text: str = said["text"]
        self.html: str = said.get("html", "")
        self.bundle: str = said.get("bundle", "")
        self._text, self._of = said.get("charter", ""), charter

    @property
    def charter(self) -> Charter:
        """The charter with what was chosen for it."""
        return Charter(self._text, self._of.folder, public=self._of.public, bundle=self.bundle)

    @property
    def owners(self) -> Any:
        """One row for each owner: a DataFrame if pandas is installed."""
        return _frame(self._owners())

    def _owners(self) -> list[dict[str, Any]]:
        return list(self.result.get("answers", {}).get("for_whom", []))

    def plot(self, ax: Any = None) -> Any:
        """Each owner's metric alone and jointly, with 90 % intervals; needs matplotlib."""
        import matplotlib.pyplot as plt

        ax = ax or plt.subplots()[1]
        owners = self._owners()
        for shift, key in ((-0.12, "alone"), (0.12, "personal")):
            found = [(i, owner["figures"][key]) for i, owner in enumerate(owners) if owner["figures"].get(key)]
            if found:
                ax.errorbar([i + shift for i, _ in found], [m["mean"] for _, m in found],
                            yerr=[[m["mean"] - m["low"] for _, m in found],
                                  [m["high"] - m["mean"] for _, m in found]], fmt="o", label=key)
        ax.set_xticks(range(len(owners)), [owner["owner"] for owner in owners])
        ax.legend()
        return ax

    def _repr_html_(self) -> str:
        if not self.html:
            return f"<pre>{html.escape(self.text)}</pre>"
        return ('<iframe style="width:100%;height:600px;border:0" sandbox="" '
                f'srcdoc="{html.escape(self.html, quote=True)}"></iframe>')

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "<parley.Forecast>"


def forecast(charter: Charter, public: Any = None, *, tune: bool = False, standin: Optional[str] = None,
             target: Optional[float] = None, delta: Optional[float] = None, differ: Optional[float] = None,
             worth: Optional[float] = None, progress: Any = False) -> Forecast:
    """Forecast a charter from public rows alone. Nothing private is read, nothing is paid.

    Parameters
    ----------
    charter : Charter
        A draft is completed first.
    public : data frame, optional
        The pilot: public rows with the charter's columns and target. Else the file that the charter names.
    tune : bool
        Also choose what has a default and was not written.
    standin : str, optional
        Generated public rows instead: lending, credit, hospital or stays.
    target : float, optional
        A relative fitness that is wanted.
    delta : float, optional
        That owners accept.
    differ : float, optional
        A public bound on how far owners differ.
    worth : float, optional
        The least gain that an owner calls material.
    """
    charter = charter.with_public(public)
    said = call("forecast", {**charter._arguments(), "tune": tune, "standin": standin, "target": target, "delta": delta,
                             "differ": differ, "worth": worth, "html": True},
                charter._tables(), shown("forecast", progress))
    return Forecast(said, charter)


class Simulation:
    """A job in one process. NOT PRIVATE: noise can be replayed from its seed.

    Attributes
    ----------
    result : dict
        As ``parley simulate --json`` prints it.
    text : str
        As ``parley simulate`` prints it.
    model : Model or None
        Of the first run.
    """

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.result: dict[str, Any] = said["result"]
        self.text: str = said["text"]
        self.model: Optional[Model] = Model(said["model"]) if "model" in said else None

    @property
    def owners(self) -> Any:
        """One row for each owner: a DataFrame if pandas is installed."""
        return _frame(list(self.result.get("result", {}).get("owners", [])))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "<parley.Simulation: NOT PRIVATE>"


class Model:
    """A trained model with its privacy card.

    Parameters
    ----------
    text : str
        JSON of format parley.model/1.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.json: dict[str, Any] = json.loads(text)

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Model":
        """Read a model file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    @property
    def parameters(self) -> list[float]:
        """theta, one number for each feature."""
        return list(self.json["model"]["theta"])

    @property
    def privacy(self) -> dict[str, Any]:
        """What each owner was promised, and what was not covered."""
        return dict(self.json["privacy_card"])

    def predict(self, rows: Any) -> Any:
        """One value for each record of a data frame: the target, or the score of the second class."""
        import numpy as np

        tables = Tables()
        tables.add("rows", rows)
        said = call("predict", {"model": self.text, "table": "rows"}, tables)
        return np.array(said["result"]["values"])


def simulate(charter: Charter, data: Optional[Mapping[str, Any]] = None, *, public: Any = None,
             standin: Optional[str] = None, seed: int = 1, runs: int = 1, held_out: Optional[float] = None,
             out: Optional[Union[str, "os.PathLike[str]"]] = None, progress: Any = False) -> Simulation:
    """Run a whole job in this process, through the same code and bytes as on a network.

    Parameters
    ----------
    charter : Charter
        Complete.
    data : mapping, optional
        A data frame for each owner, by its name in the charter.
    public : data frame, optional
        The charter's pilot.
    standin : str, optional
        Generated rows instead: lending, credit, hospital or stays.
    seed, runs : int
        Same seed, same model, bit for bit; more runs show how much the noise matters.
    held_out : float, optional
        The part of each owner's rows on which it is told what it gains; 0: no such figures.
    out : path, optional
        Where the first run leaves model and ledgers.
    """
    charter = charter.with_public(public)
    tables = charter._tables()
    for owner, rows in (data or {}).items():
        tables.add(owner, rows)
    said = call("simulate", {**charter._arguments(), "standin": standin, "seed": seed, "runs": runs, "held_out": held_out,
                             "out": None if out is None else os.fspath(out)}, tables, shown("answers", progress))
    return Simulation(said)


def value(rows: Any, charter: Charter, *, owner: Optional[str] = None, model: Optional[Union[str, "os.PathLike[str]"]] = None,
          out: Optional[Union[str, "os.PathLike[str]"]] = None, held_out: float = 0.2, seed: int = 1,
          worth: Optional[float] = None) -> dict[str, Any]:
    """An owner's private look: what a job would be or was worth on its own rows.

    For that owner's eyes only: the result depends on its records without noise.

    Parameters
    ----------
    rows : data frame, or path of a policy
        The owner's rows with the charter's columns and target; or its policy file, which says where they lie.
    charter : Charter
        Of the job.
    owner : str, optional
        Whose rows a data frame holds: its name in the charter. Needed unless the charter has one owner.
    model : path, optional
        The joint model; without it, before the job.
    out : path, optional
        Where the personal model goes.
    """
    tables = charter._tables()
    if isinstance(rows, (str, os.PathLike)):
        whose: dict[str, Any] = {"policy": os.fspath(rows)}
    else:
        tables.add("own rows", rows)
        whose = {"table": "own rows", "owner": owner or _only_owner(charter)}
    result: dict[str, Any] = call("owner.value", {
        **charter._arguments(), **whose, "model": None if model is None else os.fspath(model),
        "out": None if out is None else os.fspath(out), "held_out": held_out, "seed": seed, "worth": worth},
        tables)["result"]
    return result


def _only_owner(charter: Charter) -> str:
    names = [str(each["name"]) for each in charter.owners]
    if len(names) != 1:
        raise ValueError(f"give owner=, whose rows these are: one of {', '.join(names)}")
    return names[0]
