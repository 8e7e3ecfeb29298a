"""Linear models of one table with differential privacy, as scikit-learn estimators."""

from __future__ import annotations

import contextlib
import inspect
import textwrap
from typing import Any, Optional, Sequence

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError as error:  # pragma: no cover
    raise ImportError("parley's estimators are scikit-learn estimators: pip install scikit-learn") from error

from ._library import call, shown
from ._tables import Tables, own_columns, plain
from .ledger import as_ledger

_PARAMETERS = """
    Parameters
    ----------
    epsilon : float, default=1.0
        The privacy of one fit: other values in one row change the probability of any model by at most
        a factor e^epsilon, plus delta. The number of rows is public.
    delta : float, default=1e-6
        0 for pure differential privacy (Laplace noise, more of it); else Gaussian noise. Choose it well
        below 1 / rows: from 1 / rows on, so the default from 1,000,000 rows on, a fit is refused.
    bounds : tuple (lower, upper)
        Public: numbers, or one number for each feature. Values outside are moved to them. Required, and
        never taken from the data, because the smallest and largest value tell about single rows.
"""
_PARAMETERS_END = """    public : tuple (X, y), optional
        Public rows of the same kind, which are not in the data: with them a model needs far fewer
        noisy answers.
    l2 : float, optional
        Of the penalty (l2/2)|theta|^2 beside the mean loss, features being scaled to [-1, 1].
    fit_intercept : bool, default=True
        Without one, the model goes through the origin.
    max_row_norm : float, optional
        How long a row can be, features being scaled to [-1, 1] and the intercept counting 1: in L2, with
        delta = 0 in L1. Public, like ``bounds``; the root of the number of features unless given. Where rows are
        known to be shorter (of 100 indicators 14 are 1), giving it means less noise.
    rounds, max_grad_norm, step : optional
        How many noisy answers are asked, to which length a row's gradient is cut, and how long steps
        are; chosen from public numbers if they are not given.
    accountant : Ledger or path, optional
        A ledger that pays for this fit, and refuses it before it runs if it cannot.
    random_state : int, RandomState or None, default=None
        None: noise from the kernel's generator. Anything else is for simulation: the noise can be
        computed again, so that the model is NOT PRIVATE, and ``privacy_`` says so.
    n_jobs : int, optional
        Threads; all of the machine's unless given.
    progress : bool or function, default=False
        Show progress, with tqdm if it is installed. Off unless asked for, as in scikit-learn, because a grid
        search would show a bar for every fit.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        In units of the given features.
    privacy_ : dict
        The card: what was promised, by which mechanism, what was spent, what is not covered.
    n_iter_ : int
        Noisy answers that were asked.
    charter_ : str
        What was agreed with oneself: ``parley simulate`` trains the same model from it and the same seed.
    n_features_in_, feature_names_in_
        As in scikit-learn.
"""


def _documented(kind: str) -> Any:
    """Puts the parameters that all estimators have into a class's docstring."""

    def put(cls: Any) -> Any:
        parameters = textwrap.dedent(_PARAMETERS + kind + _PARAMETERS_END).strip() + "\n\n"
        # Since 3.13 the compiler itself takes the indentation away.
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "").replace("PARAMETERS", parameters, 1)
        return cls

    return put


_CLASSES = """    classes : sequence of two labels, optional
        Public. Else those that occur in y, which tells that each of them does.
    class_weight : dict, optional
        Public weights of the two classes, 1 unless given; "balanced" would depend on the data.
"""
_TARGET = """    target_bounds : tuple (lower, upper)
        Public: of y. Required, as ``bounds`` is.
"""


def _bounds(bounds: Any, features: int) -> tuple[list[float], list[float]]:
    if bounds is None:
        raise ValueError("bounds is missing: give bounds=(lower, upper), public numbers that say what the features "
                         "can be. They are never taken from the data, which would not be private.")
    try:
        lower, upper = bounds
        pair = [np.broadcast_to(np.asarray(end, dtype=float).ravel() if np.ndim(end) else float(end), features)
                for end in (lower, upper)]
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be a pair (lower, upper) of numbers or of {features} numbers each") from None
    if not (np.all(np.isfinite(pair)) and np.all(pair[0] < pair[1])):
        raise ValueError("bounds must be finite, each lower bound below its upper bound")
    return pair[0].tolist(), pair[1].tolist()


