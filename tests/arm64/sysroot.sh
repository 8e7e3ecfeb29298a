#!/usr/bin/env bash
# sysroot.sh FOLDER: the arm64 packages that the program is built with, and what they need, unpacked in FOLDER. Nothing of
# them is installed; needs no root.
set -euo pipefail
folder=$1
[ ! -e "$folder/complete" ] || exit 0
packages=(libc6-dev libcli11-dev libeigen3-dev libfmt-dev libmicrohttpd-dev libp11-kit-dev libpq-dev libprotobuf-dev
  libsodium-dev libsqlite3-dev libssl-dev libstdc++6 libtomlplusplus-dev libzstd-dev nlohmann-json3-dev)
rm -rf --one-file-system "$folder" "$folder.packages"
mkdir -p "$folder"
debootstrap --arch=arm64 --download-only --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" \
  bookworm "$folder.packages" > "$folder.log" || { tail -5 "$folder.log" >&2; exit 1; }
for package in "$folder.packages"/var/cache/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --directory "$folder" --exclude './dev/*'
done
rm -rf --one-file-system "$folder.packages"
touch "$folder/complete"
