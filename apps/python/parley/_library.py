"""The shared library, by ctypes. Calls release the GIL, tell how far they are and stop at Ctrl-C."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import platform
import sys
import threading
from typing import Any, Callable, Mapping, Optional

from ._errors import ParleyError, error_from
from ._tables import Tables

_C_VERSION = 1
_NEEDED = ("avx2", "bmi2", "fma")
Progress = Callable[[int, int], None]


class _Hooks(ctypes.Structure):
    CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
    _fields_ = [("size", ctypes.c_size_t), ("user", ctypes.c_void_p), ("progress", CALLBACK)]


def _check_processor() -> None:
    """The library is compiled for x86-64-v3: an older processor would end the interpreter."""
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return
    missing = [flag for flag in _NEEDED if f" {flag} " not in flags.replace("\n", " ")]
    if platform.machine() not in ("x86_64", "AMD64") or missing:
        raise ImportError(f"parley needs an x86-64 processor with AVX2 (2013 or later); missing: {missing}")


def _load() -> ctypes.CDLL:
    _check_processor()
    file = os.environ.get("PARLEY_LIBRARY") or str(pathlib.Path(__file__).parent / "libparley_c.so")
    library = ctypes.CDLL(file)
    library.parley_version.restype = ctypes.c_char_p
    library.parley_free.argtypes = [ctypes.c_void_p]
    library.parley_free.restype = None
    library.parley_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p,
                                    ctypes.POINTER(ctypes.c_void_p)]
    library.parley_tables_new.restype = ctypes.c_void_p
    library.parley_tables_free.argtypes = [ctypes.c_void_p]
    library.parley_tables_free.restype = None
    library.parley_partial_sum.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                           ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)]
    if library.parley_c_version() < _C_VERSION:
        raise ImportError(f"{file} is older than this package")
    return library


LIBRARY = _load()


def take_text(pointer: ctypes.c_void_p) -> str:
    """The text that a function handed out, which is freed."""
    if not pointer.value:
        return "{}"
    try:
        return ctypes.string_at(pointer.value).decode("utf-8", "replace")
    finally:
        LIBRARY.parley_free(pointer)


class _Stop:
    """Hears the library's progress; its answer stops the call."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self.asked = False
        self.progress = progress
        self.failed: Optional[BaseException] = None

    def __call__(self, _user: Any, done: int, total: int) -> int:
        try:
            if self.progress is not None and not self.asked:
                self.progress(done, total)
        except BaseException as error:  # An exception cannot pass the library.
            self.failed, self.asked = error, True
        return 1 if self.asked else 0


def call(command: str, arguments: Mapping[str, Any], tables: Optional[Tables] = None,
         progress: Optional[Progress] = None) -> dict[str, Any]:
    """Run a command of the C interface (docs/reference/c.md) and return its JSON.

    Raises
    ------
    ParleyError
        With the library's code, text, place and hint.
    KeyboardInterrupt
        At Ctrl-C, as soon as the library has stopped. What was paid by then is in its ledger.
    """
    given = {key: value for key, value in arguments.items() if value is not None}
    text = json.dumps(given, allow_nan=False).encode()
    try:
        return _called(command, text, tables, _Stop(progress))
    finally:
        if isinstance(progress, _Bar):
            progress.close()


def _called(command: str, text: bytes, tables: Optional[Tables], stop: _Stop) -> dict[str, Any]:
    callback = _Hooks.CALLBACK(stop)
    hooks = _Hooks(ctypes.sizeof(_Hooks), None, callback)
    found = ctypes.c_void_p()
    status: list[int] = []

    def run() -> None:
        status.append(LIBRARY.parley_call(command.encode(), text, tables.handle if tables else None,
                                          ctypes.byref(hooks), ctypes.byref(found)))

    _in_thread(run, stop)
    said: dict[str, Any] = json.loads(take_text(found))
    if stop.failed is not None:
        raise stop.failed
    if status[0] != 0:
        raise error_from(said)
    return said


def _in_thread(run: Callable[[], None], stop: _Stop) -> None:
    """Only the main thread hears Ctrl-C, and not while it is inside the library."""
    if threading.current_thread() is not threading.main_thread():
        return run()
    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        try:
            worker.join(0.5)
        except KeyboardInterrupt as interrupt:
            stop.asked, stop.failed = True, interrupt
    return None


class _Bar:
    """tqdm's bar if it is installed, else a line; ``call`` closes it, however the call ends."""

    def __init__(self, what: str) -> None:
        self._what, self._begun = what, False
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._bar: Any = None
        else:
            self._bar = tqdm(desc=what, leave=False)

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._begun = True
            print(f"\r{self._what}: {done} of {total}", end="", file=sys.stderr, flush=True)
        else:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """The bar goes away; the line ends."""
        if self._bar is not None:
            self._bar.close()
        elif self._begun:
            print(file=sys.stderr, flush=True)


def shown(what: str, wanted: Any) -> Optional[Progress]:
    """How a call shows how far it is: ``wanted`` is False, True or a function."""
    if callable(wanted):
        return wanted  # type: ignore[no-any-return]
    return _Bar(what) if wanted else None


def version() -> str:
    """Of the library."""
    found: bytes = LIBRARY.parley_version()
    return found.decode()


__all__ = ["LIBRARY", "ParleyError", "call", "shown", "take_text", "version"]