class _DPLinear(BaseEstimator):  # type: ignore[misc]
    """What the four estimators share."""

    _loss = ""

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"non_deterministic": True, "poor_score": True, "binary_only": isinstance(self, ClassifierMixin)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.sparse = True
        return tags

    def _validated(self, X: Any, *target: Any, **how: Any) -> Any:
        how.update(dtype=np.float64, accept_sparse="csr")
        X = plain(X)
        if len(target) == 1 and target[0] is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:  # before 1.6
            return self._validate_data(X, *target, **how)
        return validate_data(self, X, *target, **how)

    def _refuse(self, more: dict[str, Any]) -> None:
        if "sample_weight" in more:
            raise TypeError(f"{type(self).__name__}.fit takes no sample_weight: what weights tell about rows has no "
                            "proof of privacy here. Leave them out.")
        if more:
            raise TypeError(f"fit takes no argument {sorted(more)[0]!r}")

    def _seed(self) -> Optional[int]:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, (int, np.integer)) and self.random_state >= 0:
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fit(self, X: Any, y: Any, settings: dict[str, Any]) -> None:
        names = [f"x{j}" for j in range(len(X) if isinstance(X, list) else X.shape[1])]
        lower, upper = _bounds(self.bounds, len(names))
        tables = Tables()
        if isinstance(X, list):
            for name, column in zip(names, X):
                tables.add("records", column, [name])
        else:
            tables.add("records", X, names)
        tables.add("records", np.asarray(y, dtype=np.float64), ["y"])
        if self.public is not None:
            self._add_public(tables, names)
        ledger = None if self.accountant is None else as_ledger(self.accountant)
        arguments = {
            "loss": self._loss, "epsilon": float(self.epsilon), "delta": float(self.delta), "lower": lower,
            "upper": upper, "l2": self.l2, "intercept": bool(self.fit_intercept), "rounds": self.rounds,
            "max_row_norm": self.max_row_norm, "max_grad_norm": self.max_grad_norm, "step": self.step, "seed": self._seed(),
            "threads": self.n_jobs if self.n_jobs and self.n_jobs > 0 else None,
            "public": None if self.public is None else "public",
            "ledger": ledger and ledger.path, "dataset": ledger and ledger.dataset, **settings}
        with ledger.turn() if ledger else contextlib.nullcontext():
            said = call("fit", arguments, tables, shown("fit", self.progress))
        self._coefficients = np.array(said["coefficients"])
        self._offset = float(said["intercept"])
        self.privacy_ = said["model"]["privacy_card"]
        self.n_iter_ = int(said["model"]["training"]["rounds"])
        self.charter_ = said["charter"]
        self.bundle_ = said["bundle"]

    def _add_public(self, tables: Tables, names: Sequence[str]) -> None:
        rows, target = self.public
        rows = plain(rows)
        if not hasattr(rows, "tocsr"):
            rows = np.asarray(rows, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise ValueError(f"public rows must have the {len(names)} features of X")
        tables.add("public", rows, names)
        tables.add("public", np.asarray(self._encoded(target), dtype=np.float64), ["y"])

    def _encoded(self, target: Any) -> Any:
        raise NotImplementedError

    def _score_of(self, X: Any) -> Any:
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return np.asarray(X @ self._coefficients + self._offset)


class _DPClassifier(ClassifierMixin, _DPLinear):  # type: ignore[misc]
    def __init__(self, epsilon: float = 1.0, *, delta: float = 1e-6, bounds: Any = None, public: Any = None,
                 classes: Any = None, class_weight: Any = None, l2: Optional[float] = None,
                 fit_intercept: bool = True, max_row_norm: Optional[float] = None, rounds: Optional[int] = None,
                 max_grad_norm: Optional[float] = None, step: Optional[float] = None, accountant: Any = None,
                 random_state: Any = None, n_jobs: Optional[int] = None, progress: Any = False) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.public = public
        self.classes = classes
        self.class_weight = class_weight
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.max_row_norm = max_row_norm
        self.rounds = rounds
        self.max_grad_norm = max_grad_norm
        self.step = step
        self.accountant = accountant
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def _encoded(self, target: Any) -> Any:
        return np.asarray(target) == self.classes_[1]

    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        """Fit the model with noise.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (rows, features)
            Private.
        y : array of shape (rows,)
            Private; two classes.

        Returns
        -------
        self
        """
        self._refuse(more)
        frame, (X, y) = X, self._validated(X, y)
        X = own_columns(frame, X)
        check_classification_targets(y)
        self.classes_ = np.unique(y) if self.classes is None else np.asarray(self.classes)
        if len(self.classes_) > 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass. "
                             f"{type(self).__name__} takes two classes, found {len(self.classes_)}.")
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes, and the target has one class; give classes=.")
        self._fit(X, self._encoded(y), {"class_weights": self._weights()})
        self.coef_ = self._coefficients.reshape(1, -1)
        self.intercept_ = np.array([self._offset])
        return self

    def _weights(self) -> Optional[list[float]]:
        if self.class_weight is None:
            return None
        if not isinstance(self.class_weight, dict):
            raise ValueError('class_weight must be a dict of public numbers; "balanced" would depend on the data')
        return [float(self.class_weight.get(label, 1.0)) for label in self.classes_.tolist()]

    def decision_function(self, X: Any) -> Any:
        """The score of the second class, above 0 where it is predicted."""
        return self._score_of(X).ravel()

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]


