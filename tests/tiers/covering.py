"""A few of the cases of a product of parameters, so that each value, or each pair of values, is in one of them."""

import itertools
import random
from collections.abc import Container, Hashable, Mapping, Sequence

SEED = 49

Values = Mapping[str, Hashable]


def covering(cases: Sequence[Values], paired: Container[str]) -> list[int]:
    """The numbers of the chosen cases. Each value that some case has, a chosen one has too, and so each pair of values
    of two parameters that are both `paired`.

    Greedy: always the case with most combinations that are new; of several, one that the fixed seed chooses.
    """
    found = [combinations(case, paired) for case in cases]
    order = list(range(len(cases)))
    random.Random(SEED).shuffle(order)
    left, chosen = frozenset[Hashable]().union(*found), []
    while left:
        best = max(order, key=lambda number: len(found[number] & left))
        chosen.append(best)
        left -= found[best]
    return sorted(chosen)


def combinations(case: Values, paired: Container[str]) -> frozenset[Hashable]:
    """Its values and pairs of values, with the names of their parameters."""
    named = sorted(case.items(), key=lambda item: item[0])
    pairs = itertools.combinations([item for item in named if item[0] in paired], 2)
    return frozenset([*named, *pairs])
