"""Packages from PyPI for a benchmark, in a virtual environment under build/."""

import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def need(*packages, versions=None):
    """Starts the program again where the packages are, if they are not here. Module and package have one name
    unless `versions` says what to ask pip for, for example {"sklearn": "scikit-learn==1.5.2"}."""
    if all(importlib.util.find_spec(package) for package in packages):
        return
    venv = ROOT / "build" / f"{pathlib.Path(sys.argv[0]).stem}-venv"
    if sys.prefix == str(venv):
        sys.exit(f"pip installed {', '.join(packages)}, but Python does not find them in {venv}")
    if not (venv / "bin" / "python").exists():
        subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
    wanted = [(versions or {}).get(package, package) for package in packages]
    subprocess.run([venv / "bin" / "pip", "install", "-q", *wanted], check=True)
    os.execv(venv / "bin" / "python", [venv / "bin" / "python", *sys.argv])
