"""Pages as a reader would follow them: files saved, commands typed, and what they print."""

import os
import pathlib
import re
import subprocess

from parley import BINARY, SOURCE, InFolder, main

COMMANDS = ("parley ", "mkdir ", "cut ", "cp ", "{ ")


def steps(text):
    """("save", name, contents), ("type", command) and ("see", lines), in the order of the page."""
    named = None
    for part in re.split(r"\n\n+", text):
        lines = part.split("\n")
        if fence := re.match(r"```toml\n(.*)", part, re.S):
            named = ["save", named, fence.group(1)]
        elif isinstance(named, list):
            named[2] += "\n\n" + part
        if isinstance(named, list):
            if named[2].rstrip().endswith("```"):
                yield named[0], named[1], named[2].rstrip().removesuffix("```")
                named = None
            continue
        if all(line.startswith("    ") for line in lines):
            shown = re.sub(r" \\\n +", " ", "\n".join(line[4:] for line in lines)).split("\n")
            typed = [line for line in shown if line.startswith(COMMANDS)]
            yield from (("type", line) for line in typed) if typed else [("see", shown)]
        elif names := re.findall(r"`(\w+\.charter\.toml)`", part):
            named = names[-1]


class Pages(InFolder):
    def type(self, command):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, text=True, timeout=250,
                              env={**os.environ, "PATH": path}, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        return [line.rstrip() for line in (done.stdout + done.stderr).split("\n")]

    def follow(self, page):
        """How often something was saved, typed and seen."""
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "parley").symlink_to(pathlib.Path(BINARY).resolve())
        printed, done = [], {"save": 0, "type": 0, "see": 0}
        for kind, *what in steps((SOURCE / "docs" / page).read_text(encoding="utf-8")):
            done[kind] += 1
            if kind == "save":
                (self.folder / what[0]).write_text(what[1], encoding="utf-8")
            elif kind == "type":
                printed = self.type(what[0])
            else:
                for line in what[0]:
                    self.assertIn(line.rstrip(), printed)
        return done

    def test_the_tutorial(self):
        done = self.follow("tutorial.md")
        self.assertEqual(done["save"], 2)
        self.assertGreater(min(done["type"], done["see"]), 6)

    def test_from_files_to_a_first_charter(self):
        done = self.follow("how-to/first-charter.md")
        self.assertEqual((done["type"], done["see"]), (7, 3))

    def test_how_much_owners_differ(self):
        done = self.follow("how-to/how-unlike.md")
        self.assertEqual((done["type"], done["see"]), (7, 4))


if __name__ == "__main__":
    main()
