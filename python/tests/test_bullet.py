"""Tests of voxshell.bullet: closed forms of free bodies, rest, and what concave bodies do."""
import numpy as np
import pytest

import voxshell

bullet = pytest.importorskip("voxshell.bullet", reason="the wheel was built without Bullet", exc_type=ImportError)

GRAVITY = 9.81


def turn(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return [*(np.sin(angle / 2) * axis), np.cos(angle / 2)]


def rotate(q, v):
    q, v = np.asarray(q, float), np.asarray(v, float)
    return v + 2 * np.cross(q[:3], np.cross(q[:3], v) + q[3] * v)


def cuboid(half, shift=(0, 0, 0), by=(0, 0, 0, 1)):
    """A box of 12 triangles, turned and shifted in its own frame."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * half
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
             [1, 5, 7], [1, 7, 3]]
    return voxshell.Shape.cook(np.array([rotate(by, c) for c in corners]) + shift, np.array(faces), resolution=48)


@pytest.fixture(scope="module")
def knot():
    return voxshell.Shape.primitive("torus_knot", resolution=96, samples=4000)


def test_a_body_rests_on_the_ground_at_its_weight(knot):
    world = bullet.World(step=1 / 240)
    world.add(bullet.plane())
    body = world.add(knot, mass=2.0, pose=[0.3, 1.5, 0, *turn([1, 0.2, 0], 1.3)])
    world.run(1200)
    before = world.poses[body]
    world.run(240)
    assert np.abs(world.poses[body] - before).max() < 1e-4
    ground = voxshell.Shape.half_space([0, 1, 0])
    deepest = voxshell.contacts(knot, ground, before)["separation"].min()
    assert -1e-4 < deepest < 1e-4
    contacts = world.contacts()
    # From the first body to the second: upwards from the ground, downwards from the knot.
    assert set(map(tuple, contacts["bodies"])) <= {(0, 1), (1, 0)}
    upwards = np.where(contacts["bodies"][:, 0] == 0, 1.0, -1.0)
    assert np.allclose(contacts["normal"][:, 1], upwards, atol=1e-6)
    assert contacts["impulse"].sum() == pytest.approx(2.0 * GRAVITY / 240, rel=0.02)


def test_a_free_body_moves_about_its_centre_of_mass():
    # Its centre is 0.3 m from the origin of its frame, its axes are turned, and it spins about an axis that is stable.
    half, shift, by = np.array([0.1, 0.05, 0.02]), np.array([0.3, -0.1, 0.2]), turn([1, 2, 3], 0.7)
    shape = cuboid(half, shift, by)
    world = bullet.World(gravity=(0, -GRAVITY, 0), step=1e-3)
    start = np.array([1, 2, 3, *turn([0, 1, 1], 0.4)])
    axis = rotate(start[3:], rotate(by, [0, 0, 1]))
    body = world.add(shape, mass=0.5, pose=start, velocity=[1, 2, 0, *(3 * axis)])
    center = start[:3] + rotate(start[3:], shift)
    world.run(500)
    pose = world.poses[body]
    # Bullet adds the velocity of the end of a step: the fall is longer by half a step.
    fall = 0.5 * GRAVITY * 0.5 * (0.5 + 1e-3)
    assert pose[:3] + rotate(pose[3:], shift) == pytest.approx(center + [0.5, 1.0 - fall, 0], abs=1e-9)
    # The body has turned by 1.5 rad about the axis.
    turned = rotate(turn(axis, 1.5), rotate(start[3:], [1, 0, 0]))
    assert rotate(pose[3:], [1, 0, 0]) == pytest.approx(turned, abs=1e-3)
    assert world.velocities[body][3:] == pytest.approx(3 * axis, abs=1e-3)


def test_forces_act_for_one_step():
    world = bullet.World(gravity=(0, 0, 0), step=0.01)
    body = world.add(bullet.box([0.1, 0.2, 0.3]), mass=2.0)
    world.apply(body, force=[4, 0, 0], point=[0, 0, 0.3])
    world.run(1)
    moment = 2.0 / 3 * (0.1**2 + 0.3**2)
    assert world.velocities[body] == pytest.approx([0.02, 0, 0, 0, 0.3 * 4 / moment * 0.01, 0], rel=1e-6, abs=1e-12)
    world.run(10)
    assert world.velocities[body][:3] == pytest.approx([0.02, 0, 0])


def test_a_ring_falls_along_a_rod_and_stays_around_it():
    ring = voxshell.Shape.primitive("torus", resolution=64, samples=2000)
    world = bullet.World(step=1 / 240)
    world.add(bullet.plane())
    world.add(bullet.cylinder(0.02, 2.0), pose=[0, 1, 0, 0, 0, 0, 1])
    body = world.add(ring, mass=0.3, pose=[0.01, 1.5, 0, *turn([1, 0, 1], 0.2)], velocity=[0.3, 0, 0, 1, 0, 2])
    world.run(1000)
    height = world.poses[body][1]
    assert np.hypot(*world.poses[body][[0, 2]]) < 0.2 and 0 < height < 0.3


@pytest.mark.parametrize("threads", [2, 8])
def test_the_result_is_the_same_on_any_number_of_threads(knot, threads):
    states = []
    for number in (1, threads):
        world = bullet.World(step=1 / 240, threads=number)
        world.add(bullet.plane())
        for i in range(6):
            world.add(knot, mass=1.0, pose=[0.01 * i, 0.5 + 0.9 * i, 0.02 * i, *turn([1, i, 2], 0.5 * i)])
        world.run(150)
        states.append(world.states.tobytes())
    assert states[0] == states[1]


def test_rays_hit_what_is_there():
    world = bullet.World()
    world.add(bullet.plane(offset=-1.0))
    body = world.add(cuboid(np.array([0.1, 0.2, 0.3])), mass=1.0)
    number, point, normal = world.ray([0, 2, 0], [0, -2, 0])
    assert number == body and point == pytest.approx([0, 0.2, 0], abs=1e-4) and normal == pytest.approx([0, 1, 0], abs=1e-3)
    number, point, _ = world.ray([1, 2, 0], [1, -2, 0])
    assert number == 0 and point == pytest.approx([1, -1, 0], abs=1e-9)
    assert world.ray([1, 2, 0], [1, 1, 0]) is None


def test_a_placed_body_goes_on_from_there(knot):
    world = bullet.World(gravity=(0, 0, 0))
    body = world.add(knot, mass=1.0, velocity=[1, 0, 0, 0, 0, 0])
    world.run(10)
    pose = [5, 6, 7, *turn([0, 1, 0], 0.3)]
    world.place(body, pose)
    assert world.poses[body] == pytest.approx(pose) and not world.velocities[body].any()
    world.run(10)
    assert world.poses[body] == pytest.approx(pose)


@pytest.mark.parametrize("call, message", [
    (lambda world: world.add("knot", mass=1), "shape is a str"),
    (lambda world: world.add(bullet.ball(0.1), mass=-1), "mass is -1"),
    (lambda world: world.add(bullet.ball(0.1), mass=float("nan")), "mass is nan"),
    (lambda world: world.add(bullet.ball(0.1), pose=[0, 0, 0]), "pose is"),
    (lambda world: world.add(bullet.ball(0.1), pose=[0, 0, 0, 0, 0, 0, 2]), "length 2"),
    (lambda world: world.add(bullet.plane(), mass=1), "no volume"),
    (lambda world: bullet.ball(0), "radius is 0"),
    (lambda world: bullet.box([1, -1, 1]), "half is -1"),
    (lambda world: bullet.plane([0, 0, 0]), "normal is zero"),
    (lambda world: world.place(7, [0, 0, 0, 0, 0, 0, 1]), "body is 7"),
    (lambda world: world.apply(0, force=[1, np.inf, 0]), "force is"),
    (lambda world: world.run(-1), "steps is -1"),
    (lambda world: bullet.World(step=0), "step is 0"),
    (lambda world: bullet.World(iterations=0), "iterations is 0"),
])
def test_bad_input_is_refused(call, message):
    world = bullet.World()
    world.add(bullet.ball(0.1), mass=1.0)
    with pytest.raises(ValueError, match=message):
        call(world)
    assert len(world) == 1
    world.run(1)
