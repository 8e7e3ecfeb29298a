#!/usr/bin/env python3
"""No product and sum of the library was merged into one rounding by the compiler.

    contraction.py OBJDUMP LIBRARY

-ffp-contract=off forbids it, but the vectoriser of g++ 12 makes vfmaddsub and vfmsubadd all the same,
at some levels of optimisation and not at others: results of one charter would then differ between
builds, and a model could not be verified bit for bit. vfmadd itself may occur: Eigen asks for it by name.
"""

import re
import subprocess
import sys


def main():
    objdump, library = sys.argv[1:]
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    if "vmulpd" not in text:
        sys.exit(f"{library}: no vector instruction at all; was it disassembled?")
    found, name, function = [], "", ""
    for line in text.splitlines():
        if "file format" in line:
            name = line.split(":")[0]
        elif match := re.match(r"[0-9a-f]+ <(.*)>:", line):
            function = match[1]
        elif match := re.search(r"\bvfm(addsub|subadd)\w+", line):
            found.append(f"{name}: {match[0]} in {function}")
    if found:
        sys.exit("contracted, though -ffp-contract=off:\n" + "\n".join(found))


if __name__ == "__main__":
    main()
