#!/usr/bin/env bash
# development.sh WORK PACKAGES: somebody else's project, built with what libparley-dev and libparley-c1 have.
set -euo pipefail
work=$1
version=$(dpkg-deb --field "$2"/libparley-dev_*.deb Version)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$work"
mkdir -p "$work"
for each in "$2"/libparley-*.deb; do dpkg-deb --extract "$each" "$work/system"; done
cmake -S "$here/tests/install" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DVERSION=$version" \
  -DCMAKE_PREFIX_PATH="$work/system/usr" > /dev/null
cmake --build "$work/build" > /dev/null
ldd "$work/build/consumer" | grep -q "$work/system/usr/lib/x86_64-linux-gnu/libparley_c.so.1"
"$work/build/consumer"
