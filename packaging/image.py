#!/usr/bin/env python3
"""An OCI image of the portable program and the C library it needs, without a daemon: a tar in OCI layout.

    image.py FOLDER OUT.tar --version VERSION --date SECONDS     FOLDER is that of the portable program

podman load, docker load and skopeo copy oci-archive:OUT.tar take it; its name is localhost/parley:VERSION. Nothing is in
it but the program, three files of this machine's glibc, a user, and licences.
"""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import tarfile
import time

USER = 10001
GLIBC = {"lib64/ld-linux-x86-64.so.2": "/lib64/ld-linux-x86-64.so.2",
         "lib/x86_64-linux-gnu/libc.so.6": "/lib/x86_64-linux-gnu/libc.so.6",
         "lib/x86_64-linux-gnu/libm.so.6": "/lib/x86_64-linux-gnu/libm.so.6"}
TEXTS = {"etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\nparley:x:{USER}:{USER}:Parley:/var/lib/parley:/sbin/nologin\n",
         "etc/group": f"root:x:0:\nparley:x:{USER}:\n",
         "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n"}
FOLDERS = {"tmp": (0o1777, 0), "var": (0o755, 0), "var/lib": (0o755, 0), "var/lib/parley": (0o700, USER)}


def files(folder):
    """{path: (content, mode)} of the image."""
    doc = "usr/share/doc"
    found = {"usr/bin/parley": ((folder / "parley").read_bytes(), 0o755),
             f"{doc}/libc6/copyright": (pathlib.Path("/usr/share/doc/libc6/copyright").read_bytes(), 0o644)}
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "parley.spdx.json"):
        found[f"{doc}/parley/{name}"] = ((folder / name).read_bytes(), 0o644)
    found |= {path: (pathlib.Path(source).read_bytes(), 0o755) for path, source in GLIBC.items()}
    return found | {path: (text.encode(), 0o644) for path, text in TEXTS.items()}


def parents(paths):
    return {str(parent) for path in paths for parent in pathlib.PurePosixPath(path).parents if str(parent) != "."}


def tar_of(entries, date):
    """Entries: {path: (content or None for a folder, mode, owner)}, in the order of their names."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, (content, mode, owner) in sorted(entries.items()):
            info = tarfile.TarInfo(path)
            info.mode, info.uid, info.gid, info.mtime = mode, owner, owner, date
            info.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))
    return buffer.getvalue()


def layer_of(folder, date):
    inside = {path: (content, mode, 0) for path, (content, mode) in files(folder).items()}
    folders = {path: (None, 0o755, 0) for path in parents(inside)}
    folders |= {path: (None, mode, owner) for path, (mode, owner) in FOLDERS.items()}
    return tar_of(folders | inside, date)


class Layout:
    """Blobs by their hashes."""

    def __init__(self):
        self.entries = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode()}

    def add(self, content, kind):
        digest = hashlib.sha256(content).hexdigest()
        self.entries[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}


def image(folder, version, date):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
    layer, layout = layer_of(folder, date), Layout()
    packed = layout.add(gzip.compress(layer, mtime=0), "layer.v1.tar+gzip")
    config = layout.add(json.dumps({
        "created": created, "architecture": "amd64", "os": "linux",
        "config": {"User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/parley"], "Cmd": ["--help"],
                   "WorkingDir": "/var/lib/parley", "Volumes": {"/var/lib/parley": {}}, "StopSignal": "SIGTERM",
                   "Labels": {"org.opencontainers.image.title": "parley", "org.opencontainers.image.version": version,
                              "org.opencontainers.image.licenses": "Apache-2.0"}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/image.py"}]}).encode(), "config.v1+json")
    manifest = layout.add(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                                      "config": config, "layers": [packed]}).encode(), "manifest.v1+json")
    name = f"localhost/parley:{version}"
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": name}
    layout.entries["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()
    # What docker reads instead of the index where it keeps images without containerd.
    blobs = ["blobs/" + part["digest"].replace(":", "/") for part in (config, packed)]
    layout.entries["manifest.json"] = json.dumps(
        [{"Config": blobs[0], "RepoTags": [name], "Layers": blobs[1:]}]).encode()
    entries = {path: (content, 0o644, 0) for path, content in layout.entries.items()}
    return tar_of(entries | {path: (None, 0o755, 0) for path in parents(entries)}, date)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("out", type=pathlib.Path)
    options.add_argument("--version", required=True)
    options.add_argument("--date", type=int, required=True)
    asked = options.parse_args()
    asked.out.write_bytes(image(asked.folder, asked.version, asked.date))


if __name__ == "__main__":
    main()
