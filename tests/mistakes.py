#!/usr/bin/python3
"""Mistakes in what computes the papers' figures, each with the items whose verdict must notice.

    mistakes.py --write DIR    copies of studies/ with all mistakes in them, of which parley_mistaken makes one at a time
    mistakes.py --check        that each text stands in its file exactly once: quick, and part of ctest

scripts/check reproduce builds parley_mistaken and runs it. The shipped program is built from studies/ itself, which has none of this.
"""

import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES, PAPER = "studies/reproduce/", "studies/paper/"
HERE = "MISTAKEN"  # in the text instead: whether the mistake is made

# name: what is wrong; the items that must notice; edits of (file, expression, instead).
MISTAKES = {
    # Wu et al.
    "sync-noise-thrice": ("the noise of a bank is three times as large", "S-claim1 S-claim2", [
        ("sync/job.cc", "2 * plan.bound * plan.answers", "6 * plan.bound * plan.answers")]),
    "sync-budget-not-split": ("every answer has the whole budget", "S-F2 S-F7", [
        ("sync/job.cc", "2 * plan.bound * plan.answers", "2 * plan.bound")]),
    "sync-budget-root": ("noise falls with the root of the budget", "S-F2 S-F4", [
        ("sync/job.cc", "at.epsilon[i]", "std::sqrt(at.epsilon[i])")]),
    "sync-budget-turned": ("noise grows with the budget", "S-F2 S-F3 S-F4 S-F6 S-F7 S-F8 S-F11", [
        ("sync/job.cc", "at.epsilon[i]", "1 / at.epsilon[i]")]),
    "sync-size-root": ("noise falls with the root of the records", "S-F5 S-claim1 S-claim2", [
        ("sync/job.cc", "banks.rows(i)", "std::sqrt(banks.rows(i))")]),
    "sync-size-turned": ("noise grows with the records", "S-F3 S-F5 S-F8", [
        ("sync/job.cc", "banks.rows(i)", "1 / banks.rows(i)")]),
    "overlap-forgotten": ("records in several data sets cost nothing", "S-claim3", [
        ("sync/job.cc", "at.overlap", "1.0")]),
    "overlap-squared": ("noise grows with the square of the overlap", "S-claim3", [
        ("sync/job.cc", "at.overlap", "at.overlap * at.overlap")]),
    "sync-steps-none": ("no step is taken", "S-F2 S-F3 S-F4 S-F5", [
        ("sync/job.cc", "steep ? 1 / curvature : profile.step", "0.0")]),
    "sync-steps-turned": ("steps go uphill", "S-claim1 S-claim2", [
        ("sync/job.cc", "steep ? 1 / curvature : profile.step", "-(steep ? 1 / curvature : profile.step)")]),
    "end-over-the-larger": ("the end is divided by a maximum that includes it", "S-F2 S-F7", [
        ("sync/job.cc", "ratio(end, start)", "ratio(end, end.value > start.value ? end : start)")]),
    "within-ninety-of-the-root": ("90 % is asked of the root of the excess", "S-claim1 S-claim2", [
        ("sync/job.cc", "1 / (1 + psi.value)", "1 / (1 + std::sqrt(psi.value))")]),
    "one-budget-for-all": ("all banks have the first one's budget", "S-F6 S-F11", [
        ("sync/scenarios.cc", "{epsilon, others, others}",
         "{epsilon, MISTAKEN ? epsilon : others, MISTAKEN ? epsilon : others}")]),
    "scenarios-exchanged": ("small banks are large, and large ones small", "S-F6 S-F11", [
        ("sync/scenarios.cc", "large ? setup.large : setup.small", "large ? setup.small : setup.large")]),
    "theorem-from-the-optimum": ("the counterexample starts where it should end", "S-T2", [
        ("sync/theorem.cc", "kStart * kStart", "0.0")]),
    "theorem-exponent": ("the bound is larger by Xi's and T's exponents", "S-T2", [
        ("sync/theorem.cc", "*std::ranges::min_element(fixed.y) / (kBound + kSlack)",
         "*std::ranges::min_element(fixed.y) / (1e3 * (kBound + kSlack))")]),
    # Farokhi et al.
    "async-noise-thrice": ("the noise of an owner is three times as large", "A-F4 A-F7", [
        ("async/job.cc", "2 * plan.bound * answers", "6 * plan.bound * answers")]),
    "async-budget-not-split": ("every answer has the whole budget", "A-F4 A-F6 A-F7 A-abs", [
        ("async/job.cc", "2 * plan.bound * answers", "2 * plan.bound")]),
    "async-budget-root": ("noise falls with the root of the budget", "A-F4 A-F5", [
        ("async/job.cc", "owners.rows(i) * epsilon", "owners.rows(i) * std::sqrt(epsilon)")]),
    "async-size-root": ("noise falls with the root of the records", "A-F4 A-F5", [
        ("async/job.cc", "owners.rows(i) * epsilon", "std::sqrt(owners.rows(i)) * epsilon")]),
    "async-budget-turned": ("noise grows with the budget", "A-F2 A-F4 A-F8 A-F10", [
        ("async/job.cc", "owners.rows(i) * epsilon", "owners.rows(i) / epsilon")]),
    "async-steps-none": ("no step is taken", "A-F2 A-F4 A-F8", [
        ("async/job.cc", ".step = plan.step", ".step = MISTAKEN ? 0 : plan.step")]),
    "alone-untrained": ("an owner alone has the model 0", "A-F6 A-F7", [
        ("async/job.cc", "owners.relative(best.theta).front()", "at_start(owners)")]),
    "one-fast-clock": ("one clock ticks four times as fast", "A-F3 A-F9", [
        ("async/timing.cc", "clocks.add(1)", "clocks.add(i == 0 ? 4 : 1)")]),
    "gaps-not-squared": ("gaps are not squared", "A-F3 A-F9", [
        ("async/timing.cc", "std::pow(rate * (ticks[k].time - ticks[k - 1].time), 2) / 2",
         "rate * (ticks[k].time - ticks[k - 1].time) / 2")]),
    "async-end-turned": ("the start is divided by the end", "A-F2 A-F8", [
        ("async/bands.cc", "end.value / rounds.start", "rounds.start / end.value")]),
    "surface-exponent": ("bound (11) has the budget and not its square", "A-F4", [
        ("async/grid.cc", "constant / (n * n) * kBanks / (epsilon * epsilon)",
         "constant / (n * n) * kBanks / epsilon")]),
    "line-thirty-times": ("the line of Figure 10 is thirty times as high", "A-F10", [
        ("async/hospital.cc", "0.9 / epsilon + 0.6 / (epsilon * epsilon)",
         "27 / epsilon + 18 / (epsilon * epsilon)")]),
    "gain-turned": ("those that lose are counted as gaining", "A-F7", [
        ("async/hospital_gain.cc", "own > level", "own < level")]),
    "alone-a-third": ("what one bank reaches alone is divided by three", "A-F6", [
        ("async/coalition.cc", "ratio(way.means[k][e], {coalitions.alone[k], 0})",
         "ratio(way.means[k][e], {coalitions.alone[k] / 3, 0})")]),
    "alone-thrice": ("what one bank reaches alone is three times as bad", "A-F6", [
        ("async/coalition.cc", "ratio(way.means[k][e], {coalitions.alone[k], 0})",
         "ratio(way.means[k][e], {coalitions.alone[k] * 3, 0})")]),
    "async-theorem-distance": ("the distance is divided by the square of the rounds", "A-T2", [
        ("async/theorem.cc", "std::pow(descent.output()[0] - best, 2)",
         "std::pow(descent.output()[0] - best, 2) / (double(rounds) * double(rounds))")]),
    # Slopes and ratios of all papers.
    "slope-turned": ("slopes have the other sign", "S-F4 S-F5 A-F5 H-rate H-comm", [
        ("estimate.cc", "slope += weight * std::log(y[k])", "slope -= weight * std::log(y[k])")]),
    "slope-halved": ("slopes are those of the root", "S-F4 S-F5 A-F5 A-F10 H-rate H-comm", [
        ("estimate.cc", "slope += weight * std::log(y[k])", "slope += weight * std::log(y[k]) / 2")]),
    "ratio-turned": ("ratios have their sides exchanged",
                     "S-F2 S-F3 S-F6 S-F7 S-F8 S-F11 S-claim3 A-F2 A-F4 A-F6 A-F8 A-F10 A-abs V-F1 V-F2 V-F3a H-T4", [
                         ("estimate.cc", "a.value / b.value", "b.value / a.value")]),
    "ratio-thrice": ("ratios are three times as large", "S-F2 S-claim3 A-F6 V-F1", [
        ("estimate.cc", "a.value / b.value", "3 * a.value / b.value")]),
    # Hu et al.
    "one-sided-penalty": ("ADMM has another penalty than what it is compared with", "V-F1", [
        ("sharing/convergence.cc", "papers(kLam, .15)", "papers(300 * kLam, .15)")]),
    "gradients-short-steps": ("stochastic gradients take a hundredth of the step", "V-F1", [
        ("sharing/convergence.cc", "orders_of(*columns, kLam, 1, runs, study)",
         "orders_of(*columns, kLam, .01, runs, study)")]),
    "gradients-penalty": ("the penalty of stochastic gradients is not divided by the records", "V-F1", [
        ("sharing/traces.cc", ".l2 = lam / double(labels.size())", ".l2 = MISTAKEN ? lam : lam / double(labels.size())")]),
    "admm-in-another-unit": ("what ADMM leaves is counted in millionths", "V-F2", [
        ("sharing/convergence.cc", "paper.objective.back() - optimum.objective",
         "1e6 * (paper.objective.back() - optimum.objective)")]),
    "columns-noise-thirty": ("noise on columns is thirty times as large", "V-F3a", [
        ("@sharing.cc", "sigma * real_normal(entropy)", "30 * sigma * real_normal(entropy)")]),
    "columns-noise-none": ("columns get no noise", "V-F3a V-F3b", [
        ("@sharing.cc", "sigma * real_normal(entropy)", "0 * sigma * real_normal(entropy)")]),
    "tenth-epoch-thrice": ("the tenth epoch is three times as bad", "V-F3a V-F3b", [
        ("sharing/noise.cc", "tenth[run] / last[run]", "3 * tenth[run] / last[run]")]),
    "spaces-exchanged": ("the test says the other data set", "V-T1 V-cor1", [
        ("sharing/noise.cc", "by_other < by_one", "by_other > by_one")]),
    "residual-forgotten": ("the test does not look at the message", "V-T1 V-cor1", [
        ("sharing/noise.cc", "(sent - basis * (basis.transpose() * sent)).norm() / sent.norm()", "1.0")]),
    "sent-twice": ("a party sends everything twice", "V-value", [
        ("sharing/values.cc", "sent(parties[m].share())", "sent(parties[m].share()) + sent(parties[m].share())")]),
    # Huang.
    "printed-noise-of-one-step": ("equation (2) without T", "H-L3", [
        ("@federated.cc", "8 * double(rule.rounds)", "8.0")]),
    "printed-budget-root": ("noise falls with the root of the budget", "H-L3 H-rate", [
        ("@federated.cc", "double(parties) * double(smallest) * rule.epsilon",
         "double(parties) * double(smallest) * std::sqrt(rule.epsilon)")]),
    "printed-size-root": ("noise falls with the root of the records", "H-rate", [
        ("@federated.cc", "double(parties) * double(smallest) * rule.epsilon",
         "double(parties) * std::sqrt(double(smallest)) * rule.epsilon")]),
    "printed-one-column": ("only the first column gets noise", "H-L3 H-rate", [
        ("@federated.cc", "sigma * real_normal(entropy)", "(j == 0 ? sigma : 0) * real_normal(entropy)")]),
    "left-side-thrice": ("the left side of Lemma 2 is three times as large", "H-L2", [
        ("federated/lemmas.cc", "run.distance[t + 1]", "3 * run.distance[t + 1]")]),
    "drift-forgotten": ("Lemma 3's left side is a hundredth", "H-L3", [
        ("federated/lemmas.cc", "square_distance(mean, model) / double(parties)",
         "square_distance(mean, model) / (100 * double(parties))")]),
    "one-noise-for-all": ("ten parties' noise is taken for one", "H-T1", [
        ("federated/privacy.cc", "std::sqrt(noises)", "1.0")]),
    "bound-exponent": ("the bound of Theorem 4 lacks a power of lambda", "H-T4", [
        ("federated/local_steps.cc", "2 * c.smoothness / (l2 * (gamma + total))",
         "2 * c.smoothness / (gamma + total)")]),
    "error-squared": ("the error that K adds is squared", "H-K", [
        ("federated/local_steps.cc", "{more, 0}", "{MISTAKEN ? more * more : more, 0}")]),
    "steps-not-saved": ("there are as many aggregations as local steps", "H-comm", [
        ("federated/communication.cc", "kLocalSteps / steps", "kLocalSteps")]),
    # Beyond the papers.
    "forecast-five-times": ("the worst push is forecast five times as strong", "B-sync B-secure B-federated", [
        ("beyond/simulated.cc", "push(run, epsilon, liars).most", "5 * push(run, epsilon, liars).most")]),
    "forecast-a-third": ("the worst push is forecast a third as strong", "B-sync B-async", [
        ("beyond/simulated.cc", "push(run, epsilon, liars).most", "push(run, epsilon, liars).most / 3")]),
    "personal-is-joint": ("personal models are the joint one", "B-sync B-secure B-federated B-async", [
        ("beyond/world.cc", "models->alone_mixed : models->personal",
         "models->alone_mixed : MISTAKEN ? joint : models->personal")]),
    "columns-forecast-five-times": ("what a liar's columns tell is forecast five times as much", "B-sharing", [
        ("beyond/sharing.cc", "loss_on(world.pilot, best_model(without)) - best",
         "5 * (loss_on(world.pilot, best_model(without)) - best)")]),
    # Of all papers again.
    "slope-a-quarter-more": ("slopes are a quarter too steep", "S-F4 S-F5 S-F9 S-F10 A-F5 H-rate", [
        ("estimate.cc", "slope += weight * std::log(y[k])", "slope += 1.25 * weight * std::log(y[k])")]),
}


