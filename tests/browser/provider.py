"""A small OpenID provider for tests: everybody who asks is the person that it was told."""

import base64
import http.server
import json
import re
import secrets
import ssl
import subprocess
import threading
import time
import urllib.parse


def text64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Provider:
    """Signs with RS256, by the openssl command."""

    def __init__(self, folder, person):
        self.key, self.person, self.nonces = folder / "provider.pem", person, {}
        self.certificate = folder / "provider.crt"  # One key for TLS and for signing.
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key,
                        "-out", self.certificate, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                provider.get(self)

            def do_POST(self):
                provider.post(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request, value):
        body = json.dumps(value).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def get(self, request):
        where = urllib.parse.urlsplit(request.path)
        if where.path == "/keys":
            modulus = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"],
                                     check=True, capture_output=True, text=True).stdout
            number = bytes.fromhex(re.search("=([0-9A-F]+)", modulus)[1])
            return self.answer(request, {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1",
                                                   "n": text64(number), "e": "AQAB"}]})
        asked = dict(urllib.parse.parse_qsl(where.query))
        code = secrets.token_urlsafe()
        self.nonces[code] = asked.get("nonce", "")
        request.send_response(302)
        request.send_header("Location", asked["redirect_uri"] + "?" + urllib.parse.urlencode(
            {"code": code, "state": asked["state"]}))
        request.end_headers()

    def post(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        nonce = self.nonces.pop(dict(urllib.parse.parse_qsl(body))["code"])
        now = int(time.time())
        claims = {"iss": self.url, "sub": "17", "aud": "parley", "email": self.person, "iat": now,
                  "exp": now + 300, "nonce": nonce}
        signed = ".".join(text64(json.dumps(part).encode())
                          for part in ({"alg": "RS256", "kid": "1"}, claims))
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], check=True,
                                   input=signed.encode(), capture_output=True).stdout
        self.answer(request, {"access_token": "x", "token_type": "Bearer",
                              "id_token": signed + "." + text64(signature)})
