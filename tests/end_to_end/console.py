"""The owner's console with real daemons: three owners approve on their pages and a job runs, a no with
its reason stops one, and nothing can be decided twice or by a page that is out of date."""

import getpass
import html
import re
import shutil
import stat
import subprocess
import time

from consortium import OWNERS, Consortium
from pages import DaemonPage, Page, free_port
from parley import InFolder, main


class Console(InFolder):
    def consortium(self, **how):
        """Every owner wants a person's word, and has the charter in its folder."""
        consortium = Consortium(self.folder, **how)
        for owner in OWNERS:
            policy = self.folder / owner / "policy.toml"
            policy.write_text(policy.read_text().replace("person = false", "person = true"))
            charters = self.folder / owner / "charters"
            charters.mkdir(exist_ok=True)
            (charters / "data").symlink_to(self.folder / "data")  # where the charter's pilot lies
            (charters / "job.charter.toml").write_text(consortium.charter.read_text())
        return consortium

    def open(self, owner):
        page = Page("owner", "web", f"{owner}/policy.toml", cwd=self.folder)
        self.addCleanup(page.close)
        return page

    def daemon(self, consortium, owner, port, *charters):
        process = consortium.start(owner, "owner", "run", f"{owner}/policy.toml", *charters,
                                   "--dial", f"127.0.0.1:{port}", "--wait", 60)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def form(self, page, what):
        """The fields of one of the forms on a charter's page."""
        path = re.search(r'href="(/charter\?id=[0-9a-f]{64})"', page.get("/").text)[1]
        text = page.get(path).text
        for form in re.findall(r'<form method=post action="/decide">.*?</form>', text, re.DOTALL):
            fields = dict(re.findall(r'name=(\w+) value="?([^">]*)"?', form))
            if fields["what"] == what:
                return fields
        raise AssertionError(f"no form to {what}: {text}")

    def say(self, page, what, reason):
        return page.post("/decide", {**self.form(page, what), "reason": reason})

    def await_text(self, page, path, words):
        until = time.monotonic() + 90
        while words not in page.get(path).text:
            self.assertLess(time.monotonic(), until, f"{words!r} not in {page.get(path).text}")
            time.sleep(0.1)

    def test_three_owners_approve_and_the_job_runs(self):
        consortium = self.consortium()
        pages = {owner: self.open(owner) for owner in OWNERS}
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        for owner in OWNERS:
            self.daemon(consortium, owner, port)
        for owner, page in pages.items():
            self.assertIn("It waits for a person", page.get("/").text)
            fields = {**self.form(page, "approve"), "reason": "we have read it"}
            self.assertEqual(page.post("/decide", fields).status, 303)
            self.assertEqual(page.post("/decide", fields).status, 409, "a second click")
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        for owner, page in pages.items():
            self.await_text(page, "/live", "All answers were given")
            self.assertIn("<td>1 ε</td>", page.get("/live").text)  # spent, of 4
            rows = self.json("ledger", "show", f"{owner}/state/ledger.db")["rows"]
            said = next(row for row in rows if row["kind"] == "approval")
            self.assertIn("we have read it", str(said["event"]))
            left = page.get("/left").text
            for row in rows:
                self.assertIn(row["hash"], left)
            self.assertNotIn(rows[0]["hash"], page.get("/left?q=" + rows[-1]["hash"]).text)

    def test_stop_ends_a_running_job_and_the_reason_reaches_the_ledger(self):
        consortium = self.consortium(rows=1000, rounds=5000, rule="algorithm2", epsilon=5000,
                                     budget=5000)
        page = self.open("bank-a")
        for owner in OWNERS:
            self.parley("owner", "approve", f"{owner}/policy.toml",
                        f"{owner}/charters/job.charter.toml")
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        for owner in OWNERS:
            self.daemon(consortium, owner, port)
        self.await_text(page, "/live", "of 5,000 answers were given")
        self.assertEqual(self.say(page, "withdraw", " ").status, 422, "a no needs a reason")
        stale = {**self.form(page, "withdraw"), "reason": "a page that was left open"}
        self.assertEqual(self.say(page, "withdraw", "we <b>moved</b>").status, 303)
        self.assertEqual(page.post("/decide", stale).status, 409, "a stale page")
        self.assertEqual(learner.wait(120), 3, consortium.log("learner"))
        rows = self.json("ledger", "show", "bank-a/state/ledger.db")["rows"]
        self.assertIn("we <b>moved</b>", str(rows[-1]["event"]), "nothing came after the no")
        self.assertLess(len(rows), 5000)
        for path in ("/", "/left", "/policy", "/live"):
            self.assertNotIn("<b>", page.get(path).text)

    def test_a_refusal_reaches_the_learner_with_its_reason(self):
        consortium = self.consortium()
        page = self.open("bank-a")
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        for owner in OWNERS:
            self.daemon(consortium, owner, port)
        self.await_text(page, "/live", "The daemon runs since")
        self.assertEqual(self.say(page, "refuse", "not our <purpose>").status, 303)
        self.assertEqual(learner.wait(120), 3, consortium.log("learner"))
        self.assertRegex(consortium.log("learner"), "bank-a refused: .*not our <purpose>")
        event = self.json("ledger", "show", "bank-a/state/ledger.db")["rows"][-1]["event"]
        self.assertIn(getpass.getuser(), str(event), "who said it")

    LONG = {"rows": 1000, "rounds": 5000, "rule": "algorithm2", "epsilon": 5000, "budget": 5000}

    def test_the_console_inside_the_daemon(self):
        consortium = self.consortium(**self.LONG)
        policy = self.folder / "bank-a" / "policy.toml"
        policy.write_text(policy.read_text() + f'[web]\nlisten = "127.0.0.1:{free_port()}"\n')
        elsewhere = self.folder / "elsewhere.charter.toml"  # given, and in nobody's folder
        shutil.move(self.folder / "bank-a" / "charters" / "job.charter.toml", elsewhere)
        for owner in OWNERS:
            self.parley("owner", "approve", f"{owner}/policy.toml", elsewhere)
        port = free_port()  # The learner comes later, so that nothing is asked before it.
        process = self.daemon(consortium, "bank-a", port, "elsewhere.charter.toml")
        link = self.folder / "bank-a" / "state" / "page.link"
        page = DaemonPage(process, link)
        self.assertEqual(stat.S_IMODE(link.stat().st_mode), 0o600)
        self.assertNotIn("key=", consortium.log("bank-a"), "the link is a secret")
        self.assertNotEqual(link.read_text().strip(), page.link, "the one before is used up")
        self.await_text(page, "/live", "Nothing was asked since the daemon began")
        self.await_text(page, "/live", "<td>5000 ε</td><td>0 ε</td><td>5000 ε</td>")
        self.assertNotIn("neither the policy nor the charter says", page.get("/").text)
        learner, port = consortium.learner(port=port)
        self.addCleanup(learner.kill)
        for owner in OWNERS[1:]:
            self.daemon(consortium, owner, port)
        self.await_text(page, "/live", "are left at this pace")
        self.assertRegex(page.get("/live").text,
                         r"[\d,]+ of 5,000 answers were given, one in each round. [\d.]+ (bytes|[kM]B) came and "
                         r"[\d.]+ (bytes|[kM]B) went since the daemon began")
        before = int(re.search("<progress max=5000 value=(\\d+)", page.get("/live").text)[1])
        self.await_text(page, "/live", " of 5,000")
        time.sleep(1)
        self.assertGreater(int(re.search("<progress max=5000 value=(\\d+)",
                                         page.get("/live").text)[1]), before)
        self.assertEqual(self.say(page, "withdraw", "enough").status, 303)
        self.assertEqual(learner.wait(120), 3, consortium.log("learner"))
        self.assertRegex(consortium.log("learner"), "bank-a refused: .*enough")
        process.wait(60)
        self.assertFalse(link.exists(), "it goes with the daemon")

    def test_what_left_can_be_searched_and_paged(self):
        consortium = self.consortium(**{**self.LONG, "rounds": 300})
        for owner in OWNERS:
            self.parley("owner", "approve", f"{owner}/policy.toml",
                        f"{owner}/charters/job.charter.toml", "--reason", "Known To Us")
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        for owner in OWNERS:
            self.daemon(consortium, owner, port)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        page = self.open("bank-a")
        first = page.get("/left").text
        self.assertEqual(first.count("<tr><td>"), 200)
        earlier = re.search(r'href="(/left\?q=&amp;before=\d+)"', first)[1].replace("&amp;", "&")
        rows = self.json("ledger", "show", "bank-a/state/ledger.db")["rows"]
        both = first + page.get(earlier).text
        for row in rows:
            self.assertIn(row["hash"], both)
        found = page.get("/left?q=known+to+US").text
        self.assertEqual(found.count("<tr><td>"), 1)
        self.assertIn("Known To Us", found)
        self.assertIn("Nothing found", page.get("/left?q=nowhere").text)
        for odd in ("x", "-5", "1e99", "nan"):
            self.assertEqual(page.get("/left?before=" + odd).status, 200)

    def test_certificate_that_ends_soon(self):
        self.consortium()
        page = self.open("bank-a")
        self.assertNotIn("certificate ends", page.get("/").text)
        certificate = self.folder / "bank-a" / "bank-a.crt"
        request = self.folder / "bank-a" / "bank-a.csr"
        certificate.rename(certificate.with_suffix(".old"))
        self.parley("certs", "sign", request, "--authority", "ca", "--days", "7")
        self.assertIn("The certificate ends at", page.get("/live").text)
        certificate.unlink()
        self.assertIn("Nothing can be answered", page.get("/live").text)

    def test_disk_that_is_nearly_full(self):
        self.consortium()
        state = self.folder / "bank-a" / "state"
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", state], check=False,
                              capture_output=True)
        if made.returncode != 0:
            self.skipTest("a small disk needs the right to mount one")
        self.addCleanup(subprocess.run, ["umount", state], check=True)
        page = self.open("bank-a")
        self.assertIn("Less than 1 GB is free", page.get("/").text)
        page.close()

    def test_a_refusal_is_recorded_and_private_figures_are_the_owners(self):
        self.consortium()
        page = self.open("bank-a")
        fields = self.form(page, "refuse")
        self.assertIn("for our eyes only", page.get("/value?id=" + fields["id"]).text)
        said = self.parley("owner", "value", "bank-a/policy.toml", "bank-a/charters/job.charter.toml")
        self.assertIn(said.stdout, html.unescape(page.get("/figures?id=" + fields["id"]).text))
        self.assertIn("In words", page.get("/charter?id=" + fields["id"]).text)
        self.assertEqual(self.say(page, "refuse", "a line\nand another").status, 422)
        self.assertEqual(self.say(page, "refuse", "not our purpose").status, 303)
        said = self.parley("owner", "check", "bank-a/policy.toml",
                           "bank-a/charters/job.charter.toml", "--no-data", expect=3).stdout
        self.assertIn("not our purpose", said)
        self.assertEqual(self.say(page, "approve", "after all").status, 303)

    def test_others_words_are_text(self):
        consortium = self.consortium()
        text = consortium.charter.read_text().replace(
            "Interest rate from loan", "<script>alert(1)</script><img src=x onerror=alert(2)>")
        charters = self.folder / "bank-a" / "charters"
        (charters / "job.charter.toml").write_text(text)
        (charters / "<i>.charter.toml").write_text("<script>alert(3)</script>")
        page = self.open("bank-a")
        fields = self.form(page, "approve")
        for path in ("/", "/live", "/policy", "/left?q=%22%3E%3Cscript%3E", "/charter?id=" + fields["id"],
                     "/charter?id=%3Cscript%3E"):
            answer = page.get(path).text
            self.assertNotRegex(answer, r"<script>|<img|<i>|\"><s", path)
        self.assertIn("&lt;script&gt;alert(1)", page.get("/").text)

    def test_no_other_change_and_no_other_page(self):
        self.consortium()
        page = self.open("bank-a")
        fields = self.form(page, "approve")
        for changed in ({"what": "raise"}, {"id": "0" * 64}, {"token": "0" * 64}, {"seen": "x"}):
            self.assertIn(page.post("/decide", {**fields, **changed}).status, (403, 404, 409, 422))
        self.assertEqual(page.post("/policy", fields).status, 404)
        self.assertIn("It waits for a person", page.get("/").text)
        (self.folder / "bank-a" / "policy.toml").write_text("nonsense")
        self.assertEqual(page.get("/").status, 500)


if __name__ == "__main__":
    main()
