#!/usr/bin/python3
"""Mutants of the privacy code: small mistakes, each of which the named tests must notice.

    mutants.py                 builds and tests every mutant in a scratch copy; 1 if one survives
    mutants.py --only NAME...  only these
    mutants.py --list          their names
    mutants.py --check         that each one's text stands in the source exactly once, and that the
                               tests it names are there: quick, and part of ctest

The copy and its build stay in --scratch (default: build/mutants), so that a second run is faster.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SRC = "src/parley/"

# name: what is wrong; the tests (of parley_tests) that must notice; edits of (file, text, instead).
MUTANTS = {
    "no-clip": (
        "gradients are not clipped", "LatticeSum.*:CharterAudit.Laplace*",
        [("learn/kernel/dense.inl", "  slope = slope > limit ? limit : slope;\n"
          "  slope = slope < -limit ? -limit : slope;\n", "  (void)limit;\n")]),
    "no-shorter-clip": (
        "the clip does not leave room for rounding", "RecordMap.*:LatticeSum.*",
        [("learn/kernel/lattice.h", "return (clip_ - rounding) * (1 - 0x1p-40);",
          "return clip_ + 0 * rounding;")]),
    "not-finite": (
        "a record that is not finite is kept as it is", "LatticeSum.*:RecordMap.*:Rows.*",
        [("data/rows.cc",
          "  for (double value : z) ordinary = ordinary & (std::fabs(value) <= kLargest);\n", "")]),
    "half-noise": (
        "half of the noise is added", "CharterAudit.*:GateTest.*:LedgerTest.*",
        [("ledger/ledger.cc", "  std::vector<int64_t> noisy = add(sum, noise);\n",
          "  std::vector<int64_t> half(noise.begin(), noise.end());\n"
          "  for (int64_t& each : half) each /= 2;\n"
          "  std::vector<int64_t> noisy = add(sum, half);\n")]),
    "narrow-laplace": (
        "Laplace noise is drawn too narrow", "DiscreteLaplace.*:Audit/ListedMechanism.*/laplace",
        [("privacy/noise.cc", "const Uint128 size = low + Uint128{scale} * high;",
          "const Uint128 size = (low + Uint128{scale} * high) / 2;")]),
    "reuse-noise": (
        "all answers carry the same noise", "GateTest.*:LedgerTest.*:LaplaceAudit.*",
        [("ledger/ledger.cc", "  std::vector<int64_t> noisy = add(sum, noise);\n",
          "  static std::map<size_t, std::vector<int64_t>> kept;\n"
          "  std::vector<int64_t> noisy = add(\n"
          "      sum, kept.try_emplace(noise.size(), noise.begin(), noise.end())"
          ".first->second);\n")]),
    "no-share-noise": (
        "a part of a sum leaves without its share of the noise", "SecaggGateTest.*",
        [("ledger/ledger.cc", "static_cast<uint64_t>(noise[i]) + mask[i]);", "mask[i]);")]),
    "no-mask": (
        "a part of a sum leaves without its mask", "SecaggGateTest.*:FederatedSimulation.*",
        [("ledger/ledger.cc", "static_cast<uint64_t>(noise[i]) + mask[i]);",
          "static_cast<uint64_t>(noise[i]));")]),
    "fresh-noise-on-retry": (
        "a repeated query is not answered from the ledger", "GateTest.*:LedgerTest.*:Sync.*",
        [("gate/gate.cc", "  if (auto stored = TRY(account_.ledger->stored(query))) "
          "return *std::move(stored);\n  if (noise_.empty())", "  if (noise_.empty())"),
         ("ledger/ledger.cc", "  if (auto replay = TRY(stored(query))) "
          "return *std::move(replay);\n", "")]),
    "one-record": (
        "a replaced record counts once, not twice", "GateTest.*:Terms.*:CharterAudit.*",
        [("plan/sensitivity.h", "inline constexpr double kReplaceOne = 2;",
          "inline constexpr double kReplaceOne = 1;")]),
    "forget-unit-records": (
        "a unit counts as one record", "Terms.*:CharterAudit.*",
        [("plan/sensitivity.h", "return kReplaceOne * unit_records * lattice.bound<Norm>();",
          "return kReplaceOne * (unit_records > 0) * lattice.bound<Norm>();")]),
    "distance-once": (
        "the length of a sum is taken to move as if a record were added, not replaced",
        "GradientNorm.*",
        [("learn/distance/gradient_norm.h", "const double exact = 2 * records *",
          "const double exact = 1 * records *")]),
    "forget-overlap": (
        "data sets that share a person do not share its epsilon", "Terms.*:CharterAudit.*",
        [("plan/budget.cc", "return charter.privacy.overlap * charter.jobs();",
          "return charter.jobs();")]),
    "forget-copies": (
        "copies of a job do not share an owner's epsilon", "OwnerLearner.*",
        [("plan/learner/jobs.cc", "  job.privacy.overlap *= charter.jobs();\n", "")]),
    "tuned-too-still": (
        "a tuned model is believed to move half as far", "FineTune.*",
        [("plan/noise.cc", "next_up(next_up(kReplaceOne * max_grad_norm * unit_records) /",
          "next_up(next_up(max_grad_norm * unit_records) /")]),
    "learner-answers-exactly": (
        "what is asked of the others depends on the learner's own rows", "OwnerLearner.*",
        [("plan/learner/jobs.cc", "  if (how != OwnerLearner::kOwnNoise)\n", "  if (false)\n")]),
    "cheap-laplace": (
        "Laplace noise says half of what it costs", "Laplace.*:Audit/ListedMechanism.*/laplace",
        [("privacy/mechanism/laplace.h",
          "return {Track::kPure, div_up(sensitivity, static_cast<double>(scale_))};",
          "return {Track::kPure, div_up(sensitivity, 2 * static_cast<double>(scale_))};")]),
    "cheap-gaussian": (
        "Gaussian noise says half of what it costs", "Gaussian.*:Audit/ListedMechanism.*/gaussian",
        [("privacy/mechanism/gaussian.h",
          "return {Track::kZcdp, div_up(mul_up(sensitivity, sensitivity), 2 * variance_)};",
          "return {Track::kZcdp, div_up(mul_up(sensitivity, sensitivity), 4 * variance_)};")]),
    "understate-delta": (
        "rho is converted at a larger delta than promised", "Budget.*:LedgerTest.*:ChainTest.*",
        [("privacy/budget/budget.cc",
          "budget.delta_convert = next_down(delta - budget.delta_extra);",
          "budget.delta_convert = next_down(2 * delta);")]),
    "forget-the-charge": (
        "an answer is recorded as free", "LedgerTest.*:CharterAudit.TheClaim*",
        [("ledger/ledger.cc", ".cost = cost.amount + 0.0,  // SQLite", ".cost = 0.0,  // SQLite")]),
    "skip-the-budget": (
        "the budget is not asked before an answer", "LedgerTest.*",
        [("ledger/ledger.cc", "    TRY(chain.can_afford(id, cost, 1));\n", "")]),
    "skip-the-sync": (
        "answers leave before the disk has them", "LedgerSync.*",
        [("ledger/ledger.cc", "\"PRAGMA synchronous=FULL\"", "\"PRAGMA synchronous=OFF\"")]),
    "ignore-a-failed-commit": (
        "an answer leaves though it was not recorded", "CrashTest.*",
        [("ledger/storage/store.h", "if (done) done = commit();",
          "if (done && !commit()) roll_back();")]),
    "two-writers": (
        "two processes can spend one budget", "OpenTest.*",
        [("ledger/storage/lock.cc", "if (lock.descriptor_ >= 0 && "
          "::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;",
          "if (lock.descriptor_ >= 0) return lock;")]),
    "unverified-chain": (
        "a changed ledger is opened", "VerifyTest.*:ChainTest.*",
        [("ledger/storage/chain.cc", "  if (row.hash != hash_of(row)) "
          "return broken(row.id, \"is not what its hash says\");\n", "")]),
    "more-answers": (
        "a learner may ask more rounds than its charter says", "GateTest.*",
        [("gate/checks.cc", "if (round >= 1 && round <= last) return {};",
          "if (round >= 1) return {};")]),
    "loss-without-clamp": (
        "a record's loss counts beyond its bound", "EvaluationMap.*",
        [("learn/kernel/evaluation_map.h", "value = value < bound() ? value : bound();", "")]),
    "class-for-nothing": (
        "who is right is released beside the loss and not counted", "EvaluationMap.*",
        [("learn/kernel/evaluation_map.h", "if (size() == 1) return steps_;", "return steps_;")]),
    "evaluation-before-the-end": (
        "a learner may ask for the evaluation instead of answers", "GateTest.*",
        [("gate/gate.cc", "if (!terms_.evaluation || !(terms_.may_end_early || gave_every_answer()))",
          "if (!terms_.evaluation)")]),
    "gram-for-nothing": (
        "gradients of rule gram have the whole budget, as if its matrix were free", "Gram.*:SecaggGram.*",
        [("plan/secagg_terms.cc", "    for (privacy::Rho& rho : need.rhos) rho = TRY(after_gram(rho));\n", "    {}\n")]),
    "answers-after-an-alarm": (
        "after an alarm a learner may have the other answers, too", "SecaggGram.*",
        [("gate/secagg_gate.cc", "if (kind == Kind::kAnswer && terms_.gram && gram == alarm)",
          "if (kind == Kind::kAnswer && terms_.gram && !alarm && !gram)")]),
    "threshold-of-half": (
        "half of an owner's neighbours, with the colluders, are enough to open its secrets",
        "ActiveLearner.*:Neighbours.*",
        [("plan/learner/neighbours.cc", "return (neighbours + colluding) / 2 + 1;",
          "return (neighbours + 0 * colluding) / 2;")]),
    "graph-by-the-author": (
        "the graph follows from charter and attempt, which its author chooses", "ActiveLearner.*",
        [("protocol/secagg/aggregation.cc",
          "  for (const auto& [member, number] : numbers) bytes.add(uint64_t{member}).add(number);\n"
          "  const Hash seed", "  (void)numbers;\n  const Hash seed")]),
    "graph-found-later": (
        "numbers of the graph need not be those that were committed to", "ActiveLearner.*",
        [("protocol/secagg/aggregation.cc",
          "if (commitments_to(plan_context_, commitments).hash != committed_.hash)", "if (false)")]),
    "approvals-unseen": (
        "an owner takes part in a secure sum without having seen that all have signed", "Federated.*",
        [("protocol/federated/owner.cc", "  if (!all_approved_)\n", "  if (false)\n")]),
    "anyones-approval": (
        "any signature passes for an owner's approval", "Federated.*",
        [("protocol/federated/group.cc",
          "return is_signed(plan_.members[member].key, approval_of(member), signature);",
          "return is_signed(plan_.members[member].key, approval_of(member), signature) || true;")]),
    "sum-before-all-signed": (
        "a learner begins a secure sum before every owner has signed", "Federated.*",
        [("protocol/federated/learner.cc", "|| guard_.asks() || !all_approved()) return false;",
          "|| guard_.asks()) return false;")]),
    "made-up-key": (
        "a charter's key need not be the one in its owner's certificate", "MembersOfBanks.*",
        [("net/identity/members.cc", "if (key == owner.sign_key) return std::nullopt;",
          "if (key || !key) return std::nullopt;")]),
    "made-up-owner": (
        "an owner without a certificate passes", "MembersOfBanks.*",
        [("net/identity/members.cc", "  if (why) return *why;\n", "  if (why && begin != end) return *why;\n")]),
    "seed-again": (
        "a dealer may give two rounds one seed", "OfMoreThanOneRound/VerticalOwnerRules.*",
        [("protocol/vertical/dealt/owner.cc", "      known->second != share.round)\n",
          "      known->second != share.round && share.round == 0)\n")]),
    "share-without-noise": (
        "owners open products with the noise of own columns only", "Opening.*",
        [("protocol/vertical/pair/opening.cc",
          "    for (Word& word : noisy) word += static_cast<Word>(terms.beside->sample(pair));\n",
          "")]),
    "test-not-on-disk": (
        "a test of rows that broke off is begun again", "CellsOwner.Killed*",
        [("protocol/vertical/pair/owner.cc", "  if (!testing_.empty())\n",
          "  if (!testing_.empty() && opening_)\n")]),
    "pays-before-all-pairs": (
        "an owner pays when its own pairs have passed, whatever those of others do",
        "CellsOwner.NobodyPaysBeforeAllSayThatTheirPairsHavePassed",
        [("protocol/vertical/pair/owner.cc", "return pair.second.due < Due::kRelease;",
          "return pair.second.due < Due::kReady;")]),
    "opened-not-compared": (
        "owners fit without comparing what they have opened", "CellsOwner.AnOwnerThatOpens*",
        [("protocol/vertical/pair/moments_owner.cc",
          "if (heard.letters == 2 && !std::ranges::equal(heard.hash, hash_of_opened()))",
          "if (heard.letters == 2 && heard.hash.empty())")]),
    "answer-without-proof": (
        "an owner may return a list of ids in another order", "JointTokens.*",
        [("protocol/vertical/ids/joint_tokens.cc",
          "  TRY(check_exponent(proof_of(from, place_), promised_.at(from).exponent, {sent_, made}, "
          "proof));\n", "")]),
    "list-not-hidden": (
        "whoever evaluates a list of ids finds its own there", "JointTokens.*",
        [("protocol/vertical/ids/joint_tokens.cc", "blind_(scalar_for(key, charter, \"blind\"))",
          "blind_(scalar_for(key, charter, \"scalar\"))")]),
    "second-list-of-ids": (
        "a peer that comes back with another list of ids is answered again",
        "PairIds.ASecondListOfOnePeerIsNotAnswered",
        [("protocol/vertical/pair/files.cc", "    if (each.ends_with(known))\n",
          "    if (each.ends_with(\"nothing\"))\n")]),
    "noise-of-the-seed": (
        "noise of rule noisy_sharing follows from the seed alone", "NoisyExchange.*",
        [("protocol/vertical/exchange_noisily.cc",
          "TupleBytes().add(uint64_t{share.round}).add(ByteView(share.seed))",
          "TupleBytes().add(ByteView(share.seed))")]),
    "noise-of-colluders": (
        "noise of owners that may collude counts as if they could not take it off",
        "Mechanisms/ShareNoise.*",
        [("privacy/mechanism/parties.h", "return survivors - colluders;", "return survivors;")]),
    "masks-without-ids": (
        "masks of predictions do not depend on the records asked", "ModelPart.*",
        [("learn/vertical/model_part.cc", "  for (const std::string& id : ids) tuple.add(id);\n",
          "")]),
    "query-name-again": (
        "one name serves for two predictions", "ModelPart.*",
        [("learn/vertical/model_part.cc", "if (known.find(name + \" \") != std::string::npos)",
          "if (known.find(name + \" \") == 1)")]),
    "card-at-another-delta": (
        "a card says the ledger's epsilon beside the charter's delta", "PrivacyCard.*",
        [("protocol/trained_model.cc", "  const double whole = there(spent.epsilon);\n",
          "  const double whole = there(spent.epsilon) * 0 + spent.epsilon;\n")]),
    "epsilon-at-the-charters-delta": (
        "epsilon_max is compared at whatever delta a charter names", "Policy.*",
        [("charter/policy.cc",
          "      return privacy::epsilon_at(us.epsilon, us.delta, data.budget.delta);\n",
          "      return us.epsilon;\n")]),
    "budget-by-name": (
        "a new name for known records starts a fresh budget", "SourceTest.*",
        [("ledger/ledger_declare.cc", "  if (source) TRY(chain.may_read(name, reads));\n", "")]),
    "blind-witness": (
        "an older copy of a ledger is opened though a witness has seen more", "WitnessTest.*",
        [("ledger/ledger_keep.cc", "  if (const auto& seen = witness.seen()) {\n",
          "  if (const auto& seen = witness.seen(); seen && seen->rows < 0) {\n")]),
    "commas-are-not-read": (
        "of tables with commas between them only the first is known", "TablesOfAQuery.*",
        [("charter/dataset/tables.cc", "      due = listing.back();\n", "      due = false;\n")]),
    "databases-by-table": (
        "a second name of a table in a database is believed to be another table", "SourceTest.*",
        [("ledger/storage/place.cc", "  if (a.reach == Reach::kServer) return true;\n", "")]),
    "sqlite-by-text": (
        "two texts about one SQLite file are two files", "SourceTest.*",
        [("ledger/storage/place.cc", "  return files_of(a).hold(files_of(b)) || files_of(b).hold(files_of(a));",
          "  return one.is == other.is && (files_of(a).hold(files_of(b)) || files_of(b).hold(files_of(a)));")]),
    "copies-of-tables": (
        "a copy of an SQLite file under another name is new", "SqliteSource.*",
        [("data/sources/sqlite.cc",
          "const auto digest = digest_of(database->get(), table))",
          "const auto digest = digest_of(database->get(), table); digest && tables.empty())")]),
    "any-dealer": (
        "a policy that allows sharing allows any dealer", "Policy.*",
        [("charter/policy.cc", "  return !dealt || dealer == Dealer::kLearner;\n", "  return true || dealt;\n")]),
    "threshold-not-used": (
        "a sparse graph's threshold is not the charter's, and nobody says so", "Neighbours.*",
        [("plan/learner/neighbours.cc",
          "  if (secure.threshold != 0 &&", "  if (secure.threshold < 0 &&")]),
    "liars-not-on-the-card": (
        "a card does not say that owners may lie", "PrivacyCard.*",
        [("protocol/trained_model.cc", "{\"an owner that lies about its data\", \"answer times\"}",
          "{\"answer times\"}")]),
    "noise-of-a-clone": (
        "noise of later answers follows from what was drawn before", "NoiseQueue.*",
        [("gate/noise_queue.h",
          "      entropy.renew();  // Each answer's noise depends on what the kernel gives for it.\n",
          "")]),
}


def occurrences(root, file, text):
    return (root / SRC / file).read_text().count(text)


def suites():
    """Every test suite of parley_tests, as filters name them."""
    text = "".join(file.read_text() for file in (ROOT / "src").rglob("*_test.cc"))
    plain = set(re.findall(r"\bTEST(?:_F)?\(\s*(\w+),", text))
    named = re.findall(r"INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+),", text)
    return plain | {f"{prefix}/{suite}" for prefix, suite in named}


def complaints():
    known = suites()
    for name, (_, filters, edits) in MUTANTS.items():
        for file, text, _ in edits:
            found = occurrences(ROOT, file, text)
            if found != 1:
                yield f"{name}: its text stands {found} times in {SRC}{file}, not once: {text!r}"
        for pattern in filters.split(":"):
            if pattern.split(".")[0] not in known:
                yield f"{name}: there is no test suite {pattern.split('.')[0]}"


def copy_tree(scratch):
    """What is under version control, as it stands now. Only what differs is written, so that the build
    does no more than it must."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], check=True, capture_output=True).stdout
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    for name in names:
        source, target = ROOT / name, scratch / name
        if not source.is_file() or target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for old in (scratch / "src").rglob("*"):
        if old.is_file() and old.relative_to(scratch).as_posix() not in names:
            old.unlink()


