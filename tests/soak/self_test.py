"""Whether the checks find what they are for: after a job without faults, one violation of each kind is
planted, and must be found."""

import pathlib
import subprocess
import tempfile
import threading

import checks
from job import Fleet
from plan import Plan


def planted(world):
    """(what is planted, how, how it is taken away again, which check must find it)"""
    left = world.folder / "job" / "model.json.tmp123"
    log = world.folder / "bank-a.log"
    plain = log.read_bytes()
    model = world.folder / "job" / "model.json"
    whole = model.read_bytes()
    ledger = world.folder / "bank-a" / "state" / "ledger.db"
    book = ledger.read_bytes()
    other = world.folder / "bank-b" / "state" / "ledger.db"
    report = checks.verified(world, world.jobs()[0])
    spent = report["owners"][0]
    rich = {**spent, "epsilon_claimed": spent["epsilon_claimed"] / 2}
    twice = {**report, "owners": [{**spent, "answers": spent["answers"] - 1}]}
    return [
        ("a file", lambda: left.write_text("half"), left.unlink,
         lambda: checks.no_file_is_left(world.folder)),
        ("an escape in a log", lambda: log.write_bytes(plain + b"\x1b[2J"),
         lambda: log.write_bytes(plain), lambda: checks.logs_are_plain(world)),
        ("another model", lambda: model.write_bytes(whole.replace(b'"theta": [', b'"theta": [1,', 1)),
         lambda: model.write_bytes(whole), lambda: checks.verified(world, world.jobs()[0])),
        ("another's ledger", lambda: ledger.write_bytes(other.read_bytes()),
         lambda: ledger.write_bytes(book), lambda: checks.verified(world, world.jobs()[0])),
        ("a payment too many", lambda: None, lambda: None,
         lambda: checks.payments_are_right(world, twice)),
        ("a claim too small", lambda: None, lambda: None,
         lambda: checks.epsilon_is_not_understated(world, rich, ledger)),
    ]


def process_is_found(folder):
    process = subprocess.Popen(["sleep", "60"], cwd=folder)
    try:
        return found(lambda: checks.no_process_is_left(folder))
    finally:
        process.kill()
        process.wait()


def found(check):
    try:
        check()
    except AssertionError:
        return True
    return False


def exits_are_found(fleet):
    return all(found(lambda code=code: checks.exit_is_clear(fleet, "bank-a", code))
               for code in (-11, 1, 2, 3, 5))


def run(place):
    """1 if something was not found."""
    (place / "made").mkdir()
    with tempfile.TemporaryDirectory(dir=place) as folder:
        fleet = Fleet(Plan(0, "sync", []), pathlib.Path(folder), place / "made", threading.Event())
        try:
            fleet.play()
            checks.all_of(fleet)
            missed = []
            for what, plant, remove, check in planted(fleet.world):
                plant()
                if not found(check):
                    missed.append(what)
                remove()
            checks.all_of(fleet)  # Nothing of it is left.
            missed += [] if process_is_found(fleet.world.folder) else ["a process"]
            missed += [] if exits_are_found(fleet) else ["an exit status"]
        finally:
            fleet.close()
    print(f"not found: {missed}" if missed else "every planted violation is found")
    return 1 if missed else 0
