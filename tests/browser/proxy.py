#!/usr/bin/env python3
"""An owner's console behind Apache with mod_auth_openidc and an OpenID provider: the ledger has the name of who is
signed in, and nobody can be somebody else. Called by scripts/check web."""

import grp
import http.client
import os
import pathlib
import pwd
import re
import secrets
import signal
import socket
import ssl
import string
import subprocess
import sys
import tempfile
import time
import urllib.parse

from consortium import Consortium, must
from pages import free_port
from provider import Provider

HERE = pathlib.Path(__file__).resolve().parent
PERSON = "alice@bank-a.example"
failed = False


def holds(condition, what):
    global failed
    print(f"{'holds' if condition else 'DOES NOT HOLD'}: {what}")
    failed = failed or not condition


class Browser:
    """Keeps cookies by host, and follows redirects to the proxy and to the provider."""

    def __init__(self):
        self.cookies, self.headers = {}, {}

    def once(self, method, url, body=None, headers=None):
        where = urllib.parse.urlsplit(url)
        context = ssl._create_unverified_context()  # The test's own certificates.
        connection = http.client.HTTPSConnection("127.0.0.1", where.port, context=context, timeout=30)
        jar = self.cookies.setdefault(where.netloc, {})
        given = {"Host": where.netloc, "Accept": "text/html", **self.headers, **(headers or {})}
        if jar:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        connection.request(method, where.path + ("?" + where.query if where.query else ""), body, given)
        answer = connection.getresponse()
        answer.text = answer.read().decode(errors="replace")
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            jar[name] = value
        connection.close()
        return answer

    def get(self, url):
        for _ in range(10):
            answer = self.once("GET", url)
            if answer.status not in (301, 302, 303):
                return answer
            url = urllib.parse.urljoin(url, answer.headers["Location"])
        raise AssertionError("it goes in circles")


def start_apache(folder, port, sock, provider):
    root = os.geteuid() == 0
    user = "www-data" if root else pwd.getpwuid(os.geteuid()).pw_name
    group = "www-data" if root else grp.getgrgid(os.getegid()).gr_name
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "tls.key",
                    "-out", folder / "tls.crt", "-days", "2", "-subj", "/CN=decide.example"], check=True,
                   capture_output=True)
    text = string.Template((HERE / "apache.conf").read_text()).substitute(
        folder=folder, port=port, user=user, group=group, modules="/usr/lib/apache2/modules",
        provider=provider.url, passphrase=secrets.token_hex(), socket=sock)
    (folder / "apache.conf").write_text(text)
    if root:  # As a person would: the socket's group is the proxy's.
        os.chown(sock, -1, grp.getgrnam("www-data").gr_gid)
        folder.chmod(0o711)
    process = subprocess.Popen(["apache2", "-d", folder, "-f", folder / "apache.conf", "-DFOREGROUND"])
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process
        except OSError:
            time.sleep(0.1)
    raise AssertionError("Apache does not start")


def story(folder, site):
    stranger = Browser()
    answer = stranger.once("GET", site + "/", headers={"X-Forwarded-User": "mallory"})
    holds(answer.status == 302 and "bank-a" not in answer.text, "a stranger is sent to the provider, and sees nothing")
    browser = Browser()
    page = browser.get(site + "/")
    if page.status != 200:
        print(page.status, page.text[:300])
    holds(page.status == 200 and f"as {PERSON}" in page.text, "whoever signs in is known by name")
    browser.headers = {"X-Forwarded-User": "mallory"}
    page = browser.get(site + "/")
    holds(f"as {PERSON}" in page.text and "mallory" not in page.text, "a browser cannot name somebody else")
    path = re.search(r'href="(/charter\?id=[0-9a-f]{64})"', page.text)[1]
    form = next(text for text in re.findall(r'<form method=post action="/decide">.*?</form>',
                                            browser.get(site + path).text, re.DOTALL) if "value=refuse" in text)
    fields = {**dict(re.findall(r'name=(\w+) value="?([^">]*)"?', form)), "reason": "not our purpose"}
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    post = urllib.parse.urlencode(fields)
    other = browser.once("POST", site + "/decide", post, {**kind, "Origin": "https://evil.example"})
    holds(other.status == 403, "another site cannot post through the proxy")
    said = browser.once("POST", site + "/decide", post, {**kind, "Origin": site, "Sec-Fetch-Site": "same-origin"})
    holds(said.status == 303, "a word is taken")
    shown = must("ledger", "show", "bank-a/state/ledger.db", cwd=folder).stdout
    holds(f"refused by {PERSON}: not our purpose" in shown, "the ledger has the person's name and reason")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        consortium = Consortium(folder)
        policy = folder / "bank-a" / "policy.toml"
        sock = folder / "page.sock"
        policy.write_text(policy.read_text().replace("person = false", "person = true")
                          + f'[web]\nlisten = "unix:{sock}"\nhosts = ["decide.example"]\n'
                          'person_header = "X-Forwarded-User"\n')
        charters = folder / "bank-a" / "charters"
        charters.mkdir()
        (charters / "data").symlink_to(folder / "data")
        (charters / "job.charter.toml").write_text(consortium.charter.read_text())
        daemon = consortium.start("bank-a", "owner", "run", policy, "--dial", "127.0.0.1:1")
        until = time.monotonic() + 60
        while not sock.exists() and time.monotonic() < until:
            time.sleep(0.1)
        provider = Provider(folder, PERSON)
        port = free_port()
        apache = None
        try:
            apache = start_apache(folder, port, sock, provider)
            story(folder, f"https://decide.example:{port}")
            holds(sock.stat().st_mode & 0o777 == 0o660, "others on this machine cannot open the socket")
        finally:
            if failed:
                print((folder / "apache.log").read_text()[-3000:], consortium.log("bank-a"))
            for process in filter(None, (apache, daemon)):
                process.send_signal(signal.SIGTERM)
                process.wait(60)
            provider.close()
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libapache2-mod-auth-openidc"],
                             capture_output=True, text=True, check=False).stdout
    print("Apache with mod_auth_openidc", version)
    sys.exit(failed)


if __name__ == "__main__":
    main()
