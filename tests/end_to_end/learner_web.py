"""The learner's page with a real job: who is connected, a lost connection, the card, and what `verify`
finds, also of a model that somebody has changed. It changes nothing, and others' words are text."""

import time

from consortium import OWNERS, Consortium
from pages import Page
from parley import InFolder, main


class LearnerWeb(InFolder):
    def open(self, consortium):
        page = Page("learner", "web", consortium.charter, "job", cwd=self.folder)
        self.addCleanup(page.close)
        return page

    def await_text(self, page, words, times=1):
        until = time.monotonic() + 90
        while page.get("/live").text.count(words) < times:
            self.assertLess(time.monotonic(), until, f"{words!r} not in {page.get('/live').text}")
            time.sleep(0.1)

    def start_owner(self, consortium, owner, port):
        process = consortium.owner(owner, port)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_from_before_the_job_to_after_it(self):
        consortium = Consortium(self.folder)
        text = consortium.charter.read_text()
        consortium.charter.write_text(text.replace("Interest rate", "<script>alert(1)</script>"))
        page = self.open(consortium)
        self.assertIn("The learner does not run here now", page.get("/").text)
        learner, port = consortium.learner()
        self.addCleanup(learner.kill)
        first = self.start_owner(consortium, "bank-a", port)
        self.await_text(page, "<td>connected</td>")
        self.assertIn("Round 0 of 3 is done", page.get("/live").text)
        self.assertEqual(page.get("/live").text.count("<td>away</td>"), 2)
        first.kill()
        self.await_text(page, "<td>away</td>", 3)
        self.assertIn("Survived: 1 lost connection.", page.get("/live").text)
        for owner in OWNERS:
            self.start_owner(consortium, owner, port)
        self.assertEqual(learner.wait(120), 0, consortium.log("learner"))
        self.await_text(page, "It holds")
        shown = page.get("/").text
        self.assertNotIn("<script>", shown)
        self.assertIn("&lt;script&gt;alert(1)", shown)
        said = self.parley("verify", "job/model.json", "job/transcript.pb.zst", consortium.charter)
        for line in said.stdout.splitlines():
            self.assertIn(line.replace("&", "&amp;").replace('"', "&quot;"), shown.replace("&#39;", "'"))
        self.assertEqual(page.post("/", {"token": page.token()}).status, 404, "it is read-only")
        model = self.folder / "job" / "model.json"
        model.write_text(model.read_text().replace('"rounds": 3', '"rounds": 4'))
        self.await_text(page, "does NOT hold")
        self.assertLess(page.memory_mb(), 30)

    def test_a_charter_that_cannot_be_read(self):
        said = self.parley("learner", "web", "no.charter.toml", "job", expect=2)
        self.assertIn("no.charter.toml", said.stderr)


if __name__ == "__main__":
    main()
