#!/usr/bin/env bash
# release.sh NAME FOLDER: a fresh Debian of that release in FOLDER; what debootstrap made is kept as an archive.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
name=$1
folder=$2
kept=$PWD/build/packages/$name.tar
mkdir -p "$(dirname "$kept")"
rm -rf --one-file-system "$folder"
if [ ! -e "$kept" ]; then
  debootstrap --variant=minbase "$name" "$folder" > "${kept%.tar}.log"
  tar --create --file "$kept.new" --directory "$folder" .
  mv "$kept.new" "$kept"
else
  mkdir "$folder"
  tar --extract --file "$kept" --directory "$folder"
fi
cp /etc/resolv.conf "$folder/etc/resolv.conf"
