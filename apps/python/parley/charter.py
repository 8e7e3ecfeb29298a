"""Charters: what several owners agree on before a job."""

from __future__ import annotations

import math
import os
import pathlib
import re
import tempfile
from typing import Any, Mapping, Optional, Union

from ._library import call
from ._tables import Tables

Path = Union[str, "os.PathLike[str]"]


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a charter has finite numbers only")
        text = repr(value)
        return text if any(c in text for c in ".e") else text + ".0"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_value(each) for each in value) + "]"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _toml(document: Mapping[str, Any]) -> str:
    """Tables, and lists of tables, of plain values: all that a charter has."""
    text = []
    for name, content in document.items():
        tables = content if isinstance(content, (list, tuple)) else [content]
        head = f"[[{name}]]" if isinstance(content, (list, tuple)) else f"[{name}]"
        for table in tables:
            text.append("\n".join([head, *(f"{key} = {_toml_value(value)}" for key, value in table.items())]))
    return "\n\n".join(text) + "\n"


class Charter:
    """What all parties agree on before a job: schema with public bounds, model, protocol, budgets.

    Parameters
    ----------
    text : str
        Its TOML.
    folder : str or path
        Where pilot, bundle and table of owners are looked for.
    changes : mapping, optional
        Keys to change, as ``--set`` does: ``{"protocol.rounds": 5}``.
    public : data frame, optional
        Public rows with the charter's columns and target, which take the place of its [pilot]. Their hash
        is part of the charter's.
    bundle : str, optional
        The text of its bundle of features, if it is in no file: :func:`forecast` makes one.

    Examples
    --------
    >>> charter = parley.Charter.build(                                  # doctest: +SKIP
    ...     charter={"version": 1, "name": "stays", "consortium": "clinics.example"},
    ...     target={"column": "days", "bounds": [0.0, 30.0], "scale": 30.0},
    ...     column=[{"name": "age", "kind": "number", "bounds": [0.0, 100.0], "missing": 50.0}],
    ...     model={"loss": "squared", "box": 2.0, "bias": True},
    ...     owner=[{"name": "north", "rows": 900, "epsilon": 1.0}],
    ...     learner={"name": "registry"})
    """

    def __init__(self, text: str, folder: Path = ".", changes: Optional[Mapping[str, Any]] = None,
                 public: Any = None, bundle: str = "") -> None:
        self.text = text
        self.folder = os.fspath(folder)
        self.changes = {key: value if isinstance(value, str) else _toml_value(value)
                        for key, value in (changes or {}).items()}
        self.public = public
        self.bundle = bundle
        self._files: Optional[tempfile.TemporaryDirectory[str]] = None
        self._known: Optional[dict[str, Any]] = None

    @classmethod
    def read(cls, path: Path, changes: Optional[Mapping[str, Any]] = None, public: Any = None) -> "Charter":
        """Read a file; other files are looked for beside it."""
        file = pathlib.Path(path)
        return cls(file.read_text(), file.parent, changes, public)

    @classmethod
    def build(cls, folder: Path = ".", public: Any = None, **sections: Any) -> "Charter":
        """Make one of its sections, each a dict or, for ``column`` and ``owner``, a list of dicts."""
        return cls(_toml(sections), folder, public=public)

    def _arguments(self) -> dict[str, Any]:
        return {"charter": self.text, "folder": self._folder(), "set": self.changes or None,
                "public": None if self.public is None else "public rows"}

    def _folder(self) -> str:
        """Of the files that the charter names: its folder, or one of our own, where the bundle is, too."""
        if not self.bundle:
            return self.folder
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(prefix="parley-")
            here = pathlib.Path(self._files.name)
            self._write_bundle(here)
            for name in set(re.findall(r'"([\w.-]+)"', self.text)):
                there = pathlib.Path(self.folder, name)
                if there.is_file() and not (here / name).exists():
                    (here / name).symlink_to(there.resolve())
        return self._files.name

    def _write_bundle(self, folder: pathlib.Path) -> None:
        name = re.search(r'^bundle\s*=\s*"([^"]+)"', self.text, re.MULTILINE)
        if self.bundle and name:
            (folder / name[1]).write_text(self.bundle)

    def _tables(self) -> Tables:
        tables = Tables()
        if self.public is not None:
            tables.add("public rows", self.public)
        return tables

    @property
    def _said(self) -> dict[str, Any]:
        if self._known is None:
            self._known = call("charter.explain", self._arguments(), self._tables())
        return self._known

    @property
    def hash(self) -> str:
        """SHA-256 of its meaning, which names the job."""
        return str(self._said["hash"])

    @property
    def owners(self) -> list[dict[str, Any]]:
        """Names, rows and budgets of the owners."""
        return list(self._said.get("owners", []))

    @property
    def result(self) -> dict[str, Any]:
        """As ``parley charter check --json`` prints it, with the keys that a draft leaves open."""
        return dict(self._said["result"])

    def explain(self) -> str:
        """In sentences, for the people who decide."""
        return str(self._said["text"])

    def check(self) -> "Charter":
        """Itself, if it would train; else an exception says why not."""
        call("charter.check", self._arguments(), self._tables())
        return self

    def with_changes(self, changes: Mapping[str, Any]) -> "Charter":
        """The same with other values of some keys."""
        return Charter(self.text, self.folder, {**self.changes, **changes}, self.public, self.bundle)

    def with_public(self, public: Any) -> "Charter":
        """The same with these public rows; itself if they are None."""
        return self if public is None else Charter(self.text, self.folder, self.changes, public, self.bundle)

    def write(self, path: Path) -> None:
        """Write its text as it was given, and its bundle beside it; changes are not in it."""
        if self.changes:
            raise ValueError("a charter with changes has no text of its own: change the text")
        pathlib.Path(path).write_text(self.text)
        self._write_bundle(pathlib.Path(path).parent)

    def __repr__(self) -> str:
        return f"<parley.Charter {self.hash[:12]}>"

    def __str__(self) -> str:
        return self.text
