"""What must hold after every job, whatever befell it."""

import json
import os
import pathlib

from parley import run
from worlds import LEARNER

MACHINE, INVALID, POLICY, UNAVAILABLE, INTEGRITY = 1, 2, 3, 4, 5  # exit statuses
LEFT_OVER = ("*.tmp*", "*.unfinished", "*-journal", "*-wal")
SLACK = 1e-9  # relative, of sums that are rounded up in another order


def must_hold(holds, what):
    if not holds:
        raise AssertionError(what)


# Processes.

def allowed_exits(plan, name):
    """Besides 0 and UNAVAILABLE, which may always be: whose fault may stop a party for which reason."""
    allowed = {0, UNAVAILABLE}
    if any(fault.whom == name for fault in plan.befalls("disk", "memory", "descriptors")):
        allowed.add(MACHINE)
    if plan.befalls("expired", "clock"):  # Its own papers, or those of whom it meets.
        allowed |= {INTEGRITY, POLICY}
    if any(name in fault.whom for fault in plan.befalls("hostile_learner")):
        allowed |= {MACHINE, INVALID, POLICY, INTEGRITY}  # A learner chooses why it ends a job.
    return allowed


def exit_is_clear(fleet, name, code):
    log = fleet.world.consortium.log(name)
    last = log.splitlines()[-1] if log else ""
    must_hold(code >= 0, f"{name} ended by signal {-code}: {last}")
    allowed = allowed_exits(fleet.plan, name) | (set() if fleet.world.broke_off() is None else {INTEGRITY})
    must_hold(code in allowed, f"{name} ended with {code}: {last}")
    if code:
        said = fleet.world.consortium.output(name) + log
        must_hold(said.strip(), f"{name} ended with {code} and not a word")


def no_process_is_left(folder):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            where = os.readlink(process / "cwd")
        except OSError:
            continue
        must_hold(not where.startswith(str(folder)), f"process {process.name} is left")


# Files.

def no_file_is_left(folder, full=()):
    """Of a disk that was full at the end, what SQLite could not put into its place stays beside it."""
    left = [file for pattern in LEFT_OVER for file in folder.rglob(pattern)
            if not (file.parent in full and file.name.endswith("-wal"))]
    must_hold(not left, f"left behind: {', '.join(str(f.relative_to(folder)) for f in left)}")


def logs_are_plain(world):
    for name in world.parties():
        log = (world.folder / f"{name}.log").read_bytes()
        odd = {byte for byte in log if byte < 32 and byte != 10 or byte == 127}
        must_hold(not odd, f"control characters {sorted(odd)} in the log of {name}")


# Results.

def asked(world, *arguments):
    done = run("--json", "--quiet", *arguments, cwd=world.folder)
    must_hold(done.returncode == 0, f"{arguments[0]} {arguments[1]}: exit {done.returncode}: "
              f"{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def ledgers(world):
    return {owner: world.folder / owner / "state" / "ledger.db" for owner in world.owners}


def verified(world, job):
    """The report on one transcript against all ledgers."""
    given = [word for owner, file in ledgers(world).items() if file.exists()
             for word in ("--ledger", f"{owner}={file}")]
    report = asked(world, "verify", job / world.result, job / "transcript.pb.zst",
                   world.consortium.charter, *given)
    must_hold(report["verified"], f"not verified: {report['findings']}")
    must_hold(report["recomputed"] or report["in_parts"], "the model was not recomputed")
    return report


def paid_at_most(world, times):
    for name, file in ledgers(world).items():
        rows = asked(world, "ledger", "verify", file)["rows"] if file.exists() else 0
        must_hold(rows - 1 <= times, f"{name} paid {rows - 1} times for a job that broke off")


def payments_are_right(world, report):
    for owner in report["owners"]:
        name, file = owner["name"], ledgers(world)[owner["name"]]
        must_hold(world.all_answers(owner), f"{name} gave {owner['answers']} answers")
        if not file.exists():
            must_hold(owner["answers"] == 0, f"{name} answered without a ledger")
            continue
        seen = asked(world, "ledger", "verify", file)
        must_hold(seen["whole"] and seen["missing"] == 0, f"the ledger of {name} is not whole")
        least, most = world.paid(owner)
        must_hold(least <= seen["rows"] - 1 <= most,
                  f"{name} paid {seen['rows'] - 1} times, not {least} to {most}")
        epsilon_is_not_understated(world, owner, file)


def epsilon_is_not_understated(world, owner, file):
    """By the receipts, of the charter, and against the ledger's own sum."""
    claimed, again = owner["epsilon_claimed"], owner["epsilon"]
    must_hold(claimed >= again * (1 - SLACK), f"{owner['name']} claims {claimed}, spent {again}")
    must_hold(again <= owner["epsilon_charter"] * (1 + SLACK), f"{owner['name']} spent {again}")
    charges = asked(world, "ledger", "show", file)
    spent = sum(row["cost"] for row in charges["rows"] if row["track"] == "pure")
    pure = charges["datasets"][0]["pure"]["spent"]
    must_hold(pure >= spent * (1 - SLACK), f"the ledger of {owner['name']} says {pure}, not {spent}")
    if not spent == 0:  # Pure charges add up; others are converted by the accountant of `verify`.
        must_hold(spent >= again * (1 - SLACK), f"{owner['name']} booked {spent} of {again}")


def all_were_told_the_same(fleet):
    told = set()
    for name in fleet.world.owners:
        said = fleet.world.told(name)
        if said and "jobs" in said and said["jobs"][0].get("model"):
            told.add(said["jobs"][0]["model"])
    if LEARNER in fleet.processes:
        told.add(fleet.world.told(LEARNER)["model_sha256"])
    lied_to = [f for f in fleet.plan.befalls("hostile_learner") if f.how == "false_end"]
    must_hold(len(told) <= 1 or lied_to, f"several models were told: {told}")


def all_of(fleet):
    world = fleet.world
    if world.broke_off() is not None:
        paid_at_most(world, world.broke_off())
        fleet.count("jobs that broke off, as they may")
    else:
        for report in [verified(world, job) for job in world.jobs()]:
            payments_are_right(world, report)
        all_were_told_the_same(fleet)
    no_file_is_left(world.folder, [world.disk(f.whom) for f in fleet.plan.befalls("disk")])
    logs_are_plain(world)
    no_process_is_left(world.folder)
