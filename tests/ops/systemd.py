"""The packaged units under a real systemd, in a container: systemd.py ROOT PACKAGE

ROOT is a Debian system with systemd, as debootstrap makes it; it is changed. Three owners and a learner run a job as
services: bank-a's and the learner's keys are on a token, whose PIN is a credential of the unit, bank-b's are such
credentials themselves, bank-c's are files. Then an owner is reloaded, killed, stopped in its tracks, upgraded and stopped.
in_container.sh has the steps.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from consortium import OWNERS, must
from tokens import PIN, OnTokens, Token

HERE = pathlib.Path(__file__).resolve().parent
UNIT = """[Unit]
Description=The steps of the test
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/bash /in_container.sh
StandardOutput=append:/result
StandardError=append:/result
ExecStopPost=/bin/systemctl poweroff --no-block
TimeoutStartSec=500
[Install]
WantedBy=multi-user.target
"""


def inside(root, *command):
    with open(root / "install.log", "a", encoding="utf8") as log:
        subprocess.run(["chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", *command], check=True, stdout=log, stderr=log)


def write_policy(consortium, root, owner):
    """As docs/how-to/run.md has it: papers in /etc/parley, state in /var/lib/parley, records in /srv."""
    consortium.write_policy(owner, members="members.pem")
    text = (consortium.folder / owner / "policy.toml").read_text()
    text = text.replace('state = "state"', f'state = "/var/lib/parley/{owner}"')
    text = text.replace('charters = "charters"', f'charters = "/var/lib/parley/{owner}/charters"')
    text = text.replace(f'"../data/{owner}.csv"', f'"/srv/{owner}.csv"')
    target = root / "etc/parley" / owner
    target.mkdir(parents=True)
    for name in (f"{owner}.crt", f"{owner}.key", f"{owner}.sign", "authority.crt"):
        shutil.copy(consortium.folder / owner / name, target)
    shutil.copy(consortium.folder / "ca/members.pem", target)
    shutil.copy(consortium.folder / "data" / f"{owner}.csv", root / "srv")
    (target / "policy.toml").write_text(text)


def credential(unit, name):
    return f"/run/credentials/{unit}.service/{name}"


def drop_in(root, unit, *lines):
    folder = root / "etc/systemd/system" / f"{unit}.service.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keys.conf").write_text("\n".join(["[Service]", *lines]) + "\n")


def keys_on_the_token(root, token, unit, files):
    """The files have addresses of keys; the PIN comes from the unit."""
    for file in files:
        file.write_text(file.read_text().replace(f"file:{token.pin}", f"file:{credential(unit, 'pin')}"))
    drop_in(root, unit, "LoadCredential=pin:/etc/parley/token.pin", "Environment=SOFTHSM2_CONF=/etc/parley/softhsm2.conf",
            "ReadWritePaths=/var/lib/parley/tokens")


def keys_as_credentials(root, consortium, owner):
    unit = f"parley-owner@{owner}"
    secrets = root / "root/keys"
    secrets.mkdir(parents=True, exist_ok=True)
    policy = root / "etc/parley" / owner / "policy.toml"
    text = policy.read_text()
    for name in (f"{owner}.key", f"{owner}.sign"):
        (root / "etc/parley" / owner / name).replace(secrets / name)
        text = text.replace(f'"{name}"', f'"{credential(unit, name)}"')
    policy.write_text(text)
    drop_in(root, unit, *(f"LoadCredential={name}:/root/keys/{name}" for name in (f"{owner}.key", f"{owner}.sign")))
    # More time for the same key; in_container.sh puts it in place under the running daemon.
    must("certs", "sign", f"{owner}/{owner}.csr", "--authority", "ca", "--days", "700", "--out", f"{owner}/longer.crt",
         cwd=consortium.folder)
    shutil.copy(consortium.folder / owner / "longer.crt", secrets)


def prepare(root, folder):
    token = Token(folder)
    consortium = OnTokens(folder, token)
    consortium.write_charter(replace=[('name = "central-bank"', 'name = "central-bank"\naddress = "127.0.0.1:7443"')])
    for owner in OWNERS:
        write_policy(consortium, root, owner)
    learner = root / "etc/parley/loans"
    learner.mkdir()
    for name in ("central-bank.crt", "central-bank.key", "authority.crt"):
        shutil.copy(consortium.folder / "central-bank" / name, learner)
    keys_on_the_token(root, token, "parley-owner@bank-a",
                      [root / "etc/parley/bank-a" / name for name in ("bank-a.key", "bank-a.sign")])
    keys_on_the_token(root, token, "parley-learner@loans", [learner / "central-bank.key"])
    keys_as_credentials(root, consortium, "bank-b")
    shutil.copytree(token.folder / "tokens", root / "var/lib/parley/tokens")
    (root / "etc/parley/softhsm2.conf").write_text(
        "directories.tokendir = /var/lib/parley/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
    (root / "etc/parley/token.pin").write_text(PIN + "\n")
    (root / "etc/parley/token.pin").chmod(0o600)
    for target in (learner, root / "charter"):
        target.mkdir(exist_ok=True)
        shutil.copy(consortium.charter, target)
        shutil.copytree(consortium.folder / "data", target / "data", ignore=shutil.ignore_patterns("bank-*"))


def main():
    root, package = pathlib.Path(sys.argv[1]), sys.argv[2]
    shutil.copy(package, root / "parley.deb")
    inside(root, "apt-get", "-qq", "update")
    inside(root, "apt-get", "-qq", "--yes", "--no-install-recommends", "install", "systemd-sysv", "dbus", "softhsm2", "/parley.deb")
    with tempfile.TemporaryDirectory() as folder:
        prepare(root, folder)
    shutil.copy(HERE / "in_container.sh", root)
    (root / "etc/systemd/system/steps.service").write_text(UNIT)
    inside(root, "systemctl", "enable", "steps.service")
    (root / "result").unlink(missing_ok=True)
    with open(root / "boot.log", "w", encoding="utf8") as log:
        subprocess.run(["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--directory", root,
                        "--boot"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=600, check=False)
    result = (root / "result").read_text(errors="replace") if (root / "result").exists() else "it did not boot"
    print(result)
    sys.exit(0 if "\nall steps\n" in result else 1)


if __name__ == "__main__":
    main()
