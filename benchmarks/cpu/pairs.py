# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our own calls of a problem, and two of them beside each other: pointers and descriptors, f32 and
a narrower type."""

from __future__ import annotations

import statistics

from measure import quartiles, samples_in_turn, time_in_turn

FORMS = ("pointers", "descriptors")
ROUNDS, SECONDS = 201, 1.5  # in which two calls are compared


def our_runners(bench, variant: str, tensors, replay=None) -> dict:
    """By block size."""
    if replay is not None:
        names = [name for name in bench.launches(variant) if replay.has(bench, variant, name)]
        return {name: replay.runner(bench, variant, tensors, name) for name in names}
    return {
        name: (lambda launch=launch: launch(tensors))
        for name, launch in bench.launches(variant).items()
    }


def fastest(runners: dict) -> str:
    """The name of the one that takes the least time."""
    if len(runners) == 1:
        return next(iter(runners))
    times = time_in_turn(runners, rounds=5, budget=0.3)
    return min(times, key=lambda name: times[name].least)


def samples_of(runners: dict) -> dict:
    """Seconds of each runner, the same number of each, in rounds of their own."""
    samples, _ = samples_in_turn(
        runners, rounds=ROUNDS, budget=SECONDS, least=9, share_threads=True
    )
    return samples


def spread(over: list[float], under: list[float]) -> tuple[float, ...]:
    """The quartiles of the ratio of the times that each round saw."""
    # One that takes longer than the budget was called only once.
    return quartiles([one / other for one, other in zip(over, under, strict=False)])


def compare_forms(bench, tensors, blocks: dict, replay=None) -> dict:
    """The time with pointers over the time with descriptors: the median, and the quartiles, of the
    ratio in rounds of their own, in which both take turns on the same arrays. Either form has the
    better one of the block sizes that were chosen for the two, where it has both: which size was the
    fastest in a few rounds is chance where they are alike."""
    calls = {form: our_runners(bench, form, tensors, replay) for form in FORMS}
    sizes = dict.fromkeys(blocks.values())
    samples = samples_of(
        {
            (form, size): calls[form][size]
            for size in ("", *sizes)
            for form in FORMS
            if size in calls[form]
        }
    )
    best = {
        form: min(
            (name for name in samples if name[0] == form),
            key=lambda name: statistics.median(samples[name]),
        )
        for form in FORMS
    }
    low, middle, high = spread(*(samples[best[form]] for form in FORMS))
    return {"descriptor_ratio": middle, "descriptor_low": low, "descriptor_high": high}


def compare_wide(bench, own, replay=None) -> dict:
    """The time of the same problem in f32 over that of `own`, our call: the median, and the
    quartiles, of the ratio in rounds of their own, as other problems were timed minutes ago, when
    the machine may have been another. Both have the block size that is the fastest."""
    calls = our_runners(bench.wide, "pointers", bench.wide.inputs(), replay)
    if not calls:
        return {}
    samples = samples_of({"wide": calls[fastest(calls)], "own": own})
    low, middle, high = spread(samples["wide"], samples["own"])
    return {"of_f32": middle, "of_f32_low": low, "of_f32_high": high}
