"""Pages in a browser, with the real binary: the explorer's numbers, and every way in that must stay
shut. What needs a browser is `scripts/check web`."""

import hashlib
import html
import json
import re
import socket
import threading

from pages import Page, drain
from parley import EXAMPLE, InFolder, main


def write_charter(folder, owners=None, **changes):
    """The example's charter on a pilot that lies beside it."""
    pilot = (folder / "pilot.csv").read_bytes()
    text = EXAMPLE.read_text()
    text = re.sub(r'sha256 *= "[0-9a-f]{64}"', f'sha256 = "{hashlib.sha256(pilot).hexdigest()}"', text)
    text = text.replace("rows   = 10000", "rows   = 2000")
    for old, new in changes.items():
        text = text.replace(old, new)
    if owners is not None:
        first, last = text.index("[[owner]]"), text.index("[learner]")
        text = text[:first] + owners + text[last:]
    (folder / "job.charter.toml").write_text(text)


class InPage(InFolder):
    def setUp(self):
        super().setUp()
        self.parley("data", "generate", "lending", "--owner", "bank-a=200", "--pilot", "2000",
                    "--out", ".")
        write_charter(self.folder)

    def open(self, *arguments, **more):
        page = Page("explore", "job.charter.toml", *arguments, cwd=self.folder, **more)
        self.addCleanup(page.close)
        return page


