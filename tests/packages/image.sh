#!/usr/bin/env bash
# image.sh WORK PACKAGES: other programs can read the image, and its program runs from it alone.
set -euo pipefail
work=$1
image=$(ls "$2"/parley-*-image.tar)
rm -rf "$work"
mkdir -p "$work/layout"
skopeo inspect "oci-archive:$image" | grep -E '"(Architecture|Os|Created|Digest)"'
tar --extract --file "$image" --directory "$work/layout"
tag=$(basename "$image" -image.tar)
umoci unpack --image "$work/layout:${tag#parley-}" "$work/bundle"
chroot --userspec=10001:10001 "$work/bundle/rootfs" /usr/bin/parley --version
chroot --userspec=10001:10001 "$work/bundle/rootfs" /usr/bin/parley --quiet account epsilon --gaussian 5 --delta 1e-6 > "$work/account"
head -3 "$work/account"
du -h "$image" | cut -f1
