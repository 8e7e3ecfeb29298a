#!/usr/bin/env python3
"""Checks on the code base itself: layers, public headers, folders, places where private data could
leave, forbidden words.

    tidy.py [ROOT]        checks the repository, prints one line per violation
    tidy.py --self-test   plants one violation of each kind and checks that it is found
"""

import pathlib
import re
import sys
import tempfile

# An #include may only point down this list. Modules on one line do not know each other.
LAYERS = [
    ["base"],
    ["data"],
    ["privacy", "learn"],
    ["ledger", "charter"],
    ["plan"],
    ["gate"],
    ["wire"],
    ["protocol"],
    ["sim", "net", "mpi"],
    ["forecast", "audit"],
    ["report"],
    ["api"],
    ["studies"],
    ["apps/cli", "apps/python", "apps/web"],
]
RANK = {module: rank for rank, modules in enumerate(LAYERS) for module in modules}

# What the layers alone would allow.
FORBIDDEN_INCLUDES = {module: ["gate", "net", "mpi"]
                      for module in ("forecast", "audit", "report", "studies")}
# Not even through others: a daemon with seeded noise would be a disaster.
# So would a ledger that a power cut may shorten.
SIMULATION = ["sim", "src/parley/ledger/simulated.h"]
# What an owner makes of its exact records for itself has no way to those who send.
OWN_EYES = ["src/parley/learn/personal/personal.h", "src/parley/learn/personal/figures.h"]
NEVER_REACHED = {"src/parley/net/": SIMULATION + OWN_EYES, "src/parley/wire/": OWN_EYES,
                 "src/parley/protocol/": OWN_EYES, "apps/cli/owner": SIMULATION,
                 "apps/cli/learner": SIMULATION, "src/parley/api/owner": SIMULATION,
                 "src/parley/api/learner": SIMULATION,
                 "src/parley/api/fit/private_job": SIMULATION + OWN_EYES}

# All that is installed: a header that is not listed here is not public.
PUBLIC = ["account", "audit", "bytes", "c", "charter", "credentials", "data", "explain", "forecast",
          "learner", "ledger", "model", "owner", "parley", "policy", "predict", "progress", "result",
          "simulate", "verify", "version"]
STANDARD = re.compile(r"[a-z_0-9]+|std(def|int)\.h")  # <vector>, not <Eigen/Dense>, <fmt/core.h> or <sqlite3.h>

FILES_MAX = 25  # of a folder, its subfolders not counted

# Each is counted per file, comments, strings and tests left out, against tests/privacy_exits.txt.
EXITS = {
    "friend": r"\bfriend\b",  # looks inside a stop of the private road
    "Raw": r"\bRaw\b|\bgate::(Any|Engine)?Records\b",  # makes or handles private values
    "encode": r"\bencode\s*\(",  # puts something on the wire
    "ForTest": r"\b\w+ForTest\b",  # a door for tests, which must stay theirs
}

# (pattern, why, modules or beginnings of paths where it is allowed nevertheless)
FORBIDDEN_WORDS = [
    (r"\bstd::(mt19937|minstd_rand|ranlux|knuth_b|default_random_engine)\w*",
     "pass an Entropy&", ["sim"]),
    (r"\bstd::random_device\b", "pass an Entropy&", ["sim"]),
    (r"\bs?rand\s*\(", "pass an Entropy&", ["sim"]),
    (r"\bstd::\w+_distribution\b", "noise is exact and on the lattice", ["sim"]),
    (r"#\s*define\s+(private|protected)\b", "the private road is made of access rights", []),
    (r"-ffast-math|-Ofast|-fassociative-math|-funsafe-math-optimizations|-ffp-contract=fast",
     "a record's gradient has the same bits everywhere", []),
    (r"-fno-access-control", "the private road is made of access rights", []),
    # Where a protocol is read, planned, made, forecast, attacked or taken literally.
    (r"\bas<(charter::)?(Sync|Async|Federated|Vertical|Admm)>|\bProtocolName::k",
     "ask for a property of charter::Protocol",
     ["charter", "plan", "studies", "src/parley/protocol/make_", "src/parley/forecast/predict/jobs.cc",
      "src/parley/forecast/choose/", "src/parley/audit/targets/"]),
]

SUFFIXES = (".h", ".cc", ".inl", ".in", ".hpp", ".cpp", ".c")  # no name escapes the checks
STRING = (r'R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
          r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'")  # not the ' of 1'000
COMMENT = r"//[^\n]*|/\*.*?\*/"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
ANGLED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)


