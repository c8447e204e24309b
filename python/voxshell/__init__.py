"""Collision detection of arbitrary rigid shapes by pointshells against signed distance fields.

Units are SI. A pose is an array of 7 numbers: position x, y, z in metres, and unit quaternion x, y, z, w, body to world. A
function that takes an array of shape (N, 7) in place of a pose answers N queries at once, on all processors and without the
interpreter lock; the result is the same on any number of threads. Signed distances are negative inside. Normals point from
shape A to shape B.

    import voxshell
    knot = voxshell.Shape.primitive("torus_knot")
    ground = voxshell.Shape.half_space([0, 1, 0])
    found = voxshell.contacts(knot, ground, [0, 0.1, 0, 0, 0, 0, 1])
    print(len(found), "contacts, the deepest", -found["separation"].min(), "m")
"""
from ._core import CONTACT, HIT, Haptics, Shape, __version__, contacts, distance, plot, time_of_impact

__all__ = ["CONTACT", "HIT", "Haptics", "Shape", "contacts", "distance", "from_trimesh", "plot", "time_of_impact"]


def from_trimesh(mesh, **options):
    """Cooks a shape from an object with `vertices` (N, 3), metres, and `faces` (M, 3), such as a trimesh.Trimesh.

    The options are those of Shape.cook.
    """
    for name in ("vertices", "faces"):
        if not hasattr(mesh, name):
            raise ValueError(f"mesh is a {type(mesh).__name__} without {name}; expected an object with vertices and faces")
    return Shape.cook(mesh.vertices, mesh.faces, **options)
