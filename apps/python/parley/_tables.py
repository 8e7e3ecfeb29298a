"""Rows for the library, read where they lie: numpy arrays, scipy's sparse matrices, and whatever has
the Arrow PyCapsule interface (pandas, polars, pyarrow, duckdb), none of which is imported here."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Optional, Sequence

import numpy as np

from ._errors import error_from

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tables:
    """Named tables for one call. Arrays must not be changed while it lives."""

    def __init__(self) -> None:
        from ._library import LIBRARY, take_text

        self._library, self._take_text = LIBRARY, take_text
        self._kept: list[Any] = []
        self.handle = ctypes.c_void_p(LIBRARY.parley_tables_new())
        if not self.handle:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._library.parley_tables_free(self.handle)

    def add(self, table: str, rows: Any, names: Optional[Sequence[str]] = None) -> None:
        """More columns of a table: a data frame, or an array or sparse matrix with names."""
        if _is_sparse(rows):
            self._add_sparse(table, rows, _names(rows, names))
        elif isinstance(rows, np.ndarray) or not _has_columns(rows):
            self._add_array(table, np.asarray(rows, dtype=np.float64), names)
        else:
            self._add_frame(table, rows)

    def _add_frame(self, table: str, frame: Any) -> None:
        try:
            capsule = frame.__arrow_c_stream__()
        except (AttributeError, ImportError):  # pandas without pyarrow, or before 2.2
            self._add_columns(table, frame)
            return
        stream = _capsule_pointer(capsule, b"arrow_array_stream")
        self._run("parley_tables_add_stream", table.encode(), ctypes.c_void_p(stream))
        self._kept.append(capsule)

    def _add_columns(self, table: str, frame: Any) -> None:
        for name in frame.columns:
            column = np.asarray(frame[name])
            if column.dtype.kind not in "biuf":
                raise TypeError(f"column {name!r} holds texts: install pyarrow, or give a polars or pyarrow table")
            self._add_array(table, column.astype(np.float64, copy=False), [str(name)])

    def _add_array(self, table: str, array: np.ndarray[Any, Any], names: Optional[Sequence[str]]) -> None:
        array = array.reshape(-1, 1) if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"expected rows and columns, got {array.ndim} dimensions")
        self._kept.append(array)
        self._run("parley_tables_add_doubles", table.encode(), _texts(_names(array, names)),
                  ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(array.shape[0]),
                  ctypes.c_uint64(array.shape[1]), ctypes.c_int64(array.strides[0]),
                  ctypes.c_int64(array.strides[1]))

    def _add_sparse(self, table: str, matrix: Any, names: Sequence[str]) -> None:
        rows = matrix.tocsr()
        values = np.ascontiguousarray(rows.data, dtype=np.float64)
        indices = np.ascontiguousarray(rows.indices, dtype=np.int64)
        offsets = np.ascontiguousarray(rows.indptr, dtype=np.int64)
        self._kept += [values, indices, offsets]
        pointers = [ctypes.c_void_p(part.ctypes.data) for part in (values, indices, offsets)]
        self._run("parley_tables_add_sparse", table.encode(), _texts(names), *pointers,
                  ctypes.c_uint64(rows.shape[0]), ctypes.c_uint64(rows.shape[1]))

    def _run(self, function: str, *arguments: Any) -> None:
        error = ctypes.c_void_p()
        if getattr(self._library, function)(self.handle, *arguments, ctypes.byref(error)) != 0:
            raise error_from(json.loads(self._take_text(error)))


def plain(rows: Any) -> Any:
    """What numpy can read. Rows that speak Arrow only, such as DuckDB's relations, become a data frame, or, without
    pandas, an array without names."""
    if hasattr(rows, "__array__") or not hasattr(rows, "__arrow_c_stream__"):
        return rows
    if not hasattr(rows, "fetchnumpy"):
        return _through_pyarrow(rows)
    columns = {name: _unmasked(column) for name, column in rows.fetchnumpy().items()}
    try:
        import pandas as pd
    except ImportError:
        return np.column_stack(list(columns.values()))
    return pd.DataFrame(columns)


def _through_pyarrow(rows: Any) -> Any:
    try:
        import pandas  # noqa: F401
        import pyarrow as pa
    except ImportError:
        raise ImportError(f"{type(rows).__name__} is read through pyarrow and pandas: pip install pyarrow pandas, or "
                          "give numpy arrays, a polars frame or a DuckDB relation") from None
    return pa.table(rows).to_pandas()


def _unmasked(column: Any) -> Any:
    """A null is a missing number."""
    if isinstance(column, np.ma.MaskedArray) and column.dtype.kind in "biuf":
        return np.ma.filled(column.astype(np.float64), np.nan)
    return np.asarray(column)


def own_columns(frame: Any, validated: Any) -> Any:
    """The columns of a data frame where they lie, if all are doubles, so that the array that scikit-learn made of it
    can go before the library makes its rows; else that array."""
    if isinstance(frame, np.ndarray) or not isinstance(validated, np.ndarray) or not hasattr(frame, "columns") \
            or not hasattr(frame, "__array__"):
        return validated
    names = getattr(frame, "column_names", None) or list(frame.columns)
    columns = [np.asarray(frame[name]) for name in names] if len(set(names)) == validated.shape[1] else []
    return columns if columns and all(each.dtype == np.float64 for each in columns) else validated


def _is_sparse(rows: Any) -> bool:
    return hasattr(rows, "tocsr")


def _has_columns(rows: Any) -> bool:
    return hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "columns")


def _names(rows: Any, names: Optional[Sequence[str]]) -> list[str]:
    found = [f"x{j}" for j in range(rows.shape[1])] if names is None else list(names)
    if len(found) != rows.shape[1]:
        raise ValueError(f"{len(found)} names for {rows.shape[1]} columns")
    return found


def _texts(names: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(names))(*[name.encode() for name in names])
