#!/usr/bin/env bash
# life.sh CHROOT PACKAGES: the packages are installed, upgraded, removed and purged; the ledger survives all of it but
# a purge to which a person said yes.
set -euo pipefail
chroot=$1
packages=$2
ledger=$chroot/var/lib/parley/bank-a/ledger.db
here=$(dirname "${BASH_SOURCE[0]}")

inside() { chroot "$chroot" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
apt() { inside apt-get -qq --yes --no-install-recommends "$@" > "$chroot/apt.log" 2>&1 || { cat "$chroot/apt.log" >&2; exit 1; }; }
fail() { echo "$*" >&2; exit 1; }
untouched() {  # untouched WHEN
  [ -e "$ledger" ] || fail "the ledger is gone after $1"
  [ "$(sha256sum < "$ledger")" = "$before" ] || fail "the ledger has changed after $1"
  [ -e "$chroot/etc/parley/bank-a/policy.toml" ] || fail "the policy is gone after $1"
  echo "after $1 ledger and policy are there"
}

mkdir -p "$chroot/packages"
cp "$packages"/parley_*.deb "$chroot/packages/parley.deb"
cp "$packages"/libparley-c1_*.deb "$chroot/packages/library.deb"
apt update
apt install /packages/parley.deb /packages/library.deb
inside parley --version
inside id parley
[ -e "$chroot/lib/systemd/system/parley-owner@.service" ]
[ -e "$chroot/usr/share/man/man1/parley-owner.1.gz" ]
inside python3 --version > /dev/null 2>&1 && fail "the program brought Python along"
[ "$(inside stat -c '%a %G' /etc/parley)" = "750 parley" ] || fail "/etc/parley is readable for others"

mkdir -p "$chroot/var/lib/parley/bank-a" "$chroot/etc/parley/bank-a"
cp "$here/../golden/ledger-format-2.db" "$ledger"
inside parley ledger verify /var/lib/parley/bank-a/ledger.db
before=$(sha256sum < "$ledger")

# PostgreSQL's library is not there, which is said by its name, and is found when it is.
cat > "$chroot/etc/parley/bank-a/policy.toml" << 'POLICY'
[owner]
name = "bank-a"
state = "/var/lib/parley/bank-a"
charters = "/var/lib/parley/bank-a/charters"
[identity]
consortium = "banks.example"
certificate = "bank-a.crt"
key = "bank-a.key"
authority = "authority.crt"
sign_key = "bank-a.sign"
[[dataset]]
name = "loans"
source = "postgres"
dsn = "host=/nowhere"
query = "select 1"
[dataset.budget]
epsilon = 1
delta = 0.0
pure = 1
[[accept]]
consortium = "banks.example"
dataset = "loans"
epsilon_max = 1
person = false
POLICY
describe() { inside parley data describe --charter /usr/share/doc/parley/examples/three-banks.charter.toml --policy /etc/parley/bank-a/policy.toml 2>&1 || true; }
describe | grep -q "libpq.so.5" || fail "without libpq: $(describe)"
apt install libpq5
describe | grep -q "cannot connect" || fail "with libpq: $(describe)"

# A newer version: the same files under the next number.
rm -rf "$chroot/packages/newer"
dpkg-deb -R "$chroot/packages/parley.deb" "$chroot/packages/newer"
sed -i 's/^Version: .*/&+1/' "$chroot/packages/newer/DEBIAN/control"
dpkg-deb --root-owner-group -b "$chroot/packages/newer" "$chroot/packages/newer.deb" > /dev/null
apt install /packages/newer.deb
inside dpkg-query -W parley
untouched "an upgrade"
apt remove parley
inside sh -c 'command -v parley' && fail "the program is still there"
untouched "a removal"
apt install /packages/newer.deb
apt purge parley
untouched "a purge to which nobody said yes"
apt install /packages/newer.deb
echo "parley parley/purge-ledgers boolean true" | inside debconf-set-selections
apt purge parley
if [ -e "$chroot/var/lib/parley" ] || [ -e "$chroot/etc/parley" ]; then fail "purged, and still there"; fi
echo "after a purge to which a person said yes they are gone"
