"""conftest.py makes a failure of every skip whose reason it does not list."""

import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("content,code", [
    ("def test_it(): pytest.skip('DPLinearSVC is non deterministic')", 0),
    ("def test_it(): pytest.skip('no time')", 1),
    ("@pytest.mark.skip\ndef test_it(): pass", 1),
    ("def test_it(): pytest.importorskip('no_such_module')", 1),
    ("pytest.importorskip('no_such_module')", 2),
    ("import unittest\nclass It(unittest.TestCase):\n  def test_it(self): self.skipTest('no time')", 1)])
def test_skips(tmp_path, content, code):
    shutil.copy(HERE / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(f"import pytest\n{content}\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)], text=True,
                          stdout=subprocess.PIPE, check=False)
    assert done.returncode == code, done.stdout
