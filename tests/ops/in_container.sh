#!/bin/bash
# What tests/ops/systemd.py has done inside its container, step by step; the last line is "all steps".
set -uo pipefail
owner=parley-owner@bank-a.service

fail() {
  echo "FAILED: $*"
  journalctl --no-pager -n 60 -u 'parley-*'
  exit 1
}
until_true() {  # until_true SECONDS WHAT COMMAND...
  local i
  for ((i = 0; i < $1 * 5; i++)); do
    "${@:3}" > /dev/null 2>&1 && return
    sleep 0.2
  done
  fail "not within $1 s: $2"
}
value() { systemctl show -p "$2" --value "$1"; }
is() { [ "$(value "$1" "$2")" = "$3" ]; }
other_pid() { local now; now=$(value $owner MainPID); [ "$now" != 0 ] && [ "$now" != "$1" ] && is $owner ActiveState active; }
said() { journalctl --no-pager -u $owner | grep -q "$1"; }

ip link set lo up 2> /dev/null || true
chown -R parley:parley /etc/parley/*/
chmod -R u=rwX,go= /etc/parley/*/
chmod 0644 /srv/*
chown -R parley:parley /var/lib/parley/tokens
chown -R root:root /root/keys
chmod -R go= /root/keys
for name in bank-a bank-b bank-c; do
  install -d -o parley -g parley -m 0700 /var/lib/parley/$name /var/lib/parley/$name/charters
  cp -r /charter/. /var/lib/parley/$name/charters/
  chown -R parley:parley /var/lib/parley/$name
done

systemctl enable --now parley-owner@bank-a parley-owner@bank-b parley-owner@bank-c || fail "owners do not start"
systemctl start parley-learner@loans || fail "the learner does not start"
is $owner ActiveState active || fail "not active"
echo "started: $(value $owner StatusText)"
until_true 120 "a model" test -e /var/lib/parley/loans/job/model.json
until_true 60 "the learner's end" is parley-learner@loans ActiveState inactive
is parley-learner@loans Result success || fail "the learner: $(value parley-learner@loans Result)"
test -e /var/lib/parley/receipts/bank-a.receipt.pb || fail "the learner keeps no receipt for later jobs"
echo "a job of three services and a learner: done"

pin=/run/credentials/$owner/pin
runuser -u parley -- cat /etc/parley/token.pin > /dev/null 2>&1 && fail "the daemon's user can read the PIN's file"
ls -l /run/credentials/$owner /run/credentials/parley-owner@bank-b.service
runuser -u nobody -- cat $pin > /dev/null 2>&1 && fail "anybody can read the PIN"
echo "bank-a's and the learner's keys were on a token, the PIN a credential of the unit"
runuser -u parley -- env SOFTHSM2_CONF=/etc/parley/softhsm2.conf parley owner withdraw /etc/parley/bank-a/policy.toml \
  /var/lib/parley/bank-a/charters/job.charter.toml --reason "it is over" || fail "no decision is signed by the key on the token"
runuser -u parley -- parley owner withdraw /etc/parley/bank-b/policy.toml \
  /var/lib/parley/bank-b/charters/job.charter.toml --reason "it is over" || fail "no decision is signed by the key in a credential"
cp /root/keys/longer.crt /etc/parley/bank-b/bank-b.crt
bank_b_said() { journalctl --no-pager -u parley-owner@bank-b | grep -q "$1"; }
until_true 20 "bank-b's new certificate is read" bank_b_said "our certificate was read again"
echo "bank-b's keys were credentials, and its longer certificate was read again while it ran"
runuser -u parley -- parley owner status /etc/parley/bank-a/policy.toml || fail "no status"

sed -i 's/epsilon_max = 4/epsilon_max = 3/' /etc/parley/bank-a/policy.toml
systemctl reload $owner || fail "no reload"
until_true 20 "the policy is read again" said "policy"
echo "reloaded: $(journalctl --no-pager -o cat -u $owner | grep policy | tail -1)"

before=$(value $owner MainPID)
kill -KILL "$before"
until_true 40 "a restart after kill -9" other_pid "$before"
is $owner NRestarts 1 || fail "restarts: $(value $owner NRestarts)"
echo "restarted after kill -9"

mkdir -p /etc/systemd/system/$owner.d
printf '[Service]\nWatchdogSec=4\nRestartSec=1\n' > /etc/systemd/system/$owner.d/quick.conf
systemctl daemon-reload
systemctl restart $owner || fail "no restart"
before=$(value $owner MainPID)
sleep 6
is $owner MainPID "$before" || fail "the watchdog ends a daemon that is well"
kill -STOP "$before"
until_true 40 "the watchdog acts on a stopped process" other_pid "$before"
said "Watchdog timeout" || fail "it was not the watchdog"
echo "the watchdog ended a stopped process, and it runs again"

before=$(value $owner MainPID)
mkdir -p /newer && dpkg-deb -R /parley.deb /newer && sed -i 's/^Version: .*/&+1/' /newer/DEBIAN/control
sed -i 's/^TimeoutStopSec=60/TimeoutStopSec=61/' /newer/lib/systemd/system/parley-owner@.service
dpkg-deb --root-owner-group -b /newer /newer.deb > /dev/null
dpkg -i /newer.deb > /dev/null 2>&1 || fail "no upgrade"
until_true 20 "a restart after an upgrade" other_pid "$before"
is $owner TimeoutStopUSec "1min 1s" || fail "it runs by the unit of the older package"
echo "upgraded under way, and it runs again"

systemctl stop $owner || fail "no stop"
is $owner ActiveState inactive || fail "after stop: $(value $owner ActiveState)"
is $owner Result success || fail "after stop: $(value $owner Result)"
[ "$(value parley-owner@bank-b NRestarts)" = 0 ] || fail "bank-b was restarted"
parley ledger verify /var/lib/parley/bank-a/ledger.db || fail "the ledger"
echo "stopped; its ledger is whole"

for unit in parley-owner@bank-a parley-learner@loans; do
  systemd-analyze security $unit | tail -1
  systemd-analyze security --threshold=20 $unit > /dev/null || fail "$unit is exposed"
done
echo 0000-0000 > /etc/parley/token.pin
systemctl start $owner && fail "it starts with a wrong PIN"
is $owner ExecMainStatus 2 || fail "a wrong PIN: $(value $owner ExecMainStatus)"
sleep 3
is $owner ActiveState failed || fail "a wrong PIN is tried again: $(value $owner ActiveState)"
echo "a wrong PIN is tried once: $(journalctl --no-pager -o cat -u $owner | grep 'a token locks itself' | tail -1)"
printf '%s\n' '8275-0461' > /etc/parley/token.pin
systemctl reset-failed $owner

systemctl start $owner || fail "no start"
dpkg --remove parley > /dev/null 2>&1 || fail "no removal"
is $owner ActiveState inactive || fail "it outlives its program"
test -e /var/lib/parley/bank-a/ledger.db || fail "the ledger is gone"
echo "removed: its daemons have stopped, the ledger is there"
echo "all steps"