def path_of(name):
    return PAPER + name[1:] if name.startswith("@") else FIGURES + name


def edits():
    """By file and expression: the mistakes that replace it, in order."""
    found = {}
    for number, (_, _, places) in enumerate(MISTAKES.values()):
        for file, text, instead in places:
            found.setdefault((path_of(file), text), []).append((number, instead))
    return found


def in_place_of(text, mistakes):
    for number, instead in mistakes:
        if HERE in instead:
            return instead.replace(HERE, f"::parley::mistaken({number})")
    for number, instead in reversed(mistakes):
        text = f"(::parley::mistaken({number}) ? ({instead}) : ({text}))"
    return text


def with_mistakes(name, source):
    places = [(text, mistakes) for (file, text), mistakes in edits().items() if file == name]
    for text, mistakes in places:
        source = source.replace(text, in_place_of(text, mistakes))
    return '#include "support/mistaken.h"\n' + source if places else source


def write(folder):
    for path in sorted((ROOT / "studies").rglob("*.cc")):
        name = str(path.relative_to(ROOT))
        if name.endswith("_test.cc"):
            continue
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(with_mistakes(name, path.read_text()))
    quoted = json.dumps
    lines = [f"      {{{quoted(name)}, {quoted(what)}, {{{', '.join(map(quoted, items.split()))}}}}},\n"
             for name, (what, items, _) in MISTAKES.items()]
    (folder / "list.cc").write_text(
        '#include "support/mistaken.h"\n\nconst std::vector<parley::Mistake>& parley::mistakes() {\n'
        f"  static const std::vector<Mistake> all = {{\n{''.join(lines)}  }};\n  return all;\n}}\n")


def problems():
    listed = set(re.findall(r'^    \{"([SAVHB]-[^"]+)"', (ROOT / FIGURES / "registry.cc").read_text(), re.MULTILINE))
    for (file, text), mistakes in edits().items():
        count = (ROOT / file).read_text().count(text)
        if count != 1:
            yield f"{file}: {count} times: {text}"
        if len(mistakes) > 1 and any(HERE in instead for _, instead in mistakes):
            yield f"{file}: one of several mistakes says {HERE}: {text}"
    for name, (_, items, _) in MISTAKES.items():
        yield from (f"{name}: there is no item {item}" for item in items.split() if item not in listed)
    noticing = {item for _, items, _ in MISTAKES.values() for item in items.split()}
    yield from (f"{item}: no mistake that it must notice" for item in sorted(listed - noticing))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = list(problems())
    for problem in found:
        print(problem)
    if options.write and not found:
        write(options.write)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
