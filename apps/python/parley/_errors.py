"""What goes wrong, as exceptions that say what, where and what to do."""

from __future__ import annotations

from typing import Any, Mapping


class ParleyError(Exception):
    """A call of the library failed.

    Attributes
    ----------
    code : str
        ``invalid``, ``budget_exhausted``, ``policy``, ``unavailable``, ``integrity`` or ``failed``.
    what : str
        What was wrong; public facts only.
    hint : str
        What to do about it; may be empty.
    where : dict
        ``file``, ``line``, ``column`` and ``key``, as far as they are known.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.code: str = error.get("code", "failed")
        self.what: str = error.get("what", "")
        self.hint: str = error.get("hint", "")
        self.where: dict[str, Any] = dict(error.get("where", {}))
        place = ":".join(str(self.where[k]) for k in ("file", "line", "column", "key") if k in self.where)
        super().__init__(": ".join(filter(None, (place, self.what))) + (f"\n{self.hint}" if self.hint else ""))
        self._error = dict(error)

    def __reduce__(self) -> Any:
        return type(self), (self._error,)


class InvalidError(ParleyError, ValueError):
    """Arguments, a charter or a file are wrong."""


class BudgetError(ParleyError):
    """Refused by a budget or a policy; nothing was spent."""


class IntegrityError(ParleyError):
    """A hash, a signature or a ledger is not what it must be."""


KINDS: dict[str, type[ParleyError]] = {
    "invalid": InvalidError,
    "budget_exhausted": BudgetError,
    "policy": BudgetError,
    "integrity": IntegrityError,
}


def error_from(error: Mapping[str, Any]) -> ParleyError:
    """The exception for an object of format ``parley.error/1``."""
    return KINDS.get(str(error.get("code")), ParleyError)(error)
