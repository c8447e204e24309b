"""A small world of the physics engine Bullet, in double precision, whose bodies collide as they are, without decomposition.

    import voxshell, voxshell.bullet
    world = voxshell.bullet.World(step=1 / 240)
    world.add(voxshell.bullet.plane())
    knot = world.add(voxshell.Shape.primitive("torus_knot"), mass=1.0, pose=[0, 1, 0, 0, 0, 0, 1])
    world.run(480)
    print(world.poses[knot])

Units are SI, y is up unless `gravity` says otherwise. A pose is position and quaternion x, y, z, w, and is that of the shape's
own frame, wherever its centre of mass is. A world belongs to one thread at a time; it searches for contacts on all processors,
and its results are the same on any number of them.
"""
import ctypes
import os

import numpy as np

from ._core import Shape

__all__ = ["CONTACT", "Stock", "World", "ball", "box", "capsule", "cylinder", "plane"]

CONTACT = np.dtype([("bodies", np.int32, 2), ("point", np.float64, 3), ("normal", np.float64, 3), ("separation", np.float64),
                    ("impulse", np.float64)], align=True)
"""A contact: numbers of two bodies, point on the first one, m, unit normal from the first to the second, separation, m, negative
when they penetrate, and impulse of the last step, N·s."""

_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libvoxshell_bullet.so")
_KINDS = ("plane", "box", "ball", "capsule", "cylinder")


def _load():
    if not os.path.exists(_LIBRARY):
        raise ImportError(f"{_LIBRARY} is absent: this wheel was built without Bullet (python/build makes one with it)")
    library = ctypes.CDLL(_LIBRARY)
    number, size, address = ctypes.c_double, ctypes.c_size_t, ctypes.c_void_p
    for name, result, arguments in (
        ("vxb_error", ctypes.c_char_p, []),
        ("vxb_world_create", address, [address, number, ctypes.c_int, ctypes.c_int]),
        ("vxb_world_destroy", None, [address]),
        ("vxb_add_asset", ctypes.c_int, [address, ctypes.c_char_p, size, number]),
        ("vxb_add_stock", ctypes.c_int, [address, ctypes.c_int, address]),
        ("vxb_add_body", ctypes.c_int, [address, ctypes.c_int, number, number, number, address]),
        ("vxb_step", ctypes.c_int, [address, ctypes.c_int64]),
        ("vxb_get_states", None, [address, address]),
        ("vxb_set_state", ctypes.c_int, [address, ctypes.c_int, address]),
        ("vxb_apply", ctypes.c_int, [address, ctypes.c_int, address, address, address]),
        ("vxb_get_contacts", size, [address, address, size]),
        ("vxb_ray", ctypes.c_int, [address, address, address, address, address, address]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def _array(name, value, shape):
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; expected numbers of shape {shape}") from None
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} is {value!r}; expected finite numbers of shape {shape}")
    return array


def _pose(value):
    pose = _array("pose", value, (7,))
    norm = np.linalg.norm(pose[3:])
    if abs(norm - 1) > 1e-3:
        raise ValueError(f"the quaternion of pose has length {norm}; expected 1")
    return pose


def _number(name, value, least, expected):
    if not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value >= least):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
    return float(value)


def _length(name, value):
    number = _number(name, value, 0, "a positive length, m")
    if number == 0:
        raise ValueError(f"{name} is 0; expected a positive length, m")
    return number


class Stock(tuple):
    """A shape of Bullet's own: its kind and sizes."""


def plane(normal=(0, 1, 0), offset=0.0):
    """A half-space: points with normal · x ≤ offset, m, are inside. It does not move."""
    direction = _array("normal", normal, (3,))
    length = np.linalg.norm(direction)
    if length == 0:
        raise ValueError("normal is zero; expected a direction")
    return Stock(("plane", *(direction / length), _number("offset", offset, -np.inf, "a number, m")))


def box(half):
    """A box with these half extents, m."""
    return Stock(("box", *(_length("half", value) for value in _array("half", half, (3,)).tolist()), 0.0))


def ball(radius):
    """A ball, m."""
    return Stock(("ball", _length("radius", radius), 0.0, 0.0, 0.0))


def capsule(radius, height):
    """A capsule along y; the height is that of its cylinder, m."""
    return Stock(("capsule", _length("radius", radius), _length("height", height), 0.0, 0.0))


def cylinder(radius, height):
    """A cylinder along y, m."""
    return Stock(("cylinder", _length("radius", radius), _length("height", height), 0.0, 0.0))


