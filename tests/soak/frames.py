"""What hostile parties with valid certificates say: frames and messages made by hand."""

import socket
import ssl

READY, OPEN, MESSAGE, ALIVE, END = range(1, 6)
HELLO, ANSWER, REFUSAL = 10, 12, 13          # bodies of FromOwner
WELCOME, QUERY, FINISHED, ABORT = 10, 11, 13, 14  # bodies of ToOwner
INTEGRITY = 5


def frame(kind, payload=b"", length=None):
    size = len(payload) if length is None else length
    return bytes([kind]) + size.to_bytes(4, "little") + payload


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def message(charter, sequence, body, content):
    """A FromOwner or a ToOwner; `charter` in hexadecimal digits."""
    return frame(MESSAGE, text(1, bytes.fromhex(charter)) + number(2, sequence) + text(body, content))


def end(what):
    return frame(END, bytes([INTEGRITY]) + len(what).to_bytes(2, "little") + what)


def context(papers=None, name=None, server=False):
    """TLS with these papers, which believes anyone."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.set_alpn_protocols(["parley/2"])
    if server:
        made.load_verify_locations(papers / "authority.crt")
        made.verify_mode = ssl.CERT_REQUIRED
    if papers is not None:
        made.load_cert_chain(papers / f"{name}.crt", papers / f"{name}.key")
    return made


def dial(port, tls, timeout=5):
    """A stream after the handshake; the peer may still refuse it."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=timeout)
    try:
        return tls.wrap_socket(plain)
    except BaseException:
        plain.close()
        raise
