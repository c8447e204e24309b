#!/usr/bin/env python3
"""The times of rate.mjs for native code on one thread, through the Python package.

    VOXSHELL_BASELINE=1 RAYON_NUM_THREADS=1 python js/benches/native.py     # without AVX2
"""
import json
import time

import numpy as np

import voxshell


def best(call, count=1):
    """Least time over 40 rounds of a call that answers `count` queries, per query, microseconds."""
    call()
    least = float("inf")
    for _ in range(40):
        begin = time.perf_counter()
        call()
        least = min(least, 1e6 * (time.perf_counter() - begin) / count)
    return least


def cook():
    """Two bodies, and the time of cooking them, milliseconds."""
    begin = time.perf_counter()
    bodies = [voxshell.Shape.primitive(kind, resolution=96, samples=2000) for kind in ("torus_knot", "gear")]
    return bodies, 1e3 * (time.perf_counter() - begin)


(a, b), first_cook_ms = cook()
cook_ms = min(cook()[1] for _ in range(5))
# One call for all, because a call makes its threads.
pose, start, end = (np.tile([0, y, 0, 0, 0, 0, 1.0], (200, 1)) for y in (0.27, 1, -1))
points = 0.4 * np.sin(1.37 * np.arange(300_000)).reshape(-1, 3)
one = {"coverage": "samples", "threads": 1}
print(json.dumps({
    "first_cook_ms": first_cook_ms,
    "cook_ms": cook_ms,
    "distance_us": best(lambda: voxshell.distance(a, b, pose, **one), 200),
    "contacts_us": best(lambda: voxshell.contacts(a, b, pose, max_contacts=16, **one), 200),
    "time_of_impact_us": best(lambda: voxshell.time_of_impact(a, b, start, end, path="straight", **one), 200),
    "sample_100k_us": best(lambda: a.sample(points)),
}))
