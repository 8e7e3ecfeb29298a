"""The demo: forty hospitals, and what it leaves in its folder."""

import math
import re
import time
import xml.etree.ElementTree as xml
from random import Random

from pages import Page
from parley import SOURCE, InFolder, main, run


def table(groups, seed=1, separator=","):
    """Patients of several wards, whose stay depends on age, pain and the ward."""
    random = Random(seed)
    lines = [separator.join(("ward", "age", "pain", "kind", "long", "days"))]
    for ward, rows in groups.items():
        shift = random.gauss(0, .5)
        for _ in range(rows):
            age, pain = random.uniform(20, 90), random.gauss(0, 1)
            kind = random.choice(("planned", "emergency"))
            score = .04 * (age - 55) + .8 * pain + .7 * (kind == "emergency") + shift
            stays = random.random() < 1 / (1 + math.exp(-score))
            days = 4 + score + random.gauss(0, 1)
            lines.append(separator.join((ward, f"{age:.1f}", f"{pain:.3f}", kind,
                                         "yes" if stays else "no", f"{days:.2f}")))
    return "\n".join(lines) + "\n"


WARDS = {"Ward A": 300, "ward a": 280, "South": 400, "North": 350, "Attic": 30}


class OwnTable(InFolder):
    def demo(self, *arguments, **more):
        return self.parley("demo", "mine.csv", *arguments, "--out", "shown", **more)

    def test_owners_are_the_values_of_a_column(self):
        (self.folder / "mine.csv").write_text(table(WARDS))
        done = self.json("demo", "mine.csv", "--target", "long", "--by", "ward", "--out", "shown")
        self.assertEqual(list(done["parley"]), ["version", "commit", "command", "seed"])
        self.assertEqual((done["parley"]["command"][-2:], done["parley"]["seed"]), (["--out", "shown"], 1))
        own = done["simulate"]["result"]["own_rows"]
        self.assertEqual({o["owner"] for o in own["owners"]}, {"ward-a", "ward-a-2", "south", "north"})
        self.assertIn("Attic", " ".join(done["story"]))
        shown = self.folder / "shown"
        rows = [len((shown / "data" / place / f"{o['owner']}.csv").read_text().split("\n")) - 2
                for o in own["owners"] for place in ("", "new")]
        pilot = len((shown / "data" / "pilot.csv").read_text().split("\n")) - 2
        self.assertEqual(sum(rows) + pilot, 1330, "every row of an owner is in one file")
        for o in own["owners"]:
            self.assertGreater(o["joint"]["value"], .6, "one ward's rows predict another's")
        for command in done["commands"]:
            found = run(*command.split()[1:], cwd=shown, own_figures=True)
            self.assertEqual(found.returncode, 0, f"{command}: {found.stderr}")
        self.assertRegex(found.stdout, rf"mean of 4 +{own['mean'][0]['alone']:.4f}")
        self.assertEqual(xml.fromstring((shown / "picture.svg").read_text())[1].tag[-1], "g")

    def test_a_number_is_judged_by_rmse_and_other_separators_are_kept(self):
        (self.folder / "mine.csv").write_text(table(WARDS, separator=";"))
        done = self.json("demo", "mine.csv", "--target", "days", "--by", "ward", "--without", "long",
                         "--separator", ";", "--out", "shown")
        own = done["simulate"]["result"]["own_rows"]
        self.assertEqual([m["metric"] for m in own["mean"]], ["rmse"])
        self.assertAlmostEqual(own["mean"][0]["personal"], 1, delta=.15, msg="the noise's deviation")
        self.assertIn("--separator ';'", done["commands"][-1])

    def test_log_loss_where_it_is_asked_for(self):
        (self.folder / "mine.csv").write_text(table(WARDS))
        text = self.demo("--target", "long", "--by", "ward", "--metric", "log_loss").stdout
        self.assertIn("log loss, mean of 4", text)
        self.assertIn("own new rows, log loss:", text)
        self.assertIn("A gain counts from 0.5 % of log loss", text)
        self.assertIn("--metric log_loss", text)
        self.demo("--target", "days", "--by", "ward", "--metric", "log_loss", expect=2)

    def test_where_nothing_is_to_be_gained_it_says_so(self):
        # Enough rows of their own, and a linear model fits.
        (self.folder / "mine.csv").write_text(table({"a": 3000, "b": 3000, "c": 3000}))
        text = self.demo("--target", "long", "--by", "ward", "--max-rows", 0).stdout
        self.assertIn("Nothing material is to be gained here", text)
        picture = (self.folder / "shown" / "picture.svg").read_text()
        self.assertIn("Nothing material is to be gained here", picture)

    def test_errors_say_what_to_do(self):
        (self.folder / "mine.csv").write_text(table(WARDS))
        for arguments, said in (
                (("--target", "stay", "--by", "ward"), "--target: ward, age, pain"),
                (("--target", "long", "--by", "clinic"), "--by: ward, age, pain"),
                (("--target", "long", "--by", "long"), "cannot be the target"),
                (("--target", "long", "--by", "kind"), "secure sum needs 3 owners"),
                (("--target", "long", "--by", "age"), "--min-rows"),
                (("--target", "ward", "--by", "kind", "--min-rows", 20), "3 owners"),
                (("--target", "long"), "--by"), ((), "parley demo patients.csv --target")):
            done = self.demo(*arguments, expect=2)
            self.assertIn(said, done.stderr, arguments)
        self.assertIn("absent.csv", self.parley("demo", "absent.csv", "--target", "a", "--by", "b",
                                                expect=2).stderr)