def without_comments(text, strings_too=False):
    """The text with comments (and strings) blanked; line numbers stay."""
    def blank(match):
        is_comment = match.group(0).startswith("/")
        if not is_comment and not strings_too:
            return match.group(0)
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(f"{STRING}|{COMMENT}", blank, text, flags=re.DOTALL)


def module_of(path):
    """src/parley/data/rows.h -> data; apps/cli/main.cc -> apps/cli; studies/x.h -> studies; others None."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:2] == ("src", "parley"):
        return parts[2]
    if parts[0] == "apps":
        return "/".join(parts[:2])
    if parts[0] == "studies":
        return "studies"
    return None


def is_test(path):
    return path.endswith("_test.cc") or path.startswith("tests/")


class Repository:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        files = [f for folder in ("include", "src", "studies", "apps", "tests")
                 for f in sorted((self.root / folder).rglob("*")) if f.suffix in SUFFIXES]
        self.text = {f.relative_to(self.root).as_posix(): f.read_text() for f in files}
        self.includes = {path: self.includes_of(path) for path in self.text}

    def includes_of(self, path):
        """(line, name as written) of every quoted include."""
        text = without_comments(self.text[path])
        return [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in INCLUDE.finditer(text)]

    def find(self, path, name):
        """The file that an include in `path` names, generated ones by their source, or None."""
        if "/" not in name and path.startswith("apps/"):  # From the app's own folder.
            name = f"{module_of(path)}/{name}"
        candidates = {"parley": [f"include/{name}", f"src/{name}", f"src/{name}.in"],
                      "support": [f"tests/{name}"],
                      "proto": [re.sub(r"\.pb\.h$", ".proto", name)]}
        for candidate in candidates.get(name.split("/")[0], [name]):
            if (self.root / candidate).is_file():
                return candidate
        return None

    def reached_from(self, path):
        """Every file that `path` includes, also through others."""
        seen, todo = set(), [path]
        while todo:
            here = todo.pop()
            for _, name in self.includes.get(here, []):
                target = self.find(here, name)
                if target is not None and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return seen


def wrong_includes(repository):
    for path, includes in repository.includes.items():
        for line, name in includes:
            reason = why_wrong(repository, path, name)
            if reason:
                yield f'{path}:{line}: #include "{name}": {reason}'


def why_wrong(repository, path, name):
    parts = name.split("/")
    own_app = len(parts) == 1 and path.startswith("apps/")
    if parts[0] not in ("parley", "studies", "proto", "support") and not own_app or ".." in parts:
        return "write the whole path, from src, studies or tests"
    target = repository.find(path, name)
    if target is None:
        return "there is no such file"
    if name.startswith("support/") and not is_test(path):
        return "only tests include test support"
    here, there = module_of(path), module_of(target)
    if here is None or there is None or here == there:
        return None
    for module in (here, there):
        if module not in RANK:
            return f"module {module} is not in the table of layers"
    if is_test(path):  # A test may look sideways, never up.
        return None if RANK[there] <= RANK[here] else f"{there} lies above {here}"
    if RANK[there] >= RANK[here]:
        return f"{there} does not lie below {here}"
    if there in FORBIDDEN_INCLUDES.get(here, []):
        return f"{here} must not know {there}"
    return None


def wrong_public_headers(repository):
    """A public header may use the standard library and other public headers, and is listed."""
    listed = {f"include/parley/{name}.h" for name in PUBLIC}
    for path, text in repository.text.items():
        if not path.startswith("include/"):
            continue
        if path not in listed:
            yield f"{path}: is not in tests/tidy.py's list of public headers"
        for line, name in repository.includes[path]:
            if f"include/{name}" not in listed:
                yield f'{path}:{line}: a public header includes the internal "{name}"'
        code = without_comments(text)
        for match in ANGLED.finditer(code):
            if not STANDARD.fullmatch(match.group(1)):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: a public header includes <{match.group(1)}>, not standard C++"


HEAVY = re.compile(r"(Eigen|CLI|google/protobuf)[/.].*|nlohmann/json\.hpp|sqlite3\.h|toml\+\+/.*")
EIGEN = "parley/base/math/eigen.h"  # a header of Eigen's for .cc files, and as heavy


def heavy_headers(repository):
    """Libraries that take long to parse are included where they are used, not in headers."""
    for path, text in repository.text.items():
        if not path.startswith("src/") or not path.endswith(".h") or path == "src/" + EIGEN:
            continue
        code = without_comments(text)
        if f'#include "{EIGEN}"' in code:
            yield f"{path}: a header includes {EIGEN}, which is for .cc files"
        for match in ANGLED.finditer(code):
            if HEAVY.fullmatch(match.group(1)):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: a header includes <{match.group(1)}>, which is for .cc files"


# Eigen sums in the order of the processor's vectors and caches, so that two machines give other last bits. A replay
# must not: whatever parties agree on or `parley verify` computes again uses learn/solver/symmetric.h. These may use Eigen:
# who computes for one party alone, or for a simulation that says it is not private.
BIT_FOR_BIT = ["data", "privacy", "learn", "ledger", "charter", "plan", "gate", "wire", "protocol", "net", "mpi"]
OWN_BITS = ("src/parley/learn/personal/", "src/parley/learn/vertical/admm/", "src/parley/learn/solver/lasso.cc")


def other_bits(repository):
    for path, text in repository.text.items():
        if module_of(path) not in BIT_FOR_BIT or is_test(path) or path.startswith(OWN_BITS):
            continue
        code = without_comments(text)
        for match in re.finditer(rf'{ANGLED.pattern}|{INCLUDE.pattern}', code, re.MULTILINE):
            name = match.group(1) or match.group(2)
            if name.startswith("Eigen/") or name == EIGEN:
                line = code.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: includes {name}, whose last bits differ from machine to machine"


def large_folders(repository):
    root = repository.root
    for top in ("src", "include", "studies", "apps"):
        for folder in sorted([root / top, *(root / top).rglob("*/")]):
            path = folder.relative_to(root).as_posix()
            count = sum(file.is_file() for file in folder.glob("*")) if folder.is_dir() else 0
            if count > FILES_MAX:
                yield f"{path}: {count} files, at most {FILES_MAX}"


def forbidden_reach(repository):
    for path in repository.text:
        never = [module for start, modules in NEVER_REACHED.items() if path.startswith(start)
                 for module in modules]
        for target in sorted(repository.reached_from(path)) if never else []:
            if module_of(target) in never or target in never:
                yield f"{path}: reaches {target}, which this file must never do"


def count_exits(repository):
    counts = {}
    for path, text in repository.text.items():
        if is_test(path):
            continue
        code = without_comments(text, strings_too=True)
        for kind, pattern in EXITS.items():
            count = len(re.findall(pattern, code))
            if count:
                counts[kind, path] = count
    return counts


def unlisted_exits(repository):
    """Compares with the list: lines of `kind count path reason...`; '#' starts a comment."""
    found, listed = count_exits(repository), {}
    for line in (repository.root / "tests/privacy_exits.txt").read_text().splitlines():
        fields = line.split(maxsplit=3)
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) == 4 and fields[0] in EXITS and fields[1].isdigit():
            listed[fields[0], fields[2]] = int(fields[1])
        else:
            yield f"tests/privacy_exits.txt: cannot read '{line}'"
    for kind, path in sorted(found.keys() | listed.keys()):
        count, expected = found.get((kind, path), 0), listed.get((kind, path), 0)
        if count != expected:
            yield (f"{path}: '{kind}' occurs {count} times, tests/privacy_exits.txt says "
                   f"{expected}; a change is a privacy review: "
                   f"'{kind} {count} {path} why it is safe'")


def forbidden_words(repository):
    texts = {path: without_comments(text, strings_too=True)
             for path, text in repository.text.items() if not is_test(path)}
    root = repository.root
    for file in [root / "CMakeLists.txt", root / "CMakePresets.json", *root.glob("cmake/*.cmake"),
                 *root.glob("tests/**/CMakeLists.txt")]:
        if file.is_file():
            path = file.relative_to(root).as_posix()
            texts[path] = re.sub(r"#[^\n]*", "", file.read_text())
    for path, text in texts.items():
        for pattern, why, allowed in FORBIDDEN_WORDS:
            for match in re.finditer(pattern, text):
                if module_of(path) not in allowed and not path.startswith(tuple(allowed)):
                    line = text.count("\n", 0, match.start()) + 1
                    yield f"{path}:{line}: '{match.group(0).strip()}' is forbidden: {why}"


def violations(root):
    repository = Repository(root)
    return [*wrong_includes(repository), *wrong_public_headers(repository),
            *heavy_headers(repository), *other_bits(repository), *large_folders(repository),
            *forbidden_reach(repository),
            *unlisted_exits(repository), *forbidden_words(repository)]


CLEAN = {
    "include/parley/result.h": "#include <vector>\n",
    "include/parley/model.h": '#include <string_view>\n#include "parley/result.h"\n',
    "src/parley/base/a.h": "// A friend of Raw and encode( in a comment.\n",
    "src/parley/base/version.h.in": "",
    "src/parley/privacy/flow.h": "class Raw { friend class Gate; int n = 1'000'000; };\n",
    "src/parley/learn/x.cc": '#include "parley/base/a.h"\n#include "parley/base/version.h"\n'
                             '#include "parley/model.h"\n'
                             'const char* kText = "friend /* not a comment";\n',
    "src/parley/learn/x_test.cc": '#include "parley/privacy/flow.h"\n#include "support/s.h"\n'
                                  "Raw raw; std::mt19937 seeded;\n",
    "src/parley/ledger/l.h": "",
    "src/parley/ledger/simulated.h": "",
    "src/parley/gate/g.h": "",
    "src/parley/sim/seeded.h": "std::mt19937 seeded;\n",
    "src/parley/report/table.h": '#include "parley/sim/seeded.h"\n',
    "studies/paper/p.h": '#include "parley/report/table.h"\n',
    "studies/paper/p.cc": '#include "studies/paper/p.h"\n',
    "apps/cli/main.cc": '#include "studies/paper/p.h"\n#include "command.h"\n#include "parley/report/table.h"\n',
    "apps/cli/command.h": '#include "proto/parley.pb.h"\n',
    "proto/parley.proto": "",
    "tests/support/s.h": "",
    "CMakeLists.txt": "# never -ffast-math\n",
    "tests/privacy_exits.txt": "# kind count path reason\n"
                               "friend 1 src/parley/privacy/flow.h the gate\n"
                               "Raw 1 src/parley/privacy/flow.h its definition\n",
}

# name -> (file, content that replaces or adds it, what the one violation must mention); or several
# files with their contents in place of the file
PLANTED = {
    "an include that points up": (
        "src/parley/base/b.h", '#include "parley/privacy/flow.h"\n', "does not lie below base"),
    "an include that points sideways": (
        "src/parley/learn/y.cc", '#include "parley/privacy/flow.h"\n', "does not lie below learn"),
    "charter and ledger on one line": (
        "src/parley/charter/c.h", '#include "parley/ledger/l.h"\n', "does not lie below charter"),
    "a test that looks up": (
        "src/parley/base/b_test.cc", '#include "parley/privacy/flow.h"\n', "lies above base"),
    "a module nobody ranked": (
        "src/parley/util/u.h", '#include "parley/base/a.h"\n', "not in the table"),
    "a relative include": (
        "src/parley/learn/y.cc", '#include "../base/a.h"\n', "write the whole path"),
    "a relative include inside a whole path": (
        "src/parley/learn/y.cc", '#include "parley/learn/../base/a.h"\n', "write the whole path"),
    "an include of the same folder": (
        "src/parley/base/b.cc", '  # include "a.h"\n', "write the whole path"),
    "a file that does not exist": (
        "src/parley/learn/y.cc", '#include "parley/base/gone.h"\n', "no such file"),
    "test support in the product": (
        "src/parley/learn/y.cc", '#include "support/s.h"\n', "only tests"),
    "a file outside every module": (
        "src/parley/loose.inl", '#include "parley/base/a.h"\n', "not in the table"),
    "a study that knows the gate": (
        "src/parley/audit/a.cc", '#include "parley/gate/g.h"\n', "must not know gate"),
    "studies/ that knows the gate": (
        "studies/paper/q.cc", '#include "parley/gate/g.h"\n', "must not know gate"),
    "a library that knows studies/": (
        "src/parley/audit/a.cc", '#include "studies/paper/p.h"\n', "does not lie below audit"),
    "the simulator below the studies": (
        "src/parley/protocol/p.cc", '#include "parley/sim/seeded.h"\n', "does not lie below"),
    "the simulator in the daemon, through a study": (
        "apps/cli/owner_x.cc", '#include "parley/report/table.h"\n', "must never do"),
    "the simulator in the daemon behind the public face": (
        "src/parley/api/owner.cc", '#include "parley/sim/seeded.h"\n', "must never do"),
    "the public face below the studies": (
        {"src/parley/api/a.h": "", "src/parley/report/r.cc": '#include "parley/api/a.h"\n'}, "",
        "does not lie below report"),
    "a public header that includes an internal one": (
        "include/parley/model.h", '#include "parley/base/a.h"\n', "the internal"),
    "a public header that includes a library": (
        "include/parley/model.h", "#include <Eigen/Dense>\n", "not standard C++"),
    "a public header that includes a library of one file": (
        "include/parley/model.h", "#include <sqlite3.h>\n", "not standard C++"),
    "an internal header that includes a library": (
        "src/parley/base/a.h", "#include <Eigen/Core>\n", "which is for .cc files"),
    "an internal header that includes a library by way of ours": (
        {"src/parley/base/math/eigen.h": "",
         "src/parley/base/a.h": '#include "parley/base/math/eigen.h"\n'}, "",
        "which is for .cc files"),
    "last bits that differ from machine to machine": (
        "src/parley/learn/y.cc", "#include <Eigen/Core>\n", "whose last bits differ"),
    "last bits that differ, by way of ours": (
        {"src/parley/base/math/eigen.h": "", "src/parley/learn/y.cc": '#include "parley/base/math/eigen.h"\n'}, "",
        "whose last bits differ"),
    "a public header that nobody listed": (
        "include/parley/extra.h", "#include <vector>\n", "list of public headers"),
    "a folder with too many files": (
        {f"src/parley/learn/many{i}.h": "" for i in range(25)}, "", "27 files, at most 25"),
    "an app with too many files": (
        {f"apps/cli/many{i}.cc": "" for i in range(24)}, "", "26 files, at most 25"),
    "a ledger that is not synced, in the daemon": (
        "src/parley/net/n.cc", '#include "parley/ledger/simulated.h"\n', "must never do"),
    "a new friend": (
        "src/parley/privacy/flow.h",
        "class Raw { friend class Gate; friend class Spy; };\n", "'friend' occurs 2 times"),
    "a friend that went away": (
        "src/parley/privacy/flow.h", "class Raw {};\n", "'friend' occurs 0 times"),
    "a new place that makes raw data": (
        "src/parley/gate/g.cc", "auto raw = Raw<int>(3);\n", "'Raw' occurs 1 times"),
    "a new encoder": (
        "src/parley/wire/w.h", "Bytes encode (const Model& m);\n", "'encode' occurs 1 times"),
    "a back door for tests that the product opens": (
        "src/parley/gate/y.cc", "struct BoundedForTest {};\n", "'ForTest' occurs 1 times"),
    "an app that includes another app": (
        "apps/web/main.cc", '#include "../cli/command.h"\n', "write the whole path"),
    "an exit without a reason": (
        "tests/privacy_exits.txt", CLEAN["tests/privacy_exits.txt"] + "friend 1 a.h\n",
        "cannot read"),
    "a Mersenne twister": ("src/parley/learn/y.cc", "std::mt19937_64 r;\n", "Entropy"),
    "a random device": ("src/parley/gate/y.cc", "std::random_device r;\n", "Entropy"),
    "rand": ("src/parley/base/b.cc", "int x = rand();\n", "Entropy"),
    "a normal distribution": (
        "apps/cli/main.cc", "std::normal_distribution<double> n;\n", "exact and on the lattice"),
    "fast math": ("CMakeLists.txt", "add_compile_options(-ffast-math)\n", "same bits"),
    "a question about the protocol's name": (
        "src/parley/sim/seeded.cc", "if (p.as<charter::Federated>()) return;\n", "a property"),
    "opened access rights": (
        "src/parley/gate/y.cc", "#define private public\n", "access rights"),
}


def write_tree(root, files):
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        clean = pathlib.Path(folder) / "clean"
        write_tree(clean, CLEAN)
        failures += [f"found in a clean tree: {line}" for line in violations(clean)]
        for number, (name, (path, content, expected)) in enumerate(PLANTED.items()):
            root = pathlib.Path(folder) / str(number)
            write_tree(root, {**CLEAN, **(path if isinstance(path, dict) else {path: content})})
            found = violations(root)
            if len(found) != 1 or expected not in found[0]:
                failures.append(f"{name}: expected one line with '{expected}', found {found}")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        found, done = self_test(), f"{len(PLANTED)} planted violations found"
    else:
        root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]
        found, done = violations(root), "layers, public headers, folders, privacy exits and words are in order"
    print("\n".join(found) if found else done)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