class Explorer(InPage):
    def same_numbers(self, page, query, *arguments, chosen=False):
        """The page's, and those of the command on the charter that the page writes."""
        written = page.get("/charter.toml?" + query)
        self.assertEqual(written.status, 200)
        self.assertIn('filename="three-banks-rates.charter.toml"',
                      written.headers["content-disposition"])
        (self.folder / "written.charter.toml").write_text(written.text)
        said = self.json("forecast", "written.charter.toml", *arguments)
        shown = json.loads(page.get("/forecast.json?" + query).text)
        for each in (said, shown):
            del each["parley"]  # which command
        if chosen:  # The page has a draft, the command what was chosen for it.
            for each in (said, shown):
                for key in ("charter", "chosen", "warnings"):
                    del each[key]
        self.assertEqual(shown, said)
        self.json("forecast", "written.charter.toml", *arguments, "--html", "report.html")
        page_of_command = (self.folder / "report.html").read_text()
        drawn = page.get("/result?" + query).text
        for row in re.findall(r"<tr><td>.*?</tr>", page_of_command):
            if "constants" not in row and "realised" not in row:
                self.assertIn(row, drawn)
        return shown

    def test_numbers_are_those_of_the_command(self):
        page = self.open()
        self.same_numbers(page, "")
        shown = self.same_numbers(page, "e0=0.3&e1=2.5&n2=5e4&differ=0.1&worth=0.01",
                                  "--differ", "0.1", "--worth", "0.01")
        self.assertEqual([o["epsilon"] for o in shown["answers"]["for_whom"]], [0.3, 2.5, 1.0])
        self.assertEqual([o["rows"] for o in shown["answers"]["for_whom"]], [100000, 100000, 50000])
        shown = self.same_numbers(page, "all=0.7&o1=1")
        self.assertEqual([(o["owner"], o["epsilon"]) for o in shown["answers"]["for_whom"]],
                         [("bank-a", 0.7), ("bank-c", 0.7)])
        self.same_numbers(page, "mechanism=gaussian&delta=1e-7")
        self.same_numbers(page, "protocol=async", chosen=True)

    def test_a_hundred_owners_from_a_table(self):
        rows = "".join(f"clinic-{i:03},{2000 + 37 * i},{1 + i % 3}\n" for i in range(100))
        table = "name,rows,epsilon\n" + rows
        (self.folder / "owners.csv").write_text(table)
        digest = hashlib.sha256(table.encode()).hexdigest()
        write_charter(self.folder, f'[owners]\nfile = "owners.csv"\nsha256 = "{digest}"\n\n')
        page = self.open()
        shown = self.same_numbers(page, "all=2&o7=1&n3=4000")
        self.assertEqual(len(shown["answers"]["for_whom"]), 99)
        self.assertLess(len(page.get("/").text), 150_000)

    def test_without_changes_it_writes_the_same_charter(self):
        page = self.open()
        (self.folder / "same.charter.toml").write_text(page.get("/charter.toml").text)
        self.assertEqual(self.parley("charter", "hash", "same.charter.toml").stdout.split()[0],
                         self.parley("charter", "hash", "job.charter.toml").stdout.split()[0])

    def test_says_what_is_wrong_and_goes_on(self):
        page = self.open()
        for query, words in (("e0=much", "epsilon of bank-a is not a number"),
                             ("e0=-1", "epsilon"), ("n0=1.5", "not a number of rows"),
                             ("o0=1&o1=1&o2=1", "owner"), ("mechanism=magic", "mechanism"),
                             ("protocol=%22%5Bowner%5D", "protocol is not a word"), ("differ=x", "differ"),
                             ("e0=%3Cscript%3Ealert(1)%3C/script%3E", "&lt;script&gt;")):
            with self.subTest(query):
                answer = page.get("/result?" + query)
                self.assertEqual(answer.status, 200)
                self.assertIn("role=alert", answer.text)
                self.assertIn(words, answer.text)
                self.assertNotIn("<script", answer.text)
                self.assertEqual(page.get("/charter.toml?" + query).status, 422)
        self.assertIn("Who with whom", page.get("/").text)

    def test_keys_cannot_be_written_into_the_charter(self):
        page = self.open()
        for query in ("e0=1%0Arows%3D5", 'protocol=sync%22%0Arounds%3D99%0Ax%3D%22',
                      "mechanism=laplace%22%0Aevaluate%3D0.5%0A%23", "delta=1%0Ax%3D2&mechanism=gaussian"):
            self.assertIn("role=alert", page.get("/result?" + query).text)

    def test_names_from_the_charter_are_text(self):
        """Of the target, a column, and what the job is for; owners, learner and charter may have plain names only."""
        evil = "<img src=x onerror=alert(1)>\"'&"
        pilot = (self.folder / "pilot.csv").read_text()
        quoted = '"' + evil.replace('"', '""') + '"'
        (self.folder / "pilot.csv").write_text(pilot.replace("pc10,int_rate", f"{quoted},{quoted.replace('x ', 'y ')}", 1))
        string = json.dumps(evil)
        write_charter(self.folder, **{'"pc10"': string, '"int_rate"': string.replace("x ", "y "),
                                      'purpose    = "': f'purpose    = {string[:-1]}'})
        page = self.open()
        for path in ("/", "/result", "/sentences?"):
            answer = page.get(path)
            self.assertEqual(answer.status, 200, path)
            self.assertNotIn("<img src", answer.text, path)
        self.assertIn(html.escape(evil, quote=False).split('"')[0], page.get("/sentences?").text, "they are shown")

    def test_what_it_cannot_explore(self):
        (self.folder / "pilot.csv").unlink()
        self.assertIn("pilot", self.parley("explore", "job.charter.toml", expect=2).stderr)


