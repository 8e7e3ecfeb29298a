#!/usr/bin/env python3
"""The bill of materials of a program, as SPDX 2.3: every library in it or loaded by it, with version, source
package and licence, so that a scanner can compare it with published vulnerabilities.

    sbom.py FILE --name NAME --version VERSION --date SECONDS [--inside PACKAGE...] > NAME.spdx.json

Libraries that FILE loads are found by its dynamic section; --inside names Debian packages whose code was compiled or
linked into it.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import time

# By Debian's source package. A library that is not here is a mistake, not a gap.
LICENCES = {
    "cli11": "BSD-3-Clause", "eigen3": "MPL-2.0", "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "libmicrohttpd": "LGPL-2.1-or-later", "libsodium": "ISC", "libzstd": "BSD-3-Clause",
    "nlohmann-json3": "MIT", "openssl": "Apache-2.0", "p11-kit": "BSD-3-Clause", "protobuf": "BSD-3-Clause", "sqlite3": "blessing",
    "tomlplusplus": "MIT", "zlib": "Zlib",
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", file))


def path_of(library):
    """Of a library that the loader would find."""
    cached = re.search(rf"^\s*{re.escape(library)} \(libc6,x86-64.*=> (\S+)", output("/sbin/ldconfig", "-p"), re.MULTILINE)
    return pathlib.Path(cached[1]).resolve()


def package_of(path):
    """dpkg knows a file by the name it was installed under, which may be below /lib instead of /usr/lib."""
    for name in (path, pathlib.Path("/") / path.relative_to("/usr")):
        found = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit(f"{path} belongs to no package")


def facts(package):
    source, version, architecture = output(
        "dpkg-query", "--show", "--showformat=${source:Package} ${Version} ${Architecture}\n", package).split("\n")[0].split()
    return {"SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', package)}", "name": package, "versionInfo": version,
            "supplier": "Organization: Debian", "downloadLocation": f"https://packages.debian.org/source/bookworm/{source}",
            "filesAnalyzed": False, "licenseConcluded": LICENCES[source], "licenseDeclared": LICENCES[source],
            "copyrightText": "NOASSERTION", "sourceInfo": f"Debian source package {source}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{package}@{version}?arch={architecture}"}]}


def document(file, name, version, date, inside):
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    own = {"SPDXID": "SPDXRef-program", "name": name, "versionInfo": version, "supplier": "NOASSERTION",
           "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
           "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
           "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    loaded = sorted({package_of(path_of(library)) for library in needed(file)})
    inside = sorted(set(inside) - set(loaded))
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "DYNAMIC_LINK", facts(each)["SPDXID"]) for each in loaded]
    relations += [(own["SPDXID"], "STATIC_LINK", facts(each)["SPDXID"]) for each in inside]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
            "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{digest[:32]}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date)),
                             "creators": ["Tool: packaging/sbom.py"]},
            "packages": [own, *[facts(each) for each in loaded + inside]],
            "relationships": [{"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b}
                              for a, how, b in relations]}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("file", type=pathlib.Path)
    options.add_argument("--name", required=True)
    options.add_argument("--version", required=True)
    options.add_argument("--date", type=int, required=True)
    options.add_argument("--inside", nargs="*", default=[])
    asked = options.parse_args()
    print(json.dumps(document(asked.file, asked.name, asked.version, asked.date, asked.inside), indent=1))


if __name__ == "__main__":
    main()
