"""Tests of the Python package."""
import pickle
import time

import numpy as np
import pytest
import voxshell

IDENTITY = [0, 0, 0, 0, 0, 0, 1]


@pytest.fixture(scope="module")
def torus():
    return voxshell.Shape.primitive("torus", [0.1, 0.03], [96, 48], resolution=96, samples=3000)


def poses(count, seed=1, reach=0.15):
    random = np.random.default_rng(seed)
    made = np.empty((count, 7))
    made[:, :3] = random.uniform(-reach, reach, size=(count, 3))
    q = random.normal(size=(count, 4))
    made[:, 3:] = q / np.linalg.norm(q, axis=1)[:, None]
    return made


def torus_distance(p):
    return np.hypot(np.hypot(p[:, 0], p[:, 2]) - 0.1, p[:, 1]) - 0.03


def test_cooked_triangles_have_the_volume_of_the_body(torus):
    vertices, faces = torus.mesh
    again = voxshell.Shape.cook(vertices, faces, resolution=64)
    expected = 2 * np.pi ** 2 * 0.1 * 0.03 ** 2
    assert again.mass_properties["volume"] == pytest.approx(expected, rel=0.01)
    assert again.bounds[1] == pytest.approx([0.13, 0.03, 0.13], abs=2e-3)


def test_the_field_is_the_distance_to_the_torus(torus):
    points = np.random.default_rng(2).uniform(-0.14, 0.14, size=(20000, 3))
    distances, gradients = torus.sample(points, gradient=True)
    exact = torus_distance(points)
    near = np.abs(exact) < 0.02
    assert np.abs(distances - exact)[near].max() < 1e-3
    assert np.median(np.linalg.norm(gradients[near], axis=1)) == pytest.approx(1, abs=0.02)
    assert torus.sample(points[0]) == distances[0]


def test_contacts_of_a_batch_are_those_of_single_queries(torus):
    many = poses(300)
    found, offsets = voxshell.contacts(torus, torus, many, max_contacts=8)
    assert offsets.shape == (301,) and offsets[-1] == len(found) and found.dtype == voxshell.CONTACT
    assert len(found) > 300
    for i in range(0, 300, 7):
        single = voxshell.contacts(torus, torus, many[i], max_contacts=8)
        assert single.tobytes() == found[offsets[i]:offsets[i + 1]].tobytes()
    # Points on B are on the torus at the origin; deep samples are projected less exactly, as they are near its middle.
    shallow = found[found["separation"] > -0.01]
    assert len(shallow) > 100 and np.abs(torus_distance(shallow["point_on_b"])).max() < 2e-3


def test_any_number_of_threads_gives_the_same_bytes(torus):
    many = poses(800)
    results = [voxshell.contacts(torus, torus, many, max_contacts=4, threads=n) for n in (1, 2, 3, 0)]
    for found, offsets in results[1:]:
        assert found.tobytes() == results[0][0].tobytes() and offsets.tobytes() == results[0][1].tobytes()


def test_distance_and_depth_agree_with_the_sphere(torus):
    ball = voxshell.Shape.sphere(0.02)
    many = poses(500)
    many[:, 3:] = [0, 0, 0, 1]
    found = voxshell.distance(ball, torus, many)
    exact = torus_distance(many[:, :3]) - 0.02
    outside = exact > 0
    assert outside.sum() > 100
    assert np.abs(found["separation"] - exact)[outside].max() < 2e-3
    far = voxshell.distance(ball, torus, many, max_distance=0.01)
    assert np.isinf(far["separation"][exact > 0.013]).all() and np.isnan(far["normal"][exact > 0.013]).all()
    one = voxshell.distance(ball, torus, many[3])
    assert one["separation"] == found["separation"][3]


def test_time_of_impact_of_a_falling_torus(torus):
    ground = voxshell.Shape.half_space([0, 1, 0])
    start = np.array([[0, h, 0, 0, 0, 0, 1] for h in (0.08, 0.13, 0.5)], float)
    end = start - np.array([0, 0.2, 0, 0, 0, 0, 0])
    found = voxshell.time_of_impact(torus, ground, start, end)
    assert found["toi"][:2] == pytest.approx([0.25, 0.5], abs=2e-3)
    assert np.isinf(found["toi"][2])
    assert voxshell.time_of_impact(torus, ground, start[0], end[0])["toi"] == found["toi"][0]


