"""Histories: what a network with variables is fed where each inference goes on from the one before.

The same input then gives another output at another place. So each place of a sequence has an input set of its
own, and whatever is compared by input set is compared place by place.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.models.inputs import InputSet


def histories(
    inputs: Sequence[InputSet], sequence: Sequence[int], length: int
) -> tuple[tuple[InputSet, ...], ...]:
    """One history of `length` input sets for each of `inputs`.

    The first goes through `sequence` again and again; each other one starts an input set later, so that
    models which are loaded together do not have the same variables at the same time. `A@2` is the input set A
    as the third one that comes in.
    """
    return tuple(
        tuple(
            InputSet(f"{chosen.label}@{place}", chosen.tensors)
            for place in range(length)
            for chosen in [inputs[(sequence[place % len(sequence)] + start) % len(inputs)]]
        )
        for start in range(len(inputs))
    )
