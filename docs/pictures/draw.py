#!/usr/bin/env python3
"""Draws the pictures of the documents: `tests/docs --write` writes them, and a test compares them with the files."""

from xml.sax.saxutils import escape

INK, SOFT, LINE = "#1f2933", "#52606d", "#7b8794"
OWNER, LEARNER, PUBLIC, SECRET = "#d9e8f6", "#fde8c8", "#e3f1df", "#f7d9d9"
FONT = "font-family='Helvetica, Arial, sans-serif'"


class Picture:
    def __init__(self, width, height, title):
        self.size, self.title, self.parts = (width, height), title, []

    def text(self, x, y, words, size=13, anchor="middle", weight="normal", colour=INK):
        self.parts.append(f"<text x='{x}' y='{y}' font-size='{size}' text-anchor='{anchor}' "
                          f"font-weight='{weight}' fill='{colour}'>{escape(words)}</text>")

    def box(self, x, y, width, height, fill, lines, bold=True, size=13):
        self.parts.append(f"<rect x='{x}' y='{y}' width='{width}' height='{height}' rx='6' fill='{fill}' "
                          f"stroke='{LINE}'/>")
        top = y + height / 2 - (len(lines) - 1) * 8.5 + 4.5
        for i, line in enumerate(lines):
            first = bold and i == 0
            self.text(x + width / 2, top + 17 * i, line, size if first else size - 1,
                      weight="bold" if first else "normal", colour=INK if first else SOFT)

    def arrow(self, x1, y1, x2, y2, label="", above=True, dashed=False, where=0.5):
        dash = " stroke-dasharray='5 4'" if dashed else ""
        self.parts.append(f"<line x1='{x1}' y1='{y1}' x2='{x2}' y2='{y2}' stroke='{INK}' stroke-width='1.4'{dash} "
                          f"marker-end='url(#head)'/>")
        if label:
            self.text(x1 + (x2 - x1) * where, y1 + (y2 - y1) * where + (-6 if above else 16), label, 12, colour=SOFT)

    def line(self, x1, y1, x2, y2, dashed=False):
        dash = " stroke-dasharray='4 4'" if dashed else ""
        self.parts.append(f"<line x1='{x1}' y1='{y1}' x2='{x2}' y2='{y2}' stroke='{LINE}'{dash}/>")

    def svg(self):
        width, height = self.size
        head = ("<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='8' markerHeight='8' orient='auto'>"
                f"<path d='M0,0 L8,4 L0,8 z' fill='{INK}'/></marker></defs>")
        return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
                f"{FONT} role='img'><title>{escape(self.title)}</title>\n"
                f"<rect width='{width}' height='{height}' fill='#ffffff'/>{head}\n" + "\n".join(self.parts) + "\n</svg>\n")


def layers():
    rows = [("apps", "command line, Python"), ("studies", "the papers' figures, not installed"),
            ("api", "public headers, C interface"), ("report", "text, JSON, pages"),
            ("forecast, audit", "what a job is worth; attacks on ourselves"),
            ("sim | net", "all parties in one process | TLS between processes"),
            ("protocol", "state machines: bytes in, bytes out"),
            ("wire", "messages; encodes public, released and masked values only"),
            ("gate", "the one place that makes an answer of records"),
            ("plan", "every number that follows from a charter"),
            ("ledger | charter", "charges and answers | TOML and its hash"),
            ("privacy | learn", "noise, budgets | losses, lattice, steps"),
            ("data", "rows, schema, readers"), ("base", "results, bytes, entropy, files")]
    private = {"gate", "data"}
    picture = Picture(640, 66 + 36 * len(rows), "Layers of the code")
    picture.text(320, 24, "A layer may include those below it only (tests/tidy.py checks it).", 13, colour=SOFT)
    picture.text(320, 42, "Red: private records at an owner.", 13, colour=SOFT)
    for i, (name, what) in enumerate(rows):
        y, colour = 56 + 36 * i, SECRET if name in private else OWNER
        picture.parts.append(f"<rect x='20' y='{y}' width='600' height='30' rx='5' fill='{colour}' stroke='{LINE}'/>")
        picture.text(36, y + 20, name, 13, "start", "bold")
        picture.text(200, y + 20, what, 12.5, "start", colour=SOFT)
    return picture


