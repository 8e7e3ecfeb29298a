"""parley reproduce with the real binary: drawings, tables, page and verdicts of every figure."""

import csv
import html.parser
import io
import random
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as xml

from parley import BINARY, InFolder, main

PAPERS = ([f"S-F{i}" for i in range(2, 12)] + ["S-claim1", "S-claim2", "S-claim3", "S-T2"] +
          [f"A-F{i}" for i in range(2, 11)] + ["A-abs", "A-T2"] +
          ["V-F1", "V-F2", "V-F3a", "V-F3b", "V-T1", "V-cor1", "V-value"] +
          ["H-T1", "H-L2", "H-L3", "H-T4", "H-K", "H-comm", "H-rate"])
BEYOND = ["B-sync", "B-secure", "B-async", "B-federated", "B-sharing"]
FIGURES = PAPERS + BEYOND
VERDICTS = {"reproduced", "refuted", "not decided"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(html.parser.HTMLParser):
    """Ids, badges and whatever would have to be loaded."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.open, self.loads, self.drawings = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loads += [given[key] for key in ("src", "srcset", "data") if key in given]
        if tag == "link":
            self.loads.append(given.get("href"))
        if tag == "section":
            self.ids.append(given["id"])
        self.drawings += tag == "svg"
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


class Reproduce(InFolder):
    def test_every_figure_has_its_numbers_its_drawing_and_its_verdict(self):
        found = self.json("reproduce", "--quick", "--out", "out")
        self.assertEqual(found["format"], "parley.reproduce/1")
        self.assertEqual(found["mode"], "quick")
        self.assertEqual([figure["id"] for figure in found["figures"]], FIGURES)
        self.assertEqual(sum(found["summary"].values()), len(FIGURES))
        for figure in found["figures"]:
            with self.subTest(figure["id"]):
                self.check_figure(figure)
        page = Page((self.folder / "out/index.html").read_text())
        self.assertEqual(page.ids, FIGURES)
        self.assertEqual(page.open, [])
        self.assertEqual(page.loads, [], "the page stands alone")
        self.assertEqual(page.drawings, len(list((self.folder / "out").glob("*.svg"))))
        measures = sum(len(figure["measures"]) for figure in found["figures"])
        self.assertEqual(len(table(self.folder / "out/verdicts.csv")), measures)
        papers, beyond = (self.folder / "out/verdicts.md").read_text().split("## Beyond the papers")
        for text, names in ((papers, PAPERS), (beyond, BEYOND)):
            rows = [line for line in text.splitlines() if re.match(r"\| [ASVHB]-", line)]
            self.assertEqual([row.split()[1] for row in rows], names)
        broken = (self.folder / "out/mutations.txt").read_text()
        self.assertNotIn("SURVIVES", broken)
        self.assertEqual(sum(measure["decides"] for figure in found["figures"] for measure in figure["measures"]),
                         len(re.findall(r"^[ASVHB]-", broken, re.MULTILINE)))
        for paper in ("Value of Collaboration", "Cost of Privacy", "Learning Privately", "A Federated Algorithm"):
            self.assertIn(paper, (self.folder / "out/index.html").read_text())

    def check_figure(self, figure):
        self.assertIs(figure["private"], False)
        self.assertIn(figure["verdict"], VERDICTS)
        for key in ("claim", "title", "item", "data"):
            self.assertTrue(figure[key], key)
        self.assertTrue(any(measure["decides"] for measure in figure["measures"]))
        for measure in figure["measures"]:
            self.assertIn(measure["verdict"], VERDICTS)
            if measure["decides"]:
                self.assertNotEqual(measure["accept"]["between"], [None, None], measure["quantity"])
        self.assertEqual(bool(figure["why_not_decided"]), figure["verdict"] == "not decided")
        rows = table(self.folder / "out" / figure["files"]["csv"])
        if "svg" not in figure["files"]:
            return
        self.assertGreater(len(rows), 2)
        for row in rows:
            for key in ("x", "y", "z", "p25", "p75", "standard_error"):
                float(row[key] or 0)
        self.check_drawing((self.folder / "out" / figure["files"]["svg"]).read_text())

    def check_drawing(self, text):
        root = xml.fromstring(text)
        self.assertEqual(root.tag, SVG + "svg")
        _, _, width, height = map(float, root.get("viewBox").split())
        texts = root.findall(f"{SVG}text")
        self.assertGreater(len(texts), 5)
        for each in texts:
            words = "".join(each.itertext())
            self.assertNotIn("nan", words)
            if each.get("x") is None:
                continue
            size, x, y = (float(each.get(key)) for key in ("font-size", "x", "y"))
            length = 0.5 * size * len(words)
            left = {"start": x, "middle": x - length / 2, "end": x - length}[each.get("text-anchor")]
            self.assertGreater(left, -2, words)
            self.assertLess(left + length, width + 2, words)
            self.assertTrue(0 < y < height, words)

    def test_the_same_seed_gives_the_same_figures_on_any_number_of_threads(self):
        chosen = ["S-F4", "A-F2", "A-F7"]
        for threads in (1, 3):
            self.parley("reproduce", *chosen, "--quick", "--threads", threads, "--out", f"out{threads}")
        self.parley("reproduce", *chosen, "--quick", "--seed", 2, "--out", "other")
        for figure in chosen:
            for suffix in ("csv", "svg"):
                one, three, other = ((self.folder / out / f"{figure}.{suffix}").read_text()
                                     for out in ("out1", "out3", "other"))
                self.assertEqual(one, three)
                self.assertNotEqual(one, other)

    def test_parts_put_together_are_the_bytes_of_one_run(self):
        chosen = ["S-F4", "S-F6", "A-F3", "A-F6", "H-T1"]
        self.parley("reproduce", *chosen, "--quick", "--out", "whole")
        for k in (1, 2, 3):
            self.parley("reproduce", *chosen, "--quick", "--part", f"{k}/3", "--out", f"part{k}")
            self.assertFalse((self.folder / f"part{k}/index.html").exists())
        self.parley("reproduce", "--merge", "part3", "part1", "part2", "--out", "merged")
        names = sorted(path.name for path in (self.folder / "whole").iterdir() if path.is_file())
        self.assertEqual(names, sorted(path.name for path in (self.folder / "merged").iterdir()))
        for name in names:
            self.assertEqual((self.folder / "whole" / name).read_bytes(), (self.folder / "merged" / name).read_bytes(), name)
        self.assertIn("part 2 of 3 was expected",
                      self.parley("reproduce", "--merge", "part1", "part3", "--out", "x", expect=2).stderr)
        self.assertIn("--part as 2/5", self.parley("reproduce", "--part", "3/2", expect=2).stderr)

    def test_real_records_are_judged_beside_the_stand_in(self):
        (self.folder / "loan.csv").write_text(loans(6000))
        found = self.json("reproduce", "S-F4", "A-F3", "--quick", "--data", ".", "--out", "out")["figures"]
        self.assertEqual([figure["kind"] for figure in found], ["the paper's file", "no data"])
        self.assertTrue(found[0]["on_standin"])
        self.assertFalse(found[1]["on_standin"])

    def test_more_runs_make_smaller_errors(self):
        errors = []
        for runs in (8, 512):
            found = self.json("reproduce", "A-F5", "--quick", "--runs", runs, "--draws", 6, "--out", f"out{runs}")
            self.assertEqual(found["figures"][0]["runs"], runs)
            measures = [measure for measure in found["figures"][0]["measures"] if measure["decides"]]
            self.assertEqual({measure["draws"] for measure in measures}, {6})
            errors.append(sum(measure["standard_error"] for measure in measures))
        self.assertLess(errors[1], errors[0] / 3)  # 8 are expected; the seeds are fixed.

    def test_the_list_names_what_can_be_asked_for(self):
        listed = self.json("reproduce", "--list")["figures"]
        self.assertEqual([figure["id"] for figure in listed], FIGURES)
        text = self.parley("reproduce", "--list").stdout
        for figure in FIGURES:
            self.assertIn(figure, text)
        wrong = self.parley("reproduce", "A-F99", expect=2)
        self.assertIn("'A-F99'", wrong.stderr)
        self.assertIn("--list", wrong.stderr)

    def test_a_folder_without_the_papers_files_is_an_error_that_names_them(self):
        (self.folder / "data").mkdir()
        for figure, file in (("A-F2", "loan.csv"), ("V-F1", "a9a"), ("S-F7", "creditcard.csv"),
                             ("A-F7", "Hospital_Inpatient_Discharges")):
            failed = self.parley("reproduce", figure, "--quick", "--data", "data", expect=2)
            self.assertIn(file, failed.stderr)
        self.assertIn("is not a folder", self.parley("reproduce", "A-F2", "--data", "nowhere", expect=2).stderr)

    def test_files_with_the_papers_columns_are_read(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "loan.csv").write_text(loans(6000))
        (data / "creditcard.csv").write_text(payments(6000))
        (data / "Hospital_Inpatient_Discharges_2016.csv").write_text(stays(6000))
        (data / "a9a").write_text(people(600))
        (data / "a9a.t").write_text(people(300))
        readers = [name for name in FIGURES if re.match("[SAV]-F", name)]
        found = self.json("reproduce", *readers, "--quick", "--data", "data", "--out", "out")
        self.assertEqual([figure["id"] for figure in found["figures"]], readers)
        self.assertEqual(found["data"], "data")
        sources = " ".join(figure["data"] for figure in found["figures"])
        for file in ("loan.csv", "creditcard.csv", "Hospital_Inpatient_Discharges_2016.csv", "a9a"):
            self.assertIn(file, sources)

    def test_a_file_with_too_few_records_decides_nothing(self):
        (self.folder / "loan.csv").write_text(loans(1500))
        found = self.json("reproduce", "A-F6", "A-abs", "--quick", "--data", ".", "--out", "out")
        for figure in found["figures"]:
            self.assertEqual((figure["verdict"], figure["measures"]), ("not decided", []))
            self.assertTrue(figure["on_standin"])
            self.assertIn("too few records", figure["note"])

    def test_an_interrupt_ends_it_and_what_was_finished_stays(self):
        with subprocess.Popen([BINARY, "reproduce", "A-F3", "A-F6", "--out", "out"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not (self.folder / "out/A-F3.svg").exists():
                time.sleep(0.02)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, out + error)
        self.assertEqual(out, "")
        self.assertFalse((self.folder / "out/A-F6.svg").exists())
        self.assertFalse((self.folder / "out/index.html").exists())


def csv_text(names, rows):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()


def loans(count):
    """As Lending Club writes them, with columns that nobody reads."""
    draw = random.Random(1)
    names = ["id", "loan_amnt", "term", "int_rate", "installment", "grade", "sub_grade", "emp_length",
             "home_ownership", "annual_inc", "verification_status", "purpose", "addr_state", "dti",
             "delinq_2yrs", "inq_last_6mths", "open_acc", "pub_rec", "revol_bal", "revol_util",
             "total_acc", "collections_12_mths_ex_med"]

    def row(i):
        grade = draw.randrange(7)
        rate = 6 + 2.5 * grade + draw.gauss(0, 1)
        return [i, draw.randrange(500, 35000), f" {draw.choice((36, 60))} months", f"{rate:.2f}%",
                f"{draw.uniform(20, 1200):.2f}", "ABCDEFG"[grade], f"{'ABCDEFG'[grade]}{draw.randrange(1, 6)}",
                draw.choice(("< 1 year", "3 years", "10+ years", "n/a")), draw.choice(("RENT", "OWN", "MORTGAGE")),
                draw.randrange(20000, 200000), draw.choice(("Verified", "Not Verified")),
                draw.choice(("car", "credit_card", "other")), draw.choice(("NY", "CA", "TX")),
                f"{draw.uniform(0, 40):.2f}", draw.randrange(3), draw.randrange(4), draw.randrange(1, 30),
                draw.randrange(2), draw.randrange(50000), f"{draw.uniform(0, 100):.1f}%", draw.randrange(2, 60),
                draw.choice(("0", "1", ""))]
    return csv_text(names, (row(i) for i in range(count)))


def payments(count):
    draw = random.Random(2)

    def row(i):
        fraud = draw.random() < 0.02
        return [i] + [draw.gauss(2 * fraud, 1) for _ in range(28)] + [f"{draw.expovariate(0.01):.2f}", int(fraud)]
    return csv_text(["Time"] + [f"V{i}" for i in range(1, 29)] + ["Amount", "Class"],
                    (row(i) for i in range(count)))


def people(count):
    """Fourteen attributes of each, as columns of ones."""
    draw = random.Random(4)
    starts = [1, 6, 14, 19, 35, 40, 47, 61, 67, 72, 74, 76, 78, 83, 124]

    def line():
        at = [draw.randrange(first, end) for first, end in zip(starts, starts[1:])]
        return " ".join(["+1" if draw.random() < 0.1 + at[0] / 10 else "-1"] + [f"{j}:1" for j in at]) + "\n"
    return "".join(line() for _ in range(count))


def stays(count):
    """Two large hospitals and many small ones."""
    draw = random.Random(3)
    names = ["Facility Name", "Age Group", "Gender", "Race", "Ethnicity", "Length of Stay", "Type of Admission",
             "Patient Disposition", "CCS Diagnosis Code", "CCS Procedure Code", "APR DRG Code", "APR MDC Code",
             "APR Severity of Illness Code", "APR Risk of Mortality", "APR Medical Surgical Description",
             "Payment Typology 1", "Emergency Department Indicator", "Total Charges"]

    def row():
        severity = draw.randrange(1, 5)
        days = 1 + int(draw.expovariate(0.5 / severity))
        hospital = draw.choice(("St Francis Hospital", "Crouse Hospital", f"Clinic {draw.randrange(60)}"))
        return [hospital, draw.choice(("0 to 17", "30 to 49", "70 or Older")), draw.choice("FM"),
                draw.choice(("White", "Other Race")), draw.choice(("Spanish/Hispanic", "Unknown")),
                "120 +" if days > 14 else days, draw.choice(("Emergency", "Elective")),
                draw.choice(("Home or Self Care", "Expired")), draw.randrange(260), draw.randrange(230),
                draw.randrange(900), draw.randrange(25), severity, draw.choice(("Minor", "Major", "Extreme")),
                draw.choice(("Medical", "Surgical")), draw.choice(("Medicare", "Self-Pay")), draw.choice("YN"),
                "1,234.56"]
    return csv_text(names, (row() for _ in range(count)))


if __name__ == "__main__":
    main()
