#!/usr/bin/env python3
"""Nuts that turn down their bolts: environments in one process, on all processors.

    pip install voxshell[mujoco]
    python nuts.py --environments 64 --steps 1000

An environment is an M16 nut on a fixed bolt in MuJoCo, with a torque about the nut's axis as its action; each begins at
another place of the thread. A step of an environment is a step of the simulation, 1 ms. The program prints the rate and what
the nuts did: a nut on its thread goes down by the pitch per turn.
"""
import argparse
import json
import math
import os
import time

import mujoco
import numpy as np
from mujoco import rollout

import voxshell
import voxshell.mujoco

PITCH = 0.002  # metres per turn
XML = """
<mujoco>
  <option timestep="0.001" sdf_initpoints="50" sdf_iterations="10"/>
  <default><geom type="sdf" density="7800" friction="0.01" solref="0.004 1" solimp="0.95 0.99 0.0001"/></default>
  <worldbody>
    <geom name="bolt" mesh="bolt" quat="1 1 0 0"/>
    <body name="nut" pos="0 0 0.02">
      <freejoint/>
      <geom name="nut" mesh="nut" quat="1 1 0 0"/>
      <site name="hand"/>
    </body>
  </worldbody>
  <actuator><motor site="hand" gear="0 0 0 0 0 1"/></actuator>
</mujoco>
"""


def make_model(**settings):
    """Compiles the model. The settings are those of the plugin."""
    spec = mujoco.MjSpec.from_string(XML)
    for name in ("bolt", "nut"):
        vertices, faces = voxshell.Shape.primitive(name, resolution=16, samples=100).mesh
        spec.add_mesh(name=name, uservert=vertices.ravel().tolist(), userface=faces.ravel().tolist(),
                      inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT)
    return voxshell.mujoco.compile(spec, **settings)


def starts(model, count, seed=1):
    """Returns the states of `count` nuts, at random turns of their threads, which agree with their heights."""
    data, states = mujoco.MjData(model), []
    for turn in np.random.default_rng(seed).uniform(-2, 2, count):
        mujoco.mj_resetData(model, data)
        angle = 2 * math.pi * turn
        data.qpos[2] += PITCH * turn
        data.qpos[3:7] = math.cos(angle / 2), 0, 0, math.sin(angle / 2)
        state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        states.append(state)
    return np.array(states)


def turns_and_heights(states):
    """Turns about the axis and heights of rollouts of states (environments, steps, size)."""
    w, z = states[:, :, 4], states[:, :, 7]
    return np.unwrap(2 * np.arctan2(z, w), axis=1) / (2 * math.pi), states[:, :, 3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environments", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1000, help="of each environment")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--torque", type=float, default=-0.0005, help="action of all, N m")
    parser.add_argument("--set", action="append", default=["look_ahead=0"], metavar="NAME=VALUE", help="setting of the plugin")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    model = make_model(**dict(pair.split("=", 1) for pair in options.set))
    first = starts(model, options.environments)
    data = [mujoco.MjData(model) for _ in range(options.threads)]
    control = np.full((options.environments, options.steps, 1), options.torque)
    with rollout.Rollout(nthread=options.threads) as roll:
        roll.rollout(model, data, first[:options.threads], control[:options.threads, :10])  # starts the threads
        begin = time.perf_counter()
        states, _ = roll.rollout(model, data, first, control)
        seconds = time.perf_counter() - begin

    turns, heights = turns_and_heights(states)
    turned = turns[:, -1] - turns[:, 0]
    error = np.abs((heights[:, -1] - heights[:, 0]) - PITCH * turned) / PITCH
    row = {"environments": options.environments, "threads": options.threads,
           "steps_per_s": options.environments * options.steps / seconds,
           "turns_mean": float(turned.mean()), "off_thread_max_pitches": float(error.max())}
    print(json.dumps(row) if options.json else "  ".join(f"{key} {value:.4g}" for key, value in row.items()))


if __name__ == "__main__":
    main()
