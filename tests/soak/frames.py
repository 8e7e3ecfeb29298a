"""What hostile parties with valid certificates say: frames and messages made by hand."""

import ctypes
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


def fields(content):
    """{field: its last value} of a message: numbers and bytes."""
    found, at = {}, 0

    def read():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = content[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(content):
        key = read()
        found[key >> 3] = read()
        if key & 7 == 2:
            size, found[key >> 3] = found[key >> 3], content[at:at + found[key >> 3]]
            at += size
    return found


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


def hear(stream):
    """The next frame: its kind and its payload."""
    def exactly(size):
        got = b""
        while len(got) < size:
            more = stream.recv(size - len(got))
            if not more:
                raise ConnectionResetError
            got += more
        return got
    head = exactly(5)
    return head[0], exactly(int.from_bytes(head[1:], "little"))


def renew_keys(stream, times):
    """TLS 1.3 KeyUpdate, which Python's module lacks: CPython keeps the handle of OpenSSL behind its
    own head and one pointer. Ends when the peer has had enough."""
    library = ctypes.CDLL("libssl.so.3")
    size = ctypes.sizeof(ctypes.c_void_p)
    handle = ctypes.c_void_p(ctypes.c_void_p.from_address(id(stream._sslobj) + 3 * size).value)
    stream.setblocking(True)
    for _ in range(times):
        if library.SSL_key_update(handle, 0) != 1 or library.SSL_do_handshake(handle) != 1:
            break
