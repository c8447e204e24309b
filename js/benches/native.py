#!/usr/bin/env python3
"""The times of rate.mjs for native code on one thread, through the Python package.

    VOXSHELL_BASELINE=1 RAYON_NUM_THREADS=1 python js/benches/native.py     # without AVX2
"""
import json
import time

import numpy as np

import voxshell


def best(call, count=1):
    """Least time over five rounds of a call that answers `count` queries, per query, microseconds."""
    call()
    least = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        call()
        least = min(least, 1e6 * (time.perf_counter() - begin) / count)
    return least


begin = time.perf_counter()
a = voxshell.Shape.primitive("torus_knot", resolution=96, samples=2000)
b = voxshell.Shape.primitive("gear", resolution=96, samples=2000)
cook_ms = 1e3 * (time.perf_counter() - begin)
# One call for all, because a call makes its threads.
pose, start, end = (np.tile([0, y, 0, 0, 0, 0, 1.0], (200, 1)) for y in (0.27, 1, -1))
points = 0.4 * np.sin(1.37 * np.arange(300_000)).reshape(-1, 3)
one = {"coverage": "samples", "threads": 1}
print(json.dumps({
    "cook_ms": cook_ms,
    "distance_us": best(lambda: voxshell.distance(a, b, pose, **one), 200),
    "contacts_us": best(lambda: voxshell.contacts(a, b, pose, max_contacts=16, **one), 200),
    "time_of_impact_us": best(lambda: voxshell.time_of_impact(a, b, start, end, path="straight", **one), 200),
    "sample_100k_us": best(lambda: a.sample(points)),
}))
