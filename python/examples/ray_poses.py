#!/usr/bin/env python3
"""Contacts of many bodies at many poses, on the workers of a Ray cluster.

    pip install voxshell "ray[default]"
    python ray_poses.py --bodies 4 --poses 1000000 --workers 2

Each body is cooked once, by one worker. Its poses relative to a plate with a hole are then shared out in parts. Samples alone
are tested, and not the edges between them. The program prints a hash of all answers, which is the same for any number of
workers, and with --here, which uses no Ray.
"""
import argparse
import hashlib
import json
import time

import numpy as np

import voxshell

KINDS = ("torus_knot", "gear", "bowl", "blob", "cone", "hole", "peg", "torus")
PART = 50_000  # poses of one task


def cook(number):
    """Cooks a body; returns its bytes, which any process can read."""
    return voxshell.Shape.primitive(KINDS[number % len(KINDS)], resolution=96, samples=2000).to_bytes()


def make_poses(number, first, count):
    """Returns poses first, first + 1, … of a body: random, around the plate."""
    random = np.random.default_rng([number, first])
    poses = np.empty((count, 7))
    poses[:, :3] = random.uniform(-1.0, 1.0, (count, 3))
    turns = random.normal(size=(count, 4))
    poses[:, 3:] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    return poses


def evaluate(body, plate, number, first, count, threads=1):
    """Returns the hash of the closest or deepest contacts, and the number of poses in contact."""
    shapes = [voxshell.Shape.from_bytes(data) for data in (body, plate)]
    found = voxshell.distance(*shapes, make_poses(number, first, count), max_distance=0.1, coverage="samples", threads=threads)
    return hashlib.sha256(found.tobytes()).digest(), int((found["separation"] <= 0).sum())


def parts(options):
    for number in range(options.bodies):
        for first in range(0, options.poses, PART):
            yield number, first, min(PART, options.poses - first)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=4)
    parser.add_argument("--poses", type=int, default=1_000_000, help="of each body")
    parser.add_argument("--workers", type=int, default=2, help="of a cluster on this machine")
    parser.add_argument("--address", help="of a cluster that runs already")
    parser.add_argument("--here", action="store_true", help="in this process, without Ray")
    options = parser.parse_args()

    begin = time.perf_counter()
    if options.here:
        plate = cook(KINDS.index("hole"))
        bodies = [cook(number) for number in range(options.bodies)]
        answers = [evaluate(bodies[part[0]], plate, *part, threads=0) for part in parts(options)]
    else:
        import ray
        ray.init(address=options.address, num_cpus=None if options.address else options.workers)
        remote_cook, remote_evaluate = ray.remote(cook), ray.remote(evaluate)
        plate = remote_cook.remote(KINDS.index("hole"))
        bodies = [remote_cook.remote(number) for number in range(options.bodies)]
        answers = ray.get([remote_evaluate.remote(bodies[part[0]], plate, *part) for part in parts(options)])
    seconds = time.perf_counter() - begin
    total = hashlib.sha256(b"".join(digest for digest, _ in answers)).hexdigest()
    print(json.dumps({"bodies": options.bodies, "poses": options.poses, "touching": sum(n for _, n in answers),
                      "seconds": seconds, "poses_per_s": options.bodies * options.poses / seconds, "sha256": total}))


if __name__ == "__main__":
    main()
