#!/usr/bin/env bash
# portable.sh CHROOT PACKAGES: the portable program needs glibc 2.34 only, and trains there the model it trains here.
set -euo pipefail
chroot=$1
packages=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
fail() { echo "$*" >&2; exit 1; }

rm -rf "$chroot/portable"
mkdir "$chroot/portable"
tar --extract --file "$packages"/parley-*-linux.tar.gz --directory "$chroot/portable" --strip-components 1
program=$chroot/portable/parley
needed=$(readelf --dynamic "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
echo "needs $needed"
[ "$needed" = "ld-linux-x86-64.so.2 libc.so.6 libm.so.6 " ] || [ "$needed" = "libc.so.6 libm.so.6 " ] || fail "needs more than glibc"
newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
echo "of glibc, up to $newest"
[ "$(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -1)" = GLIBC_2.34 ] || fail "needs $newest"
ls -l "$program"

cp "$here/examples/three-banks.charter.toml" "$chroot/portable/"
mkdir -p "$chroot/portable/data"
job=(simulate three-banks.charter.toml --standin lending --seed 7 --held-out 0)
for i in 0 1 2; do job+=(--set "owner.$i.rows=2000"); done
(cd "$chroot/portable" && ./parley --quiet "${job[@]}" --out here > /dev/null)
chroot "$chroot" sh -c 'ldd --version | head -1; cd /portable && ./parley --version && exec ./parley --quiet "$@" --out there > /dev/null' sh "${job[@]}"
cmp "$chroot/portable/here/model.json" "$chroot/portable/there/model.json"
sha256sum "$chroot/portable/there/model.json" | cut -c1-64
# An error that is thrown and caught inside: tables of the unwinder are found.
said=$(chroot "$chroot" /portable/parley charter check /portable/LICENSE 2>&1 || true)
[[ $said == *"Error while parsing"* ]] || fail "a licence is no charter: $said"
echo "the same model"
