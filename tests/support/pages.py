"""A command with a page in a browser, and a client that can also send what no browser would."""

import http.client
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

from parley import BINARY


def free_port():
    """For what cannot be told to take any; somebody else may be faster."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Page:
    """Starts `parley ARGUMENTS` and signs in, unless told not to."""

    def __init__(self, *arguments, cwd, sign_in=True):
        self.process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=cwd, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.open(self.next_link(), sign_in)

    def open(self, link, sign_in):
        self.link = link
        where = urllib.parse.urlsplit(self.link)
        self.address = (where.hostname, where.port)
        self.host = where.netloc
        self.cookie = ""
        if sign_in:
            self.sign_in()

    def next_link(self):
        """The next that the terminal shows."""
        patience = threading.Timer(60, self.process.kill)
        patience.start()
        self.process.stdout.readline()  # a sentence, then the link
        line = self.process.stdout.readline()
        patience.cancel()
        if not line.startswith("http"):
            raise AssertionError("no link: " + line + self.process.stderr.read())
        return line.strip()

    def sign_in(self):
        answer = self.get(self.link[self.link.index("/enter"):])
        assert answer.status == 303, answer.status
        self.cookie = answer.headers["set-cookie"].split(";")[0]

    def ask(self, method, path, body=None, headers=None):
        """The answer, with its text in .text."""
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        given = {"Host": self.host, **({"Cookie": self.cookie} if self.cookie else {}),
                 **(headers or {})}
        connection.request(method, path, body, {k: v for k, v in given.items() if v is not None})
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, headers=headers)

    def token(self, path="/"):
        return re.search(r'name=token value="([0-9a-f]+)"', self.get(path).text)[1]

    def post(self, path, fields, headers=None):
        """As the page's own form would, unless `headers` say otherwise."""
        return self.ask("POST", path, urllib.parse.urlencode(fields),
                        {"Content-Type": "application/x-www-form-urlencoded",
                         "Origin": "http://" + self.host, "Sec-Fetch-Site": "same-origin",
                         **(headers or {})})

    def raw(self):
        return socket.create_connection(self.address, timeout=60)

    def memory_mb(self):
        """That the process holds in memory of its own: mapped files of libraries are not counted."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+)", file.read())[1]) / 1024

    def lives(self):
        return self.process.poll() is None and self.get("/style.css").status == 200

    def close(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode


class DaemonPage(Page):
    """The console inside a daemon that runs already, by the link in its state folder."""

    def __init__(self, process, link_file, sign_in=True):
        self.process, self.link_file = process, link_file
        self.open(self.next_link(), sign_in)

    def close(self):
        """It ends with its daemon."""

    def next_link(self):
        until = time.monotonic() + 60
        while not self.link_file.exists():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f"no {self.link_file}")
            time.sleep(0.05)
        return self.link_file.read_text().strip()


def drain(connection, seconds=20):
    """What comes until the server hangs up."""
    connection.settimeout(seconds)
    received, end = b"", time.monotonic() + seconds
    try:
        while time.monotonic() < end and len(received) < 1 << 20:
            piece = connection.recv(65536)
            if not piece:
                break
            received += piece
    except OSError:
        pass
    return received
