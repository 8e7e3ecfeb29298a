"""dp-accounting's own tests of its PLD and RDP accountants, run against ours through the package, adapted in names only.

The tests are those that the installed dp-accounting carries; none of its code is kept here. Names that they import are ours
under theirs: an accountant turns its events into the JSON form of `parley.account` and asks "pld" or "rdp" there. Orders of
Renyi divergences are ours, so that those of a test are ignored, and delta at epsilon = 0 is asked at 1e-9. A test passes only if
it has asked `parley.account`. Of the others

- those of events or functions that only dp-accounting has (randomized response, mixtures, trees, repeat-and-select, samples of a
  fixed size, REPLACE_SPECIAL; curves of divergences and what they are made of) are counted apart, and so are those that ask nobody;
- those that differ are listed below with the reason; each of them must fail.
"""
import importlib
import re
import sys
import unittest
import warnings
from importlib.metadata import version

import parley
from dp_accounting import dp_event as dp
from dp_accounting import privacy_accountant

Relation = privacy_accountant.NeighboringRelation
ADJACENCY = {Relation.ADD_OR_REMOVE_ONE: "add_remove", Relation.REPLACE_ONE: "replace_one"}
NO_NOISE = "noise of 0 is no privacy, and is refused"
NOBODY = "nothing to account, also with a sampling probability of 0, is refused"
NUMBERS = "numbers out of range are refused in other words"
SAMPLED = "of sampled events only a single Gaussian one is known"
CURVE = "it reads a curve of Renyi divergences, a private attribute"
UNITS = "noise is measured by the sensitivity, so that it means something under each relation"
DIFFERS = {
    "Pld.*additive_noise_mechanisms_with_zero_noise_multiplier[0-3]": NO_NOISE,
    "Pld.*additive_noise_mechanisms_with_zero_noise_multiplier4": SAMPLED,
    "Pld.*composition_errors_for_neighboring_relation1": UNITS,
    "Pld.*composition_errors_for_neighboring_relation2": SAMPLED,
    "Pld.*discrete_laplace_basic": "delta = 0 is refused",
    "(Pld|Rdp).*no_(events|op)": NOBODY,
    "Pld.*poisson_subsampled_laplace": SAMPLED,
    "Pld.*poisson_subsampling_laplace_not_supported_for_replace_one": SAMPLED,
    "Pld.*poisson_subsampling_with_zero_probability[0-3]": NOBODY,
    "Rdp.*compute_rdp_(gaussian|multi_zcdp|poisson_sampled_gaussian)": CURVE,
    "Rdp.*compute_rdp_multi_gaussian": SAMPLED,
    "Rdp.*epsilon_delta_consistency": NOBODY,
    "Rdp.*epsilon_non_private_gaussian": NO_NOISE,
    "Rdp.*laplace_(small|medium|large)_eps": "at delta = 1e-10 ours says 6e-6 more than epsilon at delta = 0, theirs nothing more",
    "Rdp.*laplace_repetition": "ours is tighter: 83.2 at delta = 1e-10, where orders that stand for delta = 0 give 100",
    "Rdp.*log_a_frac_early_termination": "no such warning: a series that does not converge is not used",
    "Rdp.*raises_on_invalid_.*": NUMBERS,
    "Rdp.*rdp_composition": CURVE,
    "Rdp.*test_supports": "sampled events are also known under REPLACE_ONE",
    "Rdp.*zcdp_matches_gaussian": CURVE,
    "Rdp.*zero_poisson_sample[01]": NOBODY,
}
asked = 0  # of parley.account
theirs = 0  # uses of what only dp-accounting has


def ask(accountant, events, adjacency, **at):
    """One number of one of our accountants; None if it has none."""
    global asked
    asked += 1
    return parley.account(events, accountant=accountant, adjacency=adjacency, **at).by(accountant)[0]


def converted(event, relation):
    """Our JSON form, or the event that has none. Under REPLACE_ONE theirs measure noise by the norm of a record, ours by the
    sensitivity, which is twice that."""
    half = 0.5 if relation == Relation.REPLACE_ONE else 1.0
    if isinstance(event, dp.NoOpDpEvent):
        return {"no_op": {}}
    if isinstance(event, dp.GaussianDpEvent):
        return {"gaussian": {"noise_multiplier": half * event.noise_multiplier}}
    if isinstance(event, dp.LaplaceDpEvent):
        return {"laplace": {"noise_multiplier": half * event.noise_multiplier}}
    if isinstance(event, dp.DiscreteLaplaceDpEvent) and relation == Relation.ADD_OR_REMOVE_ONE:
        return {"discrete_laplace": {"noise_parameter": event.noise_parameter, "sensitivity": event.sensitivity}}
    if isinstance(event, dp.ZCDpEvent):
        return {"zcdp": {"rho": event.rho, "xi": event.xi}}
    if isinstance(event, dp.PoissonSampledDpEvent):
        inner = converted(event.event, relation)
        return inner if isinstance(inner, dp.DpEvent) else {
            "poisson_sampled": {"sampling_probability": event.sampling_probability, "event": inner}}
    if isinstance(event, dp.SelfComposedDpEvent):
        inner = converted(event.event, relation)
        return inner if isinstance(inner, dp.DpEvent) else {"self_composed": {"count": event.count, "event": inner}}
    if isinstance(event, dp.ComposedDpEvent):
        inner = [converted(each, relation) for each in event.events]
        return next((each for each in inner if isinstance(each, dp.DpEvent)), {"composed": {"events": inner}})
    return event


