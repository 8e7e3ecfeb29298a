"""Parley: differentially private linear models, of one table or among several owners.

One table, as scikit-learn estimators (scikit-learn must be installed)::

    from parley import DPLogisticRegression
    model = DPLogisticRegression(epsilon=1, bounds=(0, 1)).fit(X, y)
    model.privacy_["statement"]

Several owners::

    charter = parley.Charter.read("hospitals.charter.toml")
    parley.forecast(charter, public=frame)                 # what is it worth, before anyone pays
    parley.simulate(charter, {"north": north, "south": south})

Budgets and proofs: :class:`Ledger`, :func:`account`, :func:`calibrate`, :func:`to_dp_events`,
:func:`audit`, :func:`verify`. Jobs over a network are the program ``parley``, which is installed with
this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import BudgetError, IntegrityError, InvalidError, ParleyError
from ._library import version
from .accounting import Account, account, audit, calibrate, to_dp_events, verify
from .charter import Charter
from .jobs import Forecast, Model, Simulation, forecast, simulate, value
from .ledger import Ledger

if TYPE_CHECKING:
    from .estimators import DPHuberRegressor, DPLinearRegression, DPLinearSVC, DPLogisticRegression

__version__ = version()
_ESTIMATORS = ("DPHuberRegressor", "DPLinearRegression", "DPLinearSVC", "DPLogisticRegression")
__all__ = ["Account", "BudgetError", "Charter", "DPHuberRegressor", "DPLinearRegression", "DPLinearSVC",
           "DPLogisticRegression", "Forecast", "IntegrityError", "InvalidError", "Ledger", "Model", "ParleyError",
           "Simulation", "account", "audit", "calibrate", "forecast", "simulate", "to_dp_events", "value", "verify"]


def __getattr__(name: str) -> Any:
    if name in _ESTIMATORS:  # They need scikit-learn; the rest does not.
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'parley' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ESTIMATORS])
