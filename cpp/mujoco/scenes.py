"""Scenes of compare.py and of the tests: models with MuJoCo's own collision and with the plugin."""
import math
import os

import mujoco
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = "voxshell.sdf"


class Unavailable(Exception):
    """A scene needs a file that is not there."""


def model(xml, assets=None, voxshell=None):
    """Compiles a model.

    Args:
      xml: text of the model, or the name of a file in models/.
      assets: bytes of the files that the model names.
      voxshell: attributes of a plugin instance for all mesh and SDF geoms; None: MuJoCo's own collision.
    """
    if xml.endswith(".xml"):
        with open(os.path.join(HERE, "models", xml)) as file:
            xml = file.read()
    spec = mujoco.MjSpec.from_string(xml, assets=assets or {})
    if voxshell is not None:
        spec.activate_plugin(PLUGIN)
        instance = spec.add_plugin(name="all", plugin_name=PLUGIN, active=True)
        instance.config = {"geoms": "all", **{key: str(value) for key, value in voxshell.items()}}
    return spec.compile()


def shared_file(folders, name):
    """Returns the bytes of a mesh that lies beside the checkout."""
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
    raise Unavailable(f"{name} is not in {' or '.join(folders)}")


def mesh_folders():
    root = os.path.dirname(os.path.dirname(HERE))
    folder = os.environ.get("VOXSHELL_MESHES") or os.path.join(os.path.dirname(root), "shared", "meshes")
    return [folder, os.path.join(folder, "factory")]


def plain_obj(data, extent=None):
    """Makes one object of all objects of an OBJ file, because MuJoCo reads only the first one of a file.

    Args:
      extent: scales it to this largest extent, metres, around the middle of its box; None: as it is.
    """
    lines = data.decode().splitlines()
    points = np.array([[float(x) for x in line.split()[1:4]] for line in lines if line.startswith("v ")])
    if extent:
        low, high = points.min(axis=0), points.max(axis=0)
        points = (points - (low + high) / 2) * (extent / (high - low).max())
    faces = ["f " + " ".join(corner.split("/")[0] for corner in line.split()[1:]) for line in lines if line.startswith("f ")]
    return ("\n".join(["v %.9g %.9g %.9g" % tuple(p) for p in points] + faces) + "\n").encode()


def turn_about_z(quaternion):
    """Angle about z of a body whose axis is nearly z, rad; upside down it is that about -z."""
    w, x, y, z = quaternion
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def thread_pitch(states, pitch):
    """Fits height over angle where the nut turns.

    Returns:
      turns made, and the relative error of the measured pitch (nan if the nut made less than one turn).
    """
    heights = np.array([state[2] for state in states])
    angles = np.unwrap([turn_about_z(state[3:7]) for state in states])
    turns = abs(angles[-1] - angles[0]) / (2 * math.pi)
    if turns < 1:
        return turns, math.nan
    slope = np.polyfit(angles, heights, 1)[0]
    return turns, abs(slope) * 2 * math.pi / pitch - 1


class Scene:
    """A scene: its model file, files, length and what it is about."""

    def __init__(self, name, xml, seconds, assets=None, pitch=None, engaged=None, goal=None, control=0.0,
                 functions=False):
        self.name, self.xml, self.seconds, self._assets, self.functions = name, xml, seconds, assets, functions
        self.pitch, self.engaged, self.goal, self.control = pitch, engaged, goal, control

    def assets(self, primitives):
        return self._assets(primitives) if self._assets else {}

    def outcome(self, model, states):
        """Returns figures about what the bodies did: {name: value}."""
        if self.pitch:
            used = [state for state in states if self.engaged[0] <= state[2] <= self.engaged[1]]
            turns, error = thread_pitch(used, self.pitch) if len(used) > 10 else (0.0, math.nan)
            return {"turns": turns, "pitch_error": error, "threads": bool(turns >= 1 and abs(error) < 0.01)}
        return self.goal(model, states) if self.goal else {}


def _nut_and_bolt(primitives):
    return {"nut.obj": primitives.obj("nut"), "bolt.obj": primitives.obj("bolt")}


def _factory_nut_and_bolt(_):
    names = ["factory_nut_m16_loose_subdiv_3x.obj", "factory_bolt_m16_loose.obj"]
    return {name: plain_obj(shared_file(mesh_folders(), name)) for name in names}


def _bunny(_):
    return {"mesh.obj": plain_obj(shared_file(mesh_folders(), "bunny_3k_libigl.obj"), 0.2)}


def _peg_and_hole(primitives):
    return {"peg.obj": primitives.obj("peg", [0.004, 0.05, 0.0005], [96]),
            "hole.obj": primitives.obj("hole", [0.0125, 0.01, 0.0125, 0.00405], [96])}


def _knot(primitives):
    return {"mesh.obj": primitives.obj("torus_knot", [0.03, 0.009], [2, 3, 128, 16])}


def pile_xml(count=50):
    """A model of `count` bodies with the mesh mesh.obj that fall into a box."""
    bodies, walls = [], []
    random = np.random.default_rng(7)
    for i in range(count):
        x, y = 0.115 * (i % 3 - 1), 0.115 * (i // 3 % 3 - 1)  # farther apart than their extent of 0.109
        quaternion = random.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        bodies.append('<body pos="%g %g %g" quat="%r %r %r %r"><freejoint/><geom type="sdf" mesh="body"/></body>' %
                      (x, y, 0.08 + 0.115 * (i // 9), *quaternion.tolist()))
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        walls.append('<geom type="box" size="%g %g 0.75" pos="%g %g 0.75"/>' %
                     (0.1 if x else 0.3, 0.1 if y else 0.3, 0.3 * x, 0.3 * y))
    return ('<mujoco model="pile"><option timestep="0.002" sdf_initpoints="50" sdf_iterations="10"/>'
            '<default><geom density="1000" friction="0.5" solref="0.008 1"/></default>'
            '<asset><mesh name="body" file="mesh.obj"/></asset><worldbody><geom type="plane" size="1 1 1"/>'
            + "".join(walls + bodies) + "</worldbody></mujoco>")


def _peg_goal(model, states):
    depth = 0.035 - states[-1][2]  # the hole's upper face is at 0.01, the peg is 0.05 long
    return {"inserted": depth, "in_hole": bool(depth > 0.015)}


def _gear_goal(model, states):
    # 12 teeth each: the first turns as far as the second.
    first, second = states[-1][0], states[-1][1]
    return {"turned": abs(second), "ratio": first / second if second else math.nan}


def _fallen(model, states):
    heights = np.asarray(states[-1]).reshape(-1, 7)[:, 2]
    return {"lowest": float(heights.min()), "fell_through": int((heights < 0).sum())}


def all_scenes():
    return [
        Scene("nut-bolt", "nut_bolt.xml", 3.0, _nut_and_bolt, pitch=0.002, engaged=(0.002, 0.024)),
        Scene("nut-bolt sdf", "sdf_nut_bolt.xml", 10.0, None, pitch=1 / 12, engaged=(0.45, 0.827), functions=True),
        Scene("nut-bolt factory", "factory_nut_bolt.xml", 3.0, _factory_nut_and_bolt, pitch=0.002, engaged=(0.001, 0.0205)),
        Scene("bunny-bunny", "bunnies.xml", 1.0, _bunny),
        Scene("gear-gear", "gears.xml", 3.0, None, goal=_gear_goal, control=1.0, functions=True),
        Scene("peg-hole", "peg_hole.xml", 0.5, _peg_and_hole, goal=_peg_goal),
        Scene("pile of 50", pile_xml(50), 2.0, _knot, goal=_fallen),
    ]