THROUGH = []  # a command that runs every build and test, such as nice


def build(scratch):
    if not (scratch / "build/dev/build.ninja").is_file():
        subprocess.run([*THROUGH, "cmake", "--preset", "dev"], cwd=scratch, check=True,
                       stdout=subprocess.DEVNULL)
    return subprocess.run([*THROUGH, "cmake", "--build", "--preset", "dev", "--target", "parley_tests"],
                          cwd=scratch, capture_output=True, text=True, check=False)


def run_tests(scratch, filters):
    """None if all pass, else the first that did not."""
    environment = {**os.environ, "PARLEY_SOURCE": str(scratch)}
    command = [*THROUGH, scratch / "build/dev/tests/parley_tests", f"--gtest_filter={filters}"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600,
                              check=False)
    except subprocess.TimeoutExpired:
        return "(no end)"
    if done.returncode == 0:
        if "[  PASSED  ] 0 tests" in done.stdout:
            sys.exit(f"no test fits {filters}")
        return None
    failed = re.findall(r"\[  FAILED  \] ([^\s,]+)", done.stdout)
    started = re.findall(r"\[ RUN      \] (\S+)", done.stdout)
    return failed[0] if failed else f"{started[-1] if started else '?'} (ended the process)"


def outcome(scratch, name):
    _, filters, edits = MUTANTS[name]
    kept = {}
    try:
        for file, text, instead in edits:
            path = scratch / SRC / file
            kept.setdefault(path, path.read_text())
            path.write_text(path.read_text().replace(text, instead))
        built = build(scratch)
        if built.returncode != 0:
            print(built.stdout[-2000:], file=sys.stderr)
            return "does not build", ""
        killer = run_tests(scratch, filters)
        return ("killed", killer) if killer else ("SURVIVED", "")
    finally:
        for path, content in kept.items():
            path.write_text(content)


def sound(scratch, names):
    """The tests must pass without a mutant, or they prove nothing."""
    built = build(scratch)
    if built.returncode != 0:
        sys.exit(built.stdout[-2000:])
    filters = ":".join(sorted({f for name in names for f in MUTANTS[name][1].split(":")}))
    failed = run_tests(scratch, filters)
    if failed:
        sys.exit(f"fails without any mutant: {failed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MUTANTS, metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--through", default="", help="runs every build and test: 'nice -n 10'")
    options = parser.parse_args()
    THROUGH.extend(options.through.split())
    if options.list:
        return print("\n".join(MUTANTS))
    wrong = list(complaints())
    if options.check or wrong:
        print("\n".join(wrong) or f"{len(MUTANTS)} mutants fit the source")
        return sys.exit(bool(wrong))
    scratch = options.scratch.resolve()
    names = options.only or list(MUTANTS)
    copy_tree(scratch)
    sound(scratch, names)
    survived = 0
    for name in names:
        verdict, killer = outcome(scratch, name)
        survived += verdict != "killed"
        print(f"{name:24}{verdict:16}{killer:64}{MUTANTS[name][0]}", flush=True)
    print(f"{len(names) - survived} of {len(names)} killed")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