def parties():
    picture = Picture(860, 400, "Parties, and the road of data at an owner")
    picture.parts.append(f"<rect x='14' y='14' width='560' height='372' rx='10' fill='#f7f9fb' stroke='{LINE}'/>")
    picture.text(30, 38, "An owner: its records never leave this frame", 13, "start", "bold")
    stops = [("Raw", "records", SECRET), ("Bounded", "clipped integer sum", SECRET), ("Released", "noisy, charged, on disk", PUBLIC)]
    for i, (name, what, colour) in enumerate(stops):
        picture.box(34 + 184 * i, 96, 150, 56, colour, [name, what])
    picture.arrow(184, 124, 216, 124)
    picture.text(200, 84, "gate: clip, add", 12, colour=SOFT)
    picture.arrow(368, 124, 400, 124)
    picture.text(384, 84, "ledger: pay, noise", 12, colour=SOFT)
    picture.box(34, 220, 150, 56, OWNER, ["files, database", "named in the policy"])
    picture.arrow(109, 220, 109, 154)
    picture.box(218, 220, 150, 56, OWNER, ["policy", "budget, who may ask"])
    picture.arrow(293, 220, 293, 154)
    picture.box(402, 220, 150, 56, OWNER, ["ledger", "every charge, chained"])
    picture.arrow(477, 154, 477, 218)
    picture.text(294, 316, "Each stop is a type, each arrow one function; a shortcut does not compile.", 12.5, colour=SOFT)
    picture.text(294, 340, "The answer leaves after its charge is on disk.", 12.5, colour=SOFT)
    picture.box(660, 60, 180, 60, LEARNER, ["learner", "steps, model; no records"])
    picture.box(660, 168, 140, 60, OWNER, ["other owners", "the same at each"])
    picture.box(660, 290, 180, 60, PUBLIC, ["auditor", "parley verify: all again"])
    picture.arrow(554, 112, 656, 92)
    picture.arrow(656, 108, 556, 136)
    picture.text(664, 44, "answers, questions", 12, "start", colour=SOFT)
    picture.arrow(730, 168, 730, 124)
    picture.arrow(820, 122, 820, 286, dashed=True)
    picture.text(812, 260, "transcript", 12, "end", colour=SOFT)
    picture.box(600, 20, 36, 352, PUBLIC, [])
    picture.parts.append(f"<text transform='translate(623 196) rotate(-90)' font-size='13' text-anchor='middle' "
                         f"fill='{INK}'>charter: what all agreed on, by its hash</text>")
    return picture


def messages(title, names, steps):
    """A message diagram: names are the columns, steps (from, to, label) or (None, None, remark)."""
    width = 240 * len(names) - 20
    picture = Picture(width, 96 + 40 * len(steps), title)
    xs = [110 + 240 * i for i in range(len(names))]
    bottom = 78 + 40 * len(steps)
    for x, (name, colour) in zip(xs, names):
        picture.line(x, 52, x, bottom, dashed=True)
        picture.box(x - 78, 16, 156, 36, colour, [name])
    for i, (source, target, label) in enumerate(steps):
        y = 88 + 40 * i
        if source is None:
            at = xs[target] if target is not None else width / 2
            lengths = 7.0 * len(label) + 16
            picture.parts.append(f"<rect x='{at - lengths / 2}' y='{y - 17}' width='{lengths}' height='22' rx='4' "
                                 f"fill='#f0f4f8' stroke='{LINE}'/>")
            picture.text(at, y - 2, label, 12)
        else:
            picture.arrow(xs[source], y, xs[target] + (-2 if xs[target] > xs[source] else 2), y, label)
    return picture


def sync():
    return messages("Protocol sync", [("learner", LEARNER), ("every owner", OWNER)], [
        (None, None, "every round k"),
        (0, 1, "question: model θ[k]"),
        (None, 1, "clip, add, noise, pay"),
        (1, 0, "noisy sum, signed receipt"),
        (None, 0, "step, average"),
        (None, None, "after the last round"),
        (0, 1, "final model"),
        (1, 0, "noisy loss (privacy.evaluate)")])


def asynchronous():
    return messages("Protocol async", [("learner", LEARNER), ("owner i", OWNER)], [
        (None, 1, "its clock ticks"),
        (1, 0, "request"),
        (0, 1, "question: (θ_L + θ_i)/2"),
        (None, 1, "clip, add, noise, pay"),
        (1, 0, "noisy sum, signed receipt"),
        (None, 0, "moves θ_i and θ_L"),
        (None, None, "then the next owner that comes; each at most `answers` times")])


def federated():
    return messages("Protocol federated, and sync in secure sums", [("learner", LEARNER), ("owner i", OWNER), ("other owners", OWNER)], [
        (1, 0, "signature of the charter"),
        (0, 1, "all signatures, model θ"),
        (1, 2, "keys, shares of secrets (sealed)"),
        (None, 1, "K local steps, noise share, pay"),
        (1, 0, "masked vector"),
        (0, 1, "list of survivors"),
        (1, 0, "signed consent"),
        (1, 0, "shares that open the masks"),
        (None, 0, "the sum, and nothing else"),
        (0, 1, "new model, next round")])


def sharing():
    return messages("Protocol sharing", [("learner (dealer)", LEARNER), ("owner i", OWNER), ("other owners", OWNER)], [
        (1, 2, "digest of record ids"),
        (0, 1, "seed of masks"),
        (1, 2, "masked columns, once (sealed)"),
        (None, None, "every round"),
        (0, 1, "seeds, masked noise"),
        (None, 1, "pay"),
        (1, 2, "masked scores (sealed)"),
        (2, 1, "product shares (sealed)"),
        (None, 1, "its part of a noisy gradient"),
        (1, 0, "receipts; at the end a manifest")])


def pictures():
    drawn = {"layers": layers, "parties": parties, "sync": sync, "async": asynchronous, "federated": federated,
             "sharing": sharing}
    return {f"{name}.svg": draw().svg() for name, draw in drawn.items()}
