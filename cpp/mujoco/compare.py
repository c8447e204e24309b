#!/usr/bin/env python3
"""Compares MuJoCo's own collision with the plugin, scene by scene.

Prints for each scene and side the time of a collision pass and of a step, the depth of the bodies in each other and what
they did. All sides start at the same state with the same options of the solver: "stock" is MuJoCo's own collision,
"voxshell" the plugin, and "now" the plugin with contacts of the present poses alone (its attribute look_ahead is 0).

The time of a collision pass is processor time, measured on the states of the plugin's run, one call per state, so that no
call repeats the one before. Depths are those of depth.py, which asks neither side: at the poses of the run, from its first step on.

  depth_max     largest depth; an impact at v comes to about v times the step, whatever finds the contacts
  depth_p90     depth that nine of ten states with a contact do not exceed
  depth_rest    median of the last quarter of the run
  missed        largest depth that the reported contacts do not tell of: true depth less the reported one
"""
import argparse
import json
import math
import sys
import time

import mujoco
import numpy as np

import depth
import primitives as primitive_meshes
import scenes

SIDES = {"stock": None, "voxshell": {}, "now": {"look_ahead": 0}}


def run(model, scene, limit):
    """Simulates a scene. Returns positions and velocities after each step, and the mean time of a step in microseconds."""
    data = mujoco.MjData(model)
    data.ctrl[:] = scene.control
    states, speeds, start = [], [], time.perf_counter()
    for _ in range(int(scene.seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
        states.append(data.qpos.copy())
        speeds.append(data.qvel.copy())
        if time.perf_counter() - start > limit or not np.isfinite(data.qpos).all():
            break
    return states, speeds, 1e6 * (time.perf_counter() - start) / len(states)


def collision_time(model, states, speeds):
    """Median processor time of a collision pass over the states, microseconds."""
    data, times = mujoco.MjData(model), []
    for state, speed in zip(states, speeds):
        data.qpos[:], data.qvel[:] = state, speed
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        start = time.thread_time_ns()
        mujoco.mj_collision(model, data)
        times.append(time.thread_time_ns() - start)
    return float(np.median(times)) / 1e3


def depth_figures(model, states, deepest, looks):
    """Depths over a run, metres. `deepest` returns the true depth of an mjData and its pair of geoms."""
    data, depths, missed = mujoco.MjData(model), [], 0.0
    for state in states[::max(1, len(states) // looks)]:
        data.qpos[:] = state
        mujoco.mj_forward(model, data)  # at rest: no contact is ahead of its time
        true, pair = deepest(data)
        depths.append(true)
        reported = [-c.dist for c in data.contact if set(c.geom) == set(pair or ())]
        missed = max(missed, true - max(reported, default=0.0))
    touching = [d for d in depths if d > 0] or [0.0]
    return {"depth_max": max(depths), "depth_p90": float(np.quantile(touching, 0.9)),
            "depth_rest": float(np.median(depths[-len(depths) // 4:])), "missed": missed}


def exact_depth(model):
    """Depths of bodies that are functions, whose triangles in the model are too coarse: by the plugin, with finer fields."""
    data = mujoco.MjData(model)

    def deepest(given):
        data.qpos[:] = given.qpos
        mujoco.mj_forward(model, data)
        if not data.ncon or data.contact.dist.min() >= 0:
            return 0.0, None
        contact = data.contact[int(data.contact.dist.argmin())]
        return -float(contact.dist), tuple(contact.geom)
    return deepest


def compare(scene, primitives, meter, limit, settings, looks):
    assets = scene.assets(primitives)
    sides = {name: own if own is None else {**own, **settings} for name, own in SIDES.items()}
    models = {name: scenes.model(scene.xml, assets, own) for name, own in sides.items()}
    stock = models["stock"]
    if scene.functions:
        deepest = exact_depth(scenes.model(scene.xml, assets, {"resolution": 256, "samples": 30000}))
    else:
        deepest = lambda data: meter.deepest(stock, data)
    runs = {name: run(model, scene, limit) for name, model in models.items()}
    # Consecutive states, so that coherence counts, of the plugin's run, in which the bodies stay together.
    states, speeds, _ = runs["voxshell"]
    timed = slice(len(states) // 10, len(states) // 10 + 2 * looks)
    rows = []
    for name, model in models.items():
        own_states, _, step = runs[name]
        rows.append({"scene": scene.name, "side": name, "simulated": len(own_states) * model.opt.timestep, "step_us": step,
                     "collision_us": collision_time(model, states[timed], speeds[timed]),
                     **depth_figures(model, own_states, deepest, looks),
                     **scene.outcome(model, own_states)})
    return rows


def text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "%.4g" % value if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True, help="the plugin library, libvoxshell_mujoco.so")
    parser.add_argument("--library", dest="core", required=True, help="the shared library of the C API, for meshes and depths")
    parser.add_argument("--scene", action="append", help="only this scene; may be repeated")
    parser.add_argument("--limit", type=float, default=60, help="longest time of one simulation, s; it then ends early")
    parser.add_argument("--states", type=int, default=200, help="number of states of a run at which depth is measured")
    parser.add_argument("--set", action="append", default=[], metavar="ATTRIBUTE=VALUE", help="of the plugin instance")
    parser.add_argument("--json", action="store_true", help="one JSON object per scene and side")
    options = parser.parse_args()
    mujoco.mj_loadPluginLibrary(options.plugin)
    primitives, meter = primitive_meshes.Primitives(options.core), depth.DepthMeter(options.core)
    settings = dict(pair.split("=", 1) for pair in options.set)
    for scene in scenes.all_scenes():
        if options.scene and scene.name not in options.scene:
            continue
        try:
            rows = compare(scene, primitives, meter, options.limit, settings, options.states)
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