class Demo(InFolder):
    def test_forty_hospitals_as_in_the_readme_gain_as_forecast_and_the_same_by_hand(self):
        printed = self.parley("demo", "--out", "build/demo").stdout
        shown = self.folder / "build" / "demo"
        readme = (SOURCE / "README.md").read_text(encoding="utf-8")
        block = next(part for part in readme.split("```") if "AUC, mean of 40" in part)
        lines = [line for line in block.strip().split("\n") if line != "..."]
        self.assertEqual(len(lines), 7)
        for line in lines:
            self.assertIn(line, printed.split("\n"))
        drawn = (shown / "picture.svg").read_text(encoding="utf-8")
        kept = (SOURCE / "docs" / "pictures" / "demo.svg").read_text(encoding="utf-8")
        self.assertEqual(drawn, kept, "cp parley-demo/picture.svg docs/pictures/demo.svg")
        self.assertIn("svg", xml.fromstring(drawn).tag)
        self.assertIn(drawn, (shown / "index.html").read_text(encoding="utf-8"))
        self.forecasts_held(printed)
        after = printed.split("Look at, in build/demo\n")[1]
        files, by_hand = after.split("The same by hand\n")
        for line in files.splitlines():
            self.assertTrue((shown / line.split()[0]).exists(), line)
        commands = re.findall(r"^  parley (.*)$", by_hand, re.MULTILINE)
        self.assertEqual([command.split()[0] for command in commands], ["data", "charter", "forecast", "simulate"])
        for command in commands[:-1]:  # That a simulation by hand comes out the same: OwnTable.
            done = run(*command.split(), cwd=shown, own_figures=True)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
        self.gains(printed)

    def forecasts_held(self, printed):
        rows = re.findall(r"^(\w.*?) +([\d.]+) +([\d.]+) to ([\d.]+) +([\d.]+) +(\d+) of 40$", printed, re.MULTILINE)
        self.assertEqual(len(rows), 6)
        for name, _, low, high, came_out, inside in rows:
            self.assertLess(float(low), float(came_out), name)
            self.assertGreater(float(high), float(came_out), name)
            self.assertGreater(int(inside), 30, name)

    def gains(self, printed):
        # The numpy reference has .692, .713 and .725 over eight seeds; one seed is some .005 off.
        found = re.search(r"^mean of 40 +([\d.]+) +([\d.]+) +[\d.]+ +([\d.]+)", printed, re.MULTILINE)
        for value, expected in zip(found.groups(), (.692, .713, .725)):
            self.assertAlmostEqual(float(value), expected, delta=.015)
        gain, lose = re.search(r"Against alone (\d+) of 40 gain as much, (\d+) lose", printed).groups()
        self.assertGreater(int(gain), 35)
        self.assertLess(int(lose), 3)


class InBrowser(InFolder):
    """parley demo --web: forecast, slide, train, watch, outcome beside forecast."""

    def train(self, page, state):
        return page.post("/train", {"token": page.token(), "state": state})

    def outcome(self, page):
        until = time.monotonic() + 120
        while "The owners train" in (text := page.get("/job").text):
            self.assertLess(time.monotonic(), until, text)
            time.sleep(0.1)
        return text

    def test_what_was_set_is_trained_and_compared(self):
        (self.folder / "mine.csv").write_text(table(WARDS))
        page = Page("demo", "mine.csv", "--target", "long", "--by", "ward", "--out", "shown", "--web",
                    cwd=self.folder)
        self.addCleanup(page.close)
        self.assertIn("Train with these", page.get("/").text)
        self.assertEqual(page.get("/job").status, 303, "there is none yet")
        self.assertEqual(page.post("/train", {"state": ""}).status, 403, "a stranger's form")
        self.assertEqual(self.train(page, "all=50").status, 303)
        self.assertEqual(self.train(page, "all=1").status, 409, "one at a time")
        text = self.outcome(page)
        self.assertIn("What was forecast, and what came out", text)
        self.assertTrue(page.get("/picture.svg").text.startswith("<svg"))
        self.assertNotIn("<style", text, "the page's policy forbids it")
        tried = self.parley("charter", "hash", "shown/tried.charter.toml").stdout.split()[0]
        self.assertIn(tried, (self.folder / "shown" / "run" / "model.json").read_text())
        self.assertEqual((self.folder / "shown" / "tried.charter.toml").read_text()
                         .count("epsilon = 50\n"), 4)
        self.assertEqual(self.train(page, "n0=7").status, 303)
        self.assertIn("This cannot be trained", self.outcome(page), "rows are what they are")
        self.assertEqual(self.train(page, "o0=1").status, 303)
        self.assertIn("What came out, beside the forecast", self.outcome(page))


if __name__ == "__main__":
    main()
