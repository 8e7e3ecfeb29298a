"""A ledger: the durable, hash-chained record of what was spent on a data set."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
from typing import Any, Iterator, Optional, Union

from ._library import call


class Ledger:
    """A file that pays for many fits of one data set, and refuses what it cannot pay.

    Every fit of an estimator with ``accountant=ledger`` is refused before it runs unless the data set
    can pay for all of it, and every noisy answer is charged, and on disk, before the fit sees it.

    Parameters
    ----------
    path : str or path
        An existing ledger; see :meth:`create`.
    dataset : str
        The data set in it that pays.

    Examples
    --------
    >>> ledger = parley.Ledger.create("patients.ledger", epsilon=3, delta=1e-6)    # doctest: +SKIP
    >>> DPLogisticRegression(epsilon=1, bounds=(0, 1), accountant=ledger).fit(X, y)  # doctest: +SKIP
    >>> ledger.spent()                                                             # doctest: +SKIP
    """

    def __init__(self, path: Union[str, os.PathLike[str]], dataset: str = "data") -> None:
        self.path = os.fspath(path)
        self.dataset = dataset

    @classmethod
    def create(cls, path: Union[str, os.PathLike[str]], epsilon: float, delta: float = 0.0,
               dataset: str = "data", pure: Optional[float] = None, owner: str = "analyst") -> "Ledger":
        """Make the ledger, or declare one more data set in it; the same again changes nothing.

        Parameters
        ----------
        path : str or path
            Of the file.
        epsilon, delta : float
            What may ever be spent on the data set: a promise that a person made.
        dataset : str
            Its name.
        pure : float, optional
            The part of epsilon for fits with Laplace noise (``delta=0``); the rest is for Gaussian
            noise. All of it if ``delta`` is 0, else nothing. It cannot be changed after the first charge.
        owner : str
            Whose ledger it is.
        """
        call("ledger.create", {"file": os.fspath(path), "epsilon": epsilon, "delta": delta,
                               "dataset": dataset, "pure": pure, "owner": owner})
        return cls(path, dataset)

    def show(self) -> dict[str, Any]:
        """Budgets and charges, as ``parley ledger show --json`` has them."""
        result: dict[str, Any] = call("ledger.show", {"file": self.path})["result"]
        return result

    def spent(self) -> dict[str, Any]:
        """What was spent of this data set's budget, and the budget."""
        for found in self.show()["datasets"]:
            if found["name"] == self.dataset:
                return dict(found)
        raise KeyError(self.dataset)

    def events(self) -> dict[str, Any]:
        """The data set's charges for any accountant: see :func:`parley.to_dp_events`."""
        result: dict[str, Any] = call("ledger.export", {"file": self.path, "dataset": self.dataset})["result"]
        return result

    def verify(self) -> dict[str, Any]:
        """Recompute the whole chain; an exception if a row is not what it must be."""
        result: dict[str, Any] = call("ledger.verify", {"file": self.path})["result"]
        return result

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """One fit at a time: a ledger has one writer. Others, also of other processes, wait."""
        with open(self.path + ".turn", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, dataset={self.dataset!r})"

    def __str__(self) -> str:
        return str(call("ledger.show", {"file": self.path})["text"])


def as_ledger(accountant: Any) -> Ledger:
    """A ledger, or the path of one."""
    if isinstance(accountant, Ledger):
        return accountant
    if isinstance(accountant, (str, pathlib.Path)):
        return Ledger(accountant)
    raise TypeError(f"accountant must be a parley.Ledger or the path of one, got {accountant!r}")
