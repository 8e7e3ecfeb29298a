"""The program ``parley``, which the wheel carries beside this file."""

from __future__ import annotations

import os
import pathlib
import sys


def path() -> str:
    """Where the program lies."""
    return str(pathlib.Path(__file__).parent / "bin" / "parley")


def main() -> None:
    """Become the program, with the arguments that were typed."""
    os.execv(path(), ["parley", *sys.argv[1:]])
