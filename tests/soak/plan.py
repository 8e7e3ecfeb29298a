"""What befalls a job: everything follows from its seed."""

import dataclasses
import random

from hostile import LEARNER_KINDS, OWNER_KINDS, REFUSES
from strangers import KINDS as STRANGERS
from worlds import LEARNER, WORLDS

# How often each fault is drawn, relative to the others.
WEIGHTS = {
    "kill": 8, "stop": 2, "pause": 4, "partition": 3, "cut": 3, "delay": 2, "lose": 1, "duplicate": 1,
    "corrupt": 2, "disk": 2, "clock": 2, "descriptors": 1, "memory": 1, "expired": 1, "replaced": 1,
    "flood": 3, "hostile_owner": 3, "hostile_learner": 2,
}
ON_A_WIRE = ("partition", "cut", "delay", "lose", "duplicate", "corrupt", "hostile_learner")
AT_A_DOOR = ("flood", "hostile_owner")
HOURS = (-24 * 400, -24, -2, -0.5, 0.5, 2, 24, 24 * 400)


@dataclasses.dataclass
class Fault:
    kind: str
    whom: object        # a party, a wire (who dials, whom) or, for a visit, the wire it comes from
    after: int          # bytes that journals must have grown by since the fault before it,
    patience: float     # or so many seconds
    lasts: float        # seconds
    how: object = None  # what kind of flood, how far a clock jumps, ...

    def __str__(self):
        whom = "->".join(self.whom) if isinstance(self.whom, tuple) else self.whom
        how = "" if self.how is None else f" ({self.how})"
        return f"{self.kind} {whom}{how} {self.lasts:.1f} s"


@dataclasses.dataclass
class Plan:
    seed: int
    protocol: str
    faults: list

    def befalls(self, *kinds):
        return [fault for fault in self.faults if fault.kind in kinds]


def drawn(seed, can, protocols=tuple(WORLDS)):
    """The plan of that seed. `can` says which kinds this machine is able to do."""
    chance = random.Random(seed)
    protocol = chance.choice(protocols)
    count = chance.randint(2, 7)
    faults = [fault(chance, WORLDS[protocol]) for _ in range(count)]
    return Plan(seed, protocol, [each for each in faults if can(each.kind)])


def edges_and_parties(world):
    blank = world.__new__(world)  # Both are facts of the class.
    return blank.edges(), blank.parties()


def fault(chance, world):
    kind = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    edges, parties = edges_and_parties(world)
    whom = chance.choice(edges if kind in ON_A_WIRE + AT_A_DOOR else parties)
    if LEARNER in parties and whom != LEARNER and kind in ("kill", "disk") and chance.random() < 0.3:
        whom = LEARNER  # Of ten owners one is rarely missed.
    how = {"flood": lambda: chance.choice(STRANGERS),
           "hostile_owner": lambda: chance.choice(OWNER_KINDS),
           "hostile_learner": lambda: chance.choice(LEARNER_KINDS),
           "clock": lambda: chance.choice(HOURS),
           "delay": lambda: round(chance.uniform(0.005, 0.15), 3)}.get(kind, lambda: None)()
    if kind == "hostile_owner" and world.may_refuse and chance.random() < 0.4:
        whom, how = world.may_refuse, REFUSES
    return Fault(kind, whom, chance.choice([0, chance.randrange(60_000)]), chance.uniform(0.1, 2.5),
                 chance.choice([0.2, 1.0, chance.uniform(0.5, 5.0)]), how)