def test_segments_hit_the_surface(torus):
    start = np.array([[0.1, 1, 0], [0, 1, 0]])
    hits = torus.segments(start, start * [1, -1, 1])
    assert hits["hit"].tolist() == [True, False]
    assert hits["point"][0] == pytest.approx([0.1, 0.03, 0], abs=1e-3)
    assert hits["normal"][0] == pytest.approx([0, 1, 0], abs=0.08)  # voxels are a tenth of the tube
    assert np.isnan(hits["fraction"][1])


def test_contiguous_input_is_read_in_place_and_other_input_is_converted(torus):
    many = poses(50)
    expected = voxshell.distance(torus, torus, many).tobytes()
    assert voxshell.distance(torus, torus, np.asfortranarray(many)).tobytes() == expected
    assert voxshell.distance(torus, torus, many.tolist()).tobytes() == expected
    assert voxshell.distance(torus, torus, None, None)["separation"] < 0


def test_files_bytes_and_pickles_give_the_same_shape(torus, tmp_path):
    torus.save(tmp_path / "torus.vxs")
    copies = [voxshell.Shape.load(tmp_path / "torus.vxs"), voxshell.Shape.from_bytes(torus.to_bytes()),
              pickle.loads(pickle.dumps(torus))]
    many = poses(20)
    expected = voxshell.distance(torus, torus, many).tobytes()
    for copy in copies:
        assert voxshell.distance(copy, copy, many).tobytes() == expected
    vertices, faces = torus.mesh
    lines = ["v %.9g %.9g %.9g" % tuple(v) for v in vertices] + ["f %d %d %d" % tuple(f + 1) for f in faces]
    (tmp_path / "torus.obj").write_text("\n".join(lines))
    assert voxshell.Shape.from_file(tmp_path / "torus.obj", resolution=32).info["triangles"] == len(faces)


def test_objects_like_trimesh_are_cooked(torus):
    class Mesh:
        vertices, faces = torus.mesh
    assert voxshell.from_trimesh(Mesh(), resolution=32).info["closed"]
    with pytest.raises(ValueError, match="mesh is a int without vertices"):
        voxshell.from_trimesh(3)


def test_progress_is_a_bar_in_a_terminal(monkeypatch):
    class Terminal(list):
        write = list.append
        flush = isatty = lambda self: True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    voxshell.Shape.primitive("blob", resolution=64, progress=True)
    monkeypatch.undo()
    assert terminal and all(line.startswith("\r") and "%" in line for line in terminal)
    with pytest.raises(ValueError, match="progress is 'yes'; expected"):
        voxshell.Shape.primitive("blob", resolution=16, progress="yes")


def test_a_shape_draws_itself(torus):
    assert torus.plot(size=64).startswith(b"\x89PNG") and torus._repr_png_().startswith(b"\x89PNG")
    assert voxshell.Shape.half_space()._repr_png_() is None


def test_progress_is_reported_and_can_cancel():
    seen = []
    voxshell.Shape.primitive("blob", resolution=64, progress=lambda stage, fraction: seen.append((stage, fraction)))
    assert seen and all(0 <= fraction <= 1 for _, fraction in seen)
    with pytest.raises(RuntimeError):
        voxshell.Shape.primitive("blob", resolution=64, progress=lambda stage, fraction: False)

    def raises(stage, fraction):
        raise KeyError(stage)
    with pytest.raises(KeyError):
        voxshell.Shape.primitive("blob", resolution=64, progress=raises)


