"""Every picture of docs/pictures is what docs/pictures/draw.py draws; demo.svg is `parley demo`'s, checked in its test; screens
(.png) are taken by tests/browser/stories.mjs."""

import importlib.util
import xml.dom.minidom

OTHERS = {"demo.svg"}
SCREEN_BYTES = 100_000


def drawn(root):
    """{name: SVG text}."""
    script = importlib.util.spec_from_file_location("draw", root / "docs/pictures/draw.py")
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    return module.pictures()


def check(root):
    folder = root / "docs/pictures"
    expected = drawn(root)
    for name, text in expected.items():
        xml.dom.minidom.parseString(text)
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            yield f"docs/pictures/{name} is not what draw.py draws (tests/docs --write mends it)"
    for path in sorted(folder.glob("*.svg")):
        if path.name not in expected and path.name not in OTHERS:
            yield f"docs/pictures/{path.name} has no script"
    stories = (root / "tests/browser/stories.mjs").read_text(encoding="utf-8")
    for path in sorted(folder.glob("*.png")):
        if f"'{path.stem}'" not in stories:
            yield f"docs/pictures/{path.name} is not taken by tests/browser/stories.mjs"
        if path.stat().st_size > SCREEN_BYTES:
            yield f"docs/pictures/{path.name} has more than {SCREEN_BYTES} bytes"


def write(root):
    for name, text in drawn(root).items():
        (root / "docs/pictures" / name).write_text(text, encoding="utf-8")