class World:
    """A world of rigid bodies. Bodies have the numbers 0, 1, … in the order in which they are added.

    Args:
      gravity: m/s².
      step: seconds of a step.
      iterations: of the contact solver.
      threads: that search for contacts; 0: all processors.
    """

    def __init__(self, gravity=(0, -9.81, 0), step=1 / 240, iterations=50, threads=0):
        self._handle = None
        gravity = _array("gravity", gravity, (3,))
        if _number("step", step, 0, "seconds above 0") == 0:
            raise ValueError("step is 0; expected seconds above 0")
        for name, value, least in (("iterations", iterations, 1), ("threads", threads, 0)):
            if not isinstance(value, (int, np.integer)) or not least <= value <= 10_000:
                raise ValueError(f"{name} is {value!r}; expected a whole number from {least} to 10000")
        self._forms = {}
        self._shapes = []
        self._bodies = 0
        self._handle = _library.vxb_world_create(gravity.ctypes.data, float(step), int(iterations), int(threads))
        if not self._handle:
            raise RuntimeError(_error())

    def __del__(self):
        if self._handle:
            _library.vxb_world_destroy(self._handle)
            self._handle = None

    def __len__(self):
        return self._bodies

    def add(self, shape, mass=0.0, pose=(0, 0, 0, 0, 0, 0, 1), velocity=(0, 0, 0, 0, 0, 0), friction=0.5, restitution=0.0,
            margin=0.0):
        """Adds a body and returns its number.

        Args:
          shape: a voxshell.Shape with field and samples, or what plane, box, ball, capsule or cylinder returns.
          mass: kg; 0: the body does not move.
          velocity: linear velocity of the centre of mass, m/s, and angular velocity, rad/s.
          friction, restitution: Bullet multiplies the values of both bodies.
          margin: distance at which contacts are known before they touch, m; 0: a thousandth of the shape's extent. Bodies rest
            at distance 0 whatever it is.
        """
        mass = _number("mass", mass, 0, "kg, 0 or more")
        margin = _number("margin", margin, 0, "m, 0 or more")
        state = np.concatenate([_pose(pose), _array("velocity", velocity, (6,))])
        factors = [_number(name, value, 0, "0 or more") for name, value in (("friction", friction), ("restitution", restitution))]
        body = _library.vxb_add_body(self._handle, self._form(shape, margin), mass, *factors, state.ctypes.data)
        if body < 0:
            raise ValueError(_error())
        self._bodies += 1
        return body

    def _form(self, shape, margin):
        if isinstance(shape, Stock):
            key = tuple(shape)
        elif isinstance(shape, Shape):
            key = (id(shape), margin)
        else:
            raise ValueError(f"shape is a {type(shape).__name__}; expected a voxshell.Shape, or a plane, box, ball, capsule or cylinder")
        if key not in self._forms:
            if isinstance(shape, Stock):
                sizes = np.array(shape[1:], dtype=np.float64)
                form = _library.vxb_add_stock(self._handle, _KINDS.index(shape[0]), sizes.ctypes.data)
            else:
                data = shape.to_bytes()
                form = _library.vxb_add_asset(self._handle, data, len(data), margin)
                self._shapes.append(shape)  # its address stays its own
            if form < 0:
                raise ValueError(_error())
            self._forms[key] = form
        return self._forms[key]

    def run(self, steps=1):
        """Simulates a number of steps, without the interpreter lock."""
        if not isinstance(steps, (int, np.integer)) or steps < 0:
            raise ValueError(f"steps is {steps!r}; expected a whole number, 0 or more")
        if not _library.vxb_step(self._handle, int(steps)):
            raise RuntimeError(_error())

    @property
    def states(self):
        """Pose, linear and angular velocity of all bodies, (N, 13)."""
        states = np.empty((self._bodies, 13))
        _library.vxb_get_states(self._handle, states.ctypes.data)
        return states

    @property
    def poses(self):
        """Poses of all bodies, (N, 7): those that voxshell.contacts and voxshell.plot take."""
        return self.states[:, :7].copy()

    @property
    def velocities(self):
        """Linear velocities of the centres of mass and angular velocities, (N, 6)."""
        return self.states[:, 7:].copy()

    def place(self, body, pose, velocity=(0, 0, 0, 0, 0, 0)):
        """Puts a body to a pose, with a velocity."""
        state = np.concatenate([_pose(pose), _array("velocity", velocity, (6,))])
        self._do(_library.vxb_set_state(self._handle, self._number_of(body), state.ctypes.data))

    def apply(self, body, force=(0, 0, 0), torque=(0, 0, 0), point=None):
        """Applies a force, N, at a point, m, or at the centre of mass, and a torque, N·m, in the next step of `run`; frame of the
        world."""
        force, torque = _array("force", force, (3,)), _array("torque", torque, (3,))
        point = None if point is None else _array("point", point, (3,))
        address = None if point is None else point.ctypes.data
        self._do(_library.vxb_apply(self._handle, self._number_of(body), force.ctypes.data, torque.ctypes.data, address))

    def contacts(self):
        """Returns the contacts of the last step: an array of CONTACT."""
        count = _library.vxb_get_contacts(self._handle, None, 0)
        contacts = np.zeros(count, dtype=CONTACT)
        _library.vxb_get_contacts(self._handle, contacts.ctypes.data, count)
        return contacts

    def ray(self, start, end):
        """Returns body, point and normal of the first hit of a segment, or None."""
        start, end = _array("start", start, (3,)), _array("end", end, (3,))
        body, point, normal = ctypes.c_int32(), np.empty(3), np.empty(3)
        found = _library.vxb_ray(self._handle, start.ctypes.data, end.ctypes.data, ctypes.addressof(body), point.ctypes.data,
                                 normal.ctypes.data)
        return (body.value, point, normal) if found else None

    def _number_of(self, body):
        if not isinstance(body, (int, np.integer)) or not 0 <= body < self._bodies:
            raise ValueError(f"body is {body!r}; expected a number from 0 to {self._bodies - 1}")
        return int(body)

    @staticmethod
    def _do(is_done):
        if not is_done:
            raise RuntimeError(_error())


def _error():
    return _library.vxb_error().decode()
