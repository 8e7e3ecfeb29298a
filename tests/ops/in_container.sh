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
echo "a job of three services and a learner: done"
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
dpkg-deb --root-owner-group -b /newer /newer.deb > /dev/null
dpkg -i /newer.deb > /dev/null 2>&1 || fail "no upgrade"
until_true 20 "a restart after an upgrade" other_pid "$before"
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
systemctl start $owner || fail "no start"
dpkg --remove parley > /dev/null 2>&1 || fail "no removal"
is $owner ActiveState inactive || fail "it outlives its program"
test -e /var/lib/parley/bank-a/ledger.db || fail "the ledger is gone"
echo "removed: its daemons have stopped, the ledger is there"
echo "all steps"