class Accountant(privacy_accountant.PrivacyAccountant):
    """Theirs in name, ours in every number."""

    NAME = ""

    def __init__(self, orders=None, neighboring_relation=Relation.ADD_OR_REMOVE_ONE):
        super().__init__(neighboring_relation)
        self._events = []

    def _maybe_compose(self, event, count, do_compose):
        form = converted(event, self._neighboring_relation)
        if isinstance(form, dp.DpEvent) or self._neighboring_relation not in ADJACENCY:
            global theirs
            theirs += 1
            return self.CompositionErrorDetails(form if isinstance(form, dp.DpEvent) else event, "is no event of ours")
        if not do_compose:
            known = ask(self.NAME, form, ADJACENCY[self._neighboring_relation], delta=0.5) is not None
            return None if known else self.CompositionErrorDetails(event, "our accountant has no number")
        self._events.append({"self_composed": {"count": count, "event": form}})
        return None

    def get_epsilon(self, target_delta):
        return ask(self.NAME, self._events, ADJACENCY[self._neighboring_relation], delta=target_delta)

    def get_delta(self, target_epsilon):
        return ask(self.NAME, self._events, ADJACENCY[self._neighboring_relation], epsilon=target_epsilon or 1e-9)


class Pld(Accountant):
    NAME = "pld"

    def __init__(self, neighboring_relation=Relation.ADD_OR_REMOVE_ONE):
        super().__init__(None, neighboring_relation)


class Rdp(Accountant):
    NAME = "rdp"


class Divergence:
    """What stands for a curve of Renyi divergences: the event that has it."""

    def __init__(self, q, noise_multiplier, orders):
        gaussian = {"gaussian": {"noise_multiplier": noise_multiplier}}
        self.event = gaussian if q == 1 else {"poisson_sampled": {"sampling_probability": q, "event": gaussian}}


def compute(orders, rdp, delta=None, epsilon=None):
    """Epsilon or delta, and the order that gave it, which nobody is told here."""
    if not isinstance(rdp, Divergence):
        return Theirs().curve
    at = {"delta": delta} if epsilon is None else {"epsilon": epsilon or 1e-9}
    return ask("rdp", rdp.event, "add_remove", **at), None


class Theirs:
    """A module of theirs: a name that is not ours says so."""

    def __init__(self, **ours):
        self.__dict__.update(ours)

    def __getattr__(self, name):
        global theirs
        theirs += 1
        raise AttributeError(f"only dp-accounting has {name}")


def tests_of(name, **ours):
    """Their tests, with our names in their module."""
    module = importlib.import_module(name)
    module.__dict__.update(ours)
    for suite in unittest.defaultTestLoader.loadTestsFromModule(module):
        yield from suite


def all_tests():
    yield from tests_of("dp_accounting.pld.pld_privacy_accountant_test",
                        pld_privacy_accountant=Theirs(PLDAccountant=Pld, NeighborRel=Relation))
    yield from tests_of("dp_accounting.rdp.rdp_privacy_accountant_test", rdp_privacy_accountant=Theirs(
        RdpAccountant=Rdp, compute_epsilon=compute, compute_delta=compute,
        _compute_rdp_poisson_subsampled_gaussian=Divergence))


def reason(name):
    return next((why for pattern, why in DIFFERS.items() if re.fullmatch(pattern, name)), None)


def main():
    warnings.simplefilter("ignore")
    global asked, theirs
    wrong, counted = [], dict.fromkeys(("passes", "differs", "theirs"), 0)
    for test in all_tests():
        name, asked, theirs = f"{type(test).__name__}.{test._testMethodName}", 0, 0
        result = unittest.TestResult()
        test.run(result)
        problems = "".join(text for _, text in result.failures + result.errors)
        kind = ("passes" if asked and not problems and not theirs else
                "theirs" if theirs or not asked else "differs")
        counted[kind] += 1
        print(f"{kind}  {name}  {reason(name) or '' if kind == 'differs' else ''}")
        if (kind == "differs") != (reason(name) is not None):
            wrong.append(name)
            print(problems)
    print(f"{version('dp-accounting')}: " + ", ".join(f"{number} {kind}" for kind, number in counted.items()))
    sys.exit(f"not as listed: {wrong}" if wrong or counted["passes"] < 18 else 0)


if __name__ == "__main__":
    main()
