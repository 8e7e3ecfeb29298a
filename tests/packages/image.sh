#!/usr/bin/env bash
# image.sh WORK PACKAGES: other programs can read the image, a container engine loads and runs it, and its program runs from
# it alone. Wants root.
set -euo pipefail
work=$1
image=$(ls "$2"/parley-*-image.tar)
fail() { echo "$*" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work/layout"
skopeo inspect "oci-archive:$image" | grep -E '"(Architecture|Os|Created|Digest)"'
tar --extract --file "$image" --directory "$work/layout"
tag=$(basename "$image" -image.tar)
version=${tag#parley-}
name=localhost/parley:$version
# As docker reads it where it keeps images without containerd.
skopeo inspect "docker-archive:$image:$name" > /dev/null
umoci unpack --image "$work/layout:$version" "$work/bundle"
chroot --userspec=10001:10001 "$work/bundle/rootfs" /usr/bin/parley --version
chroot --userspec=10001:10001 "$work/bundle/rootfs" /usr/bin/parley --quiet account epsilon --gaussian 5 --delta 1e-6 > "$work/account"
head -3 "$work/account"
du -h "$image" | cut -f1

# With images and state of its own; without limits that a container without CAP_SYS_RESOURCE could not set, and without
# control groups, of which some machines have both kinds at once, which crun does not take.
engine=(podman --root "$work/podman/root" --runroot "$work/podman/run" --storage-driver vfs --cgroup-manager cgroupfs
  --events-backend file)
run=("${engine[@]}" run --rm --network none --cgroups disabled --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --read-only
  --cap-drop all --security-opt no-new-privileges --volume "$work/state:/var/lib/parley")
contained() {
  unshare --mount sh -c 'umount --lazy /sys/fs/cgroup/unified 2> /dev/null; exec "$@"' sh "${run[@]}" "$name" "$@"
}
"${engine[@]}" load --quiet --input "$image"
install -d -o 10001 -g 10001 "$work/state"
[ "$(contained --version)" = "$version" ] || fail "the container has another version"
contained --quiet account epsilon --gaussian 5 --delta 1e-6 | cmp - "$work/account"
# Its user writes into the volume, and nobody else does.
contained certs init banks.example --address learner:7000 --out /var/lib/parley/authority > /dev/null
[ "$(stat -c %u "$work"/state/authority/* | sort -u)" = 10001 ] || fail "files in the volume are not of user 10001"
podman --version
"${engine[@]}" rmi --all --force > /dev/null
rm -rf "$work/podman"
