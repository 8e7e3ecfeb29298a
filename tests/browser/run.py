#!/usr/bin/env python3
"""Pages in a real browser: whole stories with real daemons, axe-core on every page, sizes and times.
Called by scripts/check web, which installs the browser; screenshots are kept in OUT.

    run.py OUT"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from consortium import OWNERS, Consortium, must
from pages import Page
from parley import EXAMPLE

HERE = pathlib.Path(__file__).resolve().parent


def charter_of(folder, owners):
    """The example's charter beside its pilot, with so many owners."""
    must("data", "generate", "lending", "--owner", "bank-a=200", "--pilot", "2000", "--out", ".",
         cwd=folder)
    digest = hashlib.sha256((folder / "pilot.csv").read_bytes()).hexdigest()
    text = re.sub(r'sha256 *= "[0-9a-f]{64}"', f'sha256 = "{digest}"', EXAMPLE.read_text())
    text = text.replace("rows   = 10000", "rows   = 2000")
    if owners != 3:
        blocks = "".join(f'[[owner]]\nname = "clinic-{i:03}"\nrows = {2000 + 37 * i}\n'
                         f"epsilon = {1 + i % 3}\n\n" for i in range(owners))
        text = text[:text.index("[[owner]]")] + blocks + text[text.index("[learner]"):]
    file = folder / f"{owners}.charter.toml"
    file.write_text(text)
    return file


def consortium_in(folder):
    """Every owner wants a person's word, and has the charter in its folder."""
    consortium = Consortium(folder)
    for owner in OWNERS:
        policy = folder / owner / "policy.toml"
        policy.write_text(policy.read_text().replace("person = false", "person = true"))
        charters = folder / owner / "charters"
        charters.mkdir(exist_ok=True)
        (charters / "data").symlink_to(folder / "data")
        (charters / "job.charter.toml").write_text(consortium.charter.read_text())
    return consortium


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        consortium = consortium_in(folder)
        learner, port = consortium.learner(wait=300)
        daemons = [consortium.start(owner, "owner", "run", f"{owner}/policy.toml", "--dial",
                                    f"127.0.0.1:{port}", "--wait", 300) for owner in OWNERS]
        pages = {owner: Page("owner", "web", f"{owner}/policy.toml", cwd=folder, sign_in=False)
                 for owner in OWNERS}
        for owners in (3, 100):
            pages[str(owners)] = Page("explore", charter_of(folder, owners), cwd=folder, sign_in=False)
        pages["job"] = Page("learner", "web", consortium.charter, "job", cwd=folder, sign_in=False)
        try:
            links = {name: page.link for name, page in pages.items()}
            processes = {name: page.process.pid for name, page in pages.items()}
            done = subprocess.run(["node", HERE / "stories.mjs", json.dumps(links),
                                   json.dumps(processes), out], check=False)
            trained = learner.wait(120) if done.returncode == 0 else None
        finally:
            for page in pages.values():
                page.close()
            for process in (*daemons, learner):
                process.kill()
                process.wait()
    print("the job that was approved on the pages ended with", trained)
    sys.exit(done.returncode or trained != 0)


if __name__ == "__main__":
    main()
