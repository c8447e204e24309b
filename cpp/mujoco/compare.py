#!/usr/bin/env python3
"""Compares MuJoCo's own collision with the plugin, scene by scene.

Prints for each scene and side the time of one collision pass, of one step, the largest penetration and what the bodies
did. Both sides start at the same state with the same options. The time of a collision pass of both is measured on the states
of the plugin's run, one call per state, so that no call repeats the one before. The penetration of both sides is measured
by the plugin with finer fields and six times as many samples.
"""
import argparse
import json
import math
import sys
import time

import mujoco
import numpy as np

import primitives as primitive_meshes
import scenes


def run(model, scene, steps, limit):
    """Simulates a scene. Returns the states, and the mean time of a step in microseconds."""
    data = mujoco.MjData(model)
    data.ctrl[:] = scene.control
    states, start = [], time.perf_counter()
    for _ in range(steps):
        mujoco.mj_step(model, data)
        states.append(data.qpos.copy())
        if time.perf_counter() - start > limit or not np.isfinite(data.qpos).all():
            break
    return states, 1e6 * (time.perf_counter() - start) / len(states)


def collision_time(model, states):
    """Median time of a collision pass over the states, microseconds."""
    data, times = mujoco.MjData(model), []
    for state in states:
        data.qpos[:] = state
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        start = time.perf_counter_ns()
        mujoco.mj_collision(model, data)
        times.append(time.perf_counter_ns() - start)
    return float(np.median(times)) / 1e3


def penetration(exact_model, states):
    """Largest and median depth of the deepest contact over the states, metres."""
    data, depths = mujoco.MjData(exact_model), []
    for state in states:
        data.qpos[:] = state
        mujoco.mj_forward(exact_model, data)
        depths.append(max(0.0, -float(data.contact.dist.min())) if data.ncon else 0.0)
    return max(depths), float(np.median(depths))


def compare(scene, primitives, limit, settings):
    assets = scene.assets(primitives)
    rows, exact = [], scenes.model(scene.xml, assets, {"resolution": 256, "samples": 30000})
    models = {"stock": scenes.model(scene.xml, assets), "voxshell": scenes.model(scene.xml, assets, settings)}
    runs = {side: run(model, scene, int(scene.seconds / model.opt.timestep), limit) for side, model in models.items()}
    # Consecutive states, so that coherence counts, of the plugin's run, in which the bodies stay together.
    states = runs["voxshell"][0]
    timed = states[len(states) // 10:][:400]
    for side, model in models.items():
        states, step = runs[side]
        largest, median = penetration(exact, states[len(states) // 4::max(1, len(states) // 200)])
        rows.append({"scene": scene.name, "side": side, "simulated": len(states) * model.opt.timestep, "step_us": step,
                     "collision_us": collision_time(model, timed), "depth_max": largest, "depth_median": median,
                     **scene.outcome(model, states)})
    return rows


def text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "%.4g" % value if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True, help="the plugin library, libvoxshell_mujoco.so")
    parser.add_argument("--library", dest="core", required=True, help="the shared library of the C API, for the meshes of primitives")
    parser.add_argument("--scene", action="append", help="only this scene; may be repeated")
    parser.add_argument("--limit", type=float, default=60, help="longest time of one simulation, s; it then ends early")
    parser.add_argument("--set", action="append", default=[], metavar="ATTRIBUTE=VALUE", help="of the plugin instance")
    parser.add_argument("--json", action="store_true", help="one JSON object per scene and side")
    options = parser.parse_args()
    mujoco.mj_loadPluginLibrary(options.plugin)
    primitives = primitive_meshes.Primitives(options.core)
    settings = dict(pair.split("=", 1) for pair in options.set)
    for scene in scenes.all_scenes():
        if options.scene and scene.name not in options.scene:
            continue
        try:
            rows = compare(scene, primitives, options.limit, settings)
        except scenes.Unavailable as reason:
            print(f"skipped: {scene.name}: {reason}", file=sys.stderr)
            continue
        for row in rows:
            if options.json:
                print(json.dumps({key: None if isinstance(value, float) and math.isnan(value) else value
                                  for key, value in row.items()}), flush=True)
            else:
                print("  ".join(f"{key} {text(value)}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
