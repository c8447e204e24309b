"""Tests of voxshell.mujoco and of the examples. Skipped without MuJoCo 4.0."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
import voxshell.mujoco  # noqa: E402

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
BOXES = """
<mujoco>
  <option sdf_initpoints="50"/>
  <asset><mesh name="box" vertex="-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1" scale="0.1 0.1 0.1"/></asset>
  <worldbody>
    <geom type="sdf" mesh="box"/>
    <body pos="0.03 0.02 0.21"><freejoint/><geom type="sdf" mesh="box" density="1000"/></body>
  </worldbody>
</mujoco>
"""


def test_a_box_comes_to_rest_on_another():
    model = voxshell.mujoco.compile(BOXES, resolution=64, samples=1000)
    assert model.nplugin == 1
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    assert data.ncon >= 4 and data.qpos[2] == pytest.approx(0.2, abs=1e-3)
    assert np.abs(data.qvel).max() < 1e-3


def test_a_file_and_a_spec_are_models_too(tmp_path):
    file = tmp_path / "boxes.xml"
    file.write_text(BOXES)
    for model in (str(file), mujoco.MjSpec.from_string(BOXES)):
        assert voxshell.mujoco.compile(model).nplugin == 1


@pytest.mark.parametrize("settings, message", [
    ({"resolutoin": 64}, "resolutoin is no setting of the plugin; expected one of allowance, "),
    ({"resolution": 7}, 'resolution is "7"; expected an integer from 8 to 2048'),
])
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises((ValueError, mujoco.FatalError)) as raised:
        mujoco.MjData(voxshell.mujoco.compile(BOXES, **settings))
    assert message in str(raised.value)


def test_another_version_of_mujoco_is_refused(monkeypatch):
    monkeypatch.setattr(mujoco, "__version__", "3.9.0")
    with pytest.raises(ImportError, match="MuJoCo is 3.9.0; expected 4.0.0 or 4.0.1"):
        voxshell.mujoco.load()


def test_environments_do_the_same_on_any_number_of_threads():
    sys.path.insert(0, str(EXAMPLES))
    import nuts
    from mujoco import rollout

    model = nuts.make_model(look_ahead=0, resolution=96, samples=2000)
    first = nuts.starts(model, 4)
    control = np.full((4, 100, 1), -0.0005)
    results = []
    for threads in (1, 2):
        data = [mujoco.MjData(model) for _ in range(threads)]
        with rollout.Rollout(nthread=threads) as roll:
            results.append(roll.rollout(model, data, first, control)[0].tobytes())
    assert results[0] == results[1]


def test_nuts_go_down_by_the_pitch():
    row = subprocess.run([sys.executable, EXAMPLES / "nuts.py", "--environments", "4", "--steps", "200", "--json"],
                         capture_output=True, text=True, check=True)
    row = json.loads(row.stdout)
    assert abs(row["turns_mean"]) > 0.01 and row["off_thread_max_pitches"] < 0.1


def test_the_notebook_runs():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(EXAMPLES / "nut_on_bolt.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