class Door(InPage):
    def test_a_link_works_once(self):
        page = self.open()
        path = page.link[page.link.index("/enter"):]
        self.assertEqual(page.ask("GET", path, headers={"Cookie": None}).status, 403)
        following = page.next_link()
        self.assertNotEqual(following, page.link)
        self.assertEqual(page.get(following[following.index("/enter"):]).status, 303)

    def test_nobody_sees_anything_without_it(self):
        page = self.open(sign_in=False)
        for path in ("/", "/result", "/forecast.json", "/charter.toml", "/?e0=1"):
            answer = page.get(path)
            self.assertEqual(answer.status, 401)
            self.assertNotIn("bank-a", answer.text)

    def test_cookie_and_headers(self):
        page = self.open(sign_in=False)
        answer = page.get(page.link[page.link.index("/enter"):])
        self.assertIn("HttpOnly", answer.headers["set-cookie"])
        self.assertIn("SameSite=Strict", answer.headers["set-cookie"])
        self.assertTrue(answer.headers["content-security-policy"].startswith("default-src 'none'"))

    def test_a_stolen_cookie_is_worthless_after_leaving(self):
        page = self.open()
        self.assertEqual(page.post("/leave", {"token": page.token()}).status, 200)
        self.assertEqual(page.get("/").status, 401)

    def test_cross_site_posts(self):
        page = self.open()
        token = page.token()
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Origin": "null"}, {"Content-Type": "text/plain"}):
            self.assertEqual(page.post("/leave", {"token": token}, headers).status, 403)
        self.assertEqual(page.post("/leave", {}).status, 403)
        self.assertEqual(page.post("/leave", {"token": "0" * 64}).status, 403)
        self.assertEqual(page.get("/").status, 200)

    def test_other_names_of_this_machine(self):
        page = self.open()
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", ""):
            self.assertIn(page.get("/", Host=host).status, (400, 421))
        self.assertEqual(page.get("/", Host="localhost:1").status, 200)

    def test_path_tricks(self):
        page = self.open()
        for path in ("/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//style.css", "/style.css/..",
                     "/style.css%00", "/./", "/result/", "/RESULT", "http://evil.example/",
                     "/..;/", "/\\..\\x"):
            answer = page.get(path)
            self.assertIn(answer.status, (400, 404), path)
            self.assertNotIn("root:", answer.text)

    def test_beyond_this_machine_it_asks_for_a_name(self):
        said = self.parley("explore", "job.charter.toml", "--listen", "0.0.0.0:0", expect=2).stderr
        self.assertIn("other machines", said)
        said = self.parley("explore", "job.charter.toml", "--person-header", "X-User", expect=2).stderr
        self.assertIn("Unix socket", said)

    def test_ends_in_order(self):
        page = self.open()
        self.assertEqual(page.close(), 0)


class Hostile(InPage):
    MEMORY_MB = 30

    def survives(self, page):
        self.assertTrue(page.lives())
        self.assertEqual(page.get("/").status, 200)
        self.assertLess(page.memory_mb(), self.MEMORY_MB)

    def test_two_hundred_idle_connections(self):
        page = self.open()
        idle = [page.raw() for _ in range(200)]
        self.survives(page)
        for connection in idle:
            connection.close()

    def test_two_hundred_that_have_begun(self):
        page = self.open()
        begun = [page.raw() for _ in range(200)]
        for connection in begun:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n"
                               + b"a" * 20000)
        self.survives(page)
        for connection in begun:
            connection.close()

    def endless(self, page, begin, piece, most=48 << 20):
        """Sends until the server hangs up; how much it took."""
        sent = 0
        with page.raw() as connection:
            try:
                connection.sendall(begin)
                while sent < most:
                    connection.sendall(piece)
                    sent += len(piece)
            except OSError:
                pass
        return sent

    def test_endless_bodies_and_headers(self):
        page = self.open()
        post = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        block = b"10000\r\n" + b"a" * 65536 + b"\r\n"
        header = b"".join(b"x%d: %s\r\n" % (i, b"b" * 60) for i in range(1000))
        for name, begin, piece in (
                ("chunks", post, block), ("a chunk below 0", post + b"-2\r\n", b"c" * 65536),
                ("a huge chunk", post + b"ffffffffffffffff\r\n", b"c" * 65536),
                ("headers", b"GET / HTTP/1.1\r\n", header),
                ("one header", b"GET / HTTP/1.1\r\nx: ", b"b" * 65536),
                ("the first line", b"GET /", b"a" * 65536)):
            with self.subTest(name):
                self.assertLess(self.endless(page, begin, piece), 20 << 20)
                self.survives(page)

    def test_nonsense(self):
        page = self.open()
        for bytes_ in (b"\0" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                       b"\x16\x03\x01\x02\x00" + b"\xff" * 500,
                       b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
                       b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                       b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1e9\r\n\r\n"):
            with page.raw() as connection:
                connection.sendall(bytes_)
                connection.shutdown(socket.SHUT_WR)
                self.assertNotIn(b" 200 ", drain(connection)[:20])
        self.survives(page)

    def test_many_at_once(self):
        page = self.open()
        wrong = []

        def ask():
            for _ in range(5):
                if page.get("/result?e0=0.5").status != 200:
                    wrong.append(1)
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    main()