@pytest.mark.parametrize("call, words", [
    (lambda t: voxshell.contacts(t, t, [0, 0, 0, 0, 0, 0, 2]), ["pose_a", "norm 2", "norm of 1"]),
    (lambda t: voxshell.contacts(t, t, None, [0, np.nan, 0, 0, 0, 0, 1]), ["pose_b", "NaN", "finite"]),
    (lambda t: voxshell.contacts(t, t, np.zeros((2, 6))), ["pose_a", r"\[2, 6\]", r"\(N, 7\)"]),
    (lambda t: voxshell.contacts(t, t, [IDENTITY, [0, 0, 0, 1, 1, 0, 0]]), [r"pose_a\[1\]", "norm"]),
    (lambda t: voxshell.contacts(t, t, [IDENTITY] * 2, [IDENTITY] * 3), ["pose_b", "3 poses", "pose_a"]),
    (lambda t: voxshell.contacts(t, t, "here"), ["pose_a", "array of numbers"]),
    (lambda t: voxshell.contacts(t, t, coverage="all"), ["coverage", "all", "edges"]),
    (lambda t: voxshell.contacts(t, t, max_separation=np.nan), ["max_separation", "NaN"]),
    (lambda t: voxshell.contacts(t, t, threads=5000), ["threads", "5000", "1024"]),
    (lambda t: voxshell.contacts(voxshell.Shape.sphere(1), voxshell.Shape.sphere(1)), ["pointshell"]),
    (lambda t: voxshell.Shape.sphere(-1), ["radius", "-1"]),
    (lambda t: voxshell.Shape.cook([[0, 0, 0], [1, 0, 0]], [[0, 1, 2]]), ["2"]),
    (lambda t: voxshell.Shape.cook([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), ["inside|volume|thick"]),
    (lambda t: voxshell.Shape.cook([[0, 0, np.nan]] * 3, [[0, 1, 2]]), ["NaN|finite"]),
    (lambda t: voxshell.Shape.cook([[0, 0, 0]] * 3, [[0, 1, -1]]), [r"faces\[0, 2\]", "-1", "number of a vertex"]),
    (lambda t: voxshell.Shape.cook(np.zeros((3, 2)), [[0, 1, 2]]), ["vertices", r"\(N, 3\)"]),
    (lambda t: voxshell.Shape.cook(*t.mesh, fineness=3), ["fineness", "resolution"]),
    (lambda t: voxshell.Shape.from_bytes(b"nothing"), ["bytes|file|asset"]),
    (lambda t: t.sample([[0, 0]]), ["points", r"\(N, 3\)"]),
    (lambda t: t.segments([0, 0, 0], [[0, 0, 0]] * 2), ["end", "2 points"]),
    (lambda t: voxshell.Haptics(t, [], mass=-1), ["mass", "-1"]),
    (lambda t: voxshell.plot([(t, None)], size=3), ["size", "3", "16"]),
])
def test_bad_input_is_refused_with_argument_value_and_expectation(torus, call, words):
    import re
    with pytest.raises(ValueError) as caught:
        call(torus)
    for word in words:
        assert re.search(word, str(caught.value)), str(caught.value)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="absent"):
        voxshell.Shape.load(tmp_path / "absent.vxs")


def test_the_god_object_stays_outside_and_pushes_back():
    ground = voxshell.Shape.half_space([0, 1, 0])
    tool = voxshell.Shape.primitive("sphere", [0.02], resolution=48)
    haptics = voxshell.Haptics(tool, [(ground, None)], mass=0.1, stiffness=500.0, max_force=20.0)
    height, output = 0.03, None
    for i in range(400):
        height = max(0.01, height - 1e-4)
        output = haptics.step([0, height, 0, 0, 0, 0, 1], dt=1e-3)
        haptics.simulate()
    assert output["tool"][1] == pytest.approx(0.02, abs=1e-3)
    assert 2 < output["wrench"][1] <= 20
    assert haptics.load(0)[1] < -1


def test_a_picture_is_a_png(torus):
    found = voxshell.contacts(torus, torus, [0.1, 0, 0, 0, 0, 0, 1])
    png = voxshell.plot([(torus, [0.1, 0, 0, 0, 0, 0, 1]), (torus, None)], found, size=160)
    assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20], "big") == 160
    assert png != voxshell.plot([(torus, None)], size=160)


def test_other_python_threads_run_during_a_batch(torus):
    import threading
    done = threading.Event()
    worker = threading.Thread(target=lambda: (voxshell.distance(torus, torus, poses(3000), threads=1), done.set()))
    worker.start()
    ticks = 0
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    assert ticks > 5