@_documented(_CLASSES)
class DPLogisticRegression(_DPClassifier):
    """Logistic regression of two classes with differential privacy.

    PARAMETERS
    Examples
    --------
    >>> model = DPLogisticRegression(epsilon=1, bounds=([18, 0], [100, 10])).fit(X, y)  # doctest: +SKIP
    >>> model.privacy_["statement"]                                                    # doctest: +SKIP
    """

    _loss = "logistic"

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the two classes."""
        second = np.exp(-np.logaddexp(0.0, -self.decision_function(X)))
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: Any) -> Any:
        """Their logarithms."""
        scores = self.decision_function(X)
        return -np.column_stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)])


@_documented(_CLASSES)
class DPLinearSVC(_DPClassifier):
    """A linear support vector machine (hinge loss) of two classes with differential privacy.

    PARAMETERS
    """

    _loss = "hinge"


class _DPRegressor(RegressorMixin, _DPLinear):  # type: ignore[misc]
    def __init__(self, epsilon: float = 1.0, *, delta: float = 1e-6, bounds: Any = None, target_bounds: Any = None,
                 public: Any = None, l2: Optional[float] = None, fit_intercept: bool = True,
                 max_row_norm: Optional[float] = None, rounds: Optional[int] = None,
                 max_grad_norm: Optional[float] = None, step: Optional[float] = None,
                 accountant: Any = None, random_state: Any = None, n_jobs: Optional[int] = None,
                 progress: Any = False) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.public = public
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.max_row_norm = max_row_norm
        self.rounds = rounds
        self.max_grad_norm = max_grad_norm
        self.step = step
        self.accountant = accountant
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _encoded(self, target: Any) -> Any:
        return target

    def _more_settings(self) -> dict[str, Any]:
        return {}

    def fit(self, X: Any, y: Any, **more: Any) -> Any:
        """Fit the model with noise.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (rows, features)
            Private.
        y : array of shape (rows,)
            Private.

        Returns
        -------
        self
        """
        self._refuse(more)
        frame, (X, y) = X, self._validated(X, y, y_numeric=True, multi_output=True)
        X = own_columns(frame, X)
        y = column_or_1d(y, warn=True)
        if self.target_bounds is None:
            raise ValueError("target_bounds is missing: give target_bounds=(lower, upper), public numbers that say "
                             "what the target can be. They are never taken from the data.")
        self._fit(X, y, {"target_bounds": [float(end) for end in self.target_bounds], **self._more_settings()})
        self.coef_ = self._coefficients
        self.intercept_ = self._offset
        return self

    def predict(self, X: Any) -> Any:
        """The target of each row."""
        return self._score_of(X)


@_documented(_TARGET)
class DPLinearRegression(_DPRegressor):
    """Least squares with differential privacy.

    PARAMETERS
    Examples
    --------
    >>> DPLinearRegression(bounds=(0, 1), target_bounds=(0, 30)).fit(X, y)  # doctest: +SKIP
    """

    _loss = "squared"


@_documented(_TARGET + """    huber_delta : float, default=0.1
        Where the loss turns from squared to straight, in units of half the target's range.
""")
class DPHuberRegressor(_DPRegressor):
    """Regression with Huber's loss, which outliers move less, with differential privacy.

    PARAMETERS
    """

    _loss = "huber"

    def __init__(self, epsilon: float = 1.0, *, delta: float = 1e-6, bounds: Any = None, target_bounds: Any = None,
                 huber_delta: float = 0.1, public: Any = None, l2: Optional[float] = None,
                 fit_intercept: bool = True, max_row_norm: Optional[float] = None, rounds: Optional[int] = None,
                 max_grad_norm: Optional[float] = None, step: Optional[float] = None, accountant: Any = None,
                 random_state: Any = None, n_jobs: Optional[int] = None, progress: Any = False) -> None:
        super().__init__(epsilon, delta=delta, bounds=bounds, target_bounds=target_bounds, public=public, l2=l2,
                         fit_intercept=fit_intercept, max_row_norm=max_row_norm, rounds=rounds,
                         max_grad_norm=max_grad_norm, step=step, accountant=accountant, random_state=random_state,
                         n_jobs=n_jobs, progress=progress)
        self.huber_delta = huber_delta

    def _more_settings(self) -> dict[str, Any]:
        return {"huber_delta": float(self.huber_delta)}
