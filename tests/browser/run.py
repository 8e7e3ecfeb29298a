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
from pages import DaemonPage, Page, free_port
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


def consortium_in(folder, **how):
    """Every owner wants a person's word, and has the charter in its folder."""
    folder.mkdir(exist_ok=True)
    consortium = Consortium(folder, **how)
    for owner in OWNERS:
        policy = folder / owner / "policy.toml"
        policy.write_text(policy.read_text().replace("person = false", "person = true"))
        charters = folder / owner / "charters"
        charters.mkdir(exist_ok=True)
        (charters / "data").symlink_to(folder / "data")
        (charters / "job.charter.toml").write_text(consortium.charter.read_text())
    return consortium


class Story:
    """A learner, three owners and their pages; bank-b's is inside its daemon."""

    def __init__(self, folder, **how):
        self.consortium = consortium_in(folder, **how)
        policy = folder / "bank-b" / "policy.toml"
        policy.write_text(policy.read_text() + f'[web]\nlisten = "127.0.0.1:{free_port()}"\n')
        self.learner, port = self.consortium.learner(wait=600)
        self.daemons = {owner: self.consortium.start(owner, "owner", "run", f"{owner}/policy.toml", "--dial",
                                                     f"127.0.0.1:{port}", "--wait", 600) for owner in OWNERS}
        self.pages = {owner: Page("owner", "web", f"{owner}/policy.toml", cwd=folder, sign_in=False)
                      for owner in ("bank-a", "bank-c")}
        self.pages["bank-b"] = DaemonPage(self.daemons["bank-b"], folder / "bank-b" / "state" / "page.link",
                                          sign_in=False)

    def close(self):
        for page in self.pages.values():
            page.close()
        for process in (*self.daemons.values(), self.learner):
            process.kill()
            process.wait()


def main():
    out = pathlib.Path(sys.argv[1])
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        job = Story(folder / "job", rounds=1500, rule="algorithm2")
        refused = Story(folder / "refused")
        pages = {**job.pages, "refuser": refused.pages["bank-a"], "lost": refused.pages["bank-c"]}
        for owners in (3, 100):
            pages[str(owners)] = Page("explore", charter_of(folder, owners), cwd=folder, sign_in=False)
        pages["demo"] = Page("demo", "--web", "--out", "demo", cwd=folder, sign_in=False)
        pages["job"] = Page("learner", "web", job.consortium.charter, "job", cwd=folder / "job", sign_in=False)
        try:
            links = {name: page.link for name, page in pages.items()}
            processes = {name: page.process.pid for name, page in pages.items()}
            done = subprocess.run(["node", HERE / "stories.mjs", json.dumps(links),
                                   json.dumps(processes), out], check=False)
            trained = job.learner.wait(120) if done.returncode == 0 else None
            ended = refused.learner.wait(60) if done.returncode == 0 else None
            log = refused.consortium.log("learner")
        finally:
            for page in pages.values():
                page.close()
            job.close()
            refused.close()
    print("the job that was approved on the pages ended with", trained)
    reached = ended == 3 and "not what we are for" in log
    print("holds" if reached else "DOES NOT HOLD", ": a refusal with its reason is in the learner's log", sep="")
    sys.exit(done.returncode or trained != 0 or not reached)


if __name__ == "__main__":
    main()
