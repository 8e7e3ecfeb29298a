"""Runs the real binary, for the end-to-end tests."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = os.environ["PARLEY_BINARY"]
SOURCE = pathlib.Path(os.environ["PARLEY_SOURCE"])
EXAMPLE = SOURCE / "examples" / "three-banks.charter.toml"


def run(*arguments, cwd=None, own_figures=False):
    """The finished process, with its output as text. Figures on owners' own rows take longer than
    small jobs: who wants them says so (own_figures=True leaves the choice to the program)."""
    if "simulate" in arguments and not {"--held-out", "--help"} & set(arguments) and not own_figures:
        arguments = (*arguments, "--held-out", "0")
    return subprocess.run([BINARY, *map(str, arguments)], cwd=cwd, text=True, capture_output=True,
                          timeout=250, stdin=subprocess.DEVNULL, check=False)


class InFolder(unittest.TestCase):
    """Every test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def parley(self, *arguments, expect=0, own_figures=False):
        done = run(*arguments, cwd=self.folder, own_figures=own_figures)
        self.assertEqual(done.returncode, expect, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def json(self, *arguments, expect=0, **more):
        done = self.parley("--json", "--quiet", *arguments, expect=expect, **more)
        return json.loads(done.stdout)

    def charter(self, **changes):
        """The example's charter, small, with key__subkey changes; returns (file, --set arguments)."""
        sets = []
        for i in range(3):
            sets += ["--set", f"owner.{i}.rows=2000"]
        for key, value in changes.items():
            sets += ["--set", f"{key.replace('__', '.')}={value}"]
        return [EXAMPLE, *sets]


def main():
    unittest.main(verbosity=1)
