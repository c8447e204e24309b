"""MuJoCo 4.0 with Voxshell's collision of meshes and SDF geoms, without convex decomposition.

    import mujoco
    import voxshell.mujoco
    model = voxshell.mujoco.compile("scene.xml", resolution=256)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)

The module needs the package mujoco (`pip install voxshell[mujoco]`) and loads the plugin library of this wheel into it. Give
geoms the type `sdf` and write `<option sdf_initpoints="50"/>`: MuJoCo reserves 50 contacts for such a pair, and 4 or 5 for two
geoms of type `mesh`. The settings are those of cpp/mujoco/README.md.
"""
import os

try:
    import mujoco
except ImportError as error:
    raise ImportError("voxshell.mujoco needs MuJoCo: pip install voxshell[mujoco]") from error

__all__ = ["PLUGIN", "SETTINGS", "compile", "load"]

PLUGIN = "voxshell.sdf"
"""Name of the plugin in a model."""

SETTINGS = ("allowance", "coverage", "dense_above", "geoms", "look_ahead", "max_contacts", "resolution", "samples", "sampling",
            "spacing", "voxel_size")
"""Names of the settings of an instance of the plugin."""

_SUPPORTED = ("4.0.0", "4.0.1")
_LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libvoxshell_mujoco.so")


def load():
    """Loads the plugin library into MuJoCo, once per process, and returns its path.

    Raises:
      ImportError: for another version of MuJoCo, or if the wheel was built without the plugin.
    """
    if mujoco.__version__ not in _SUPPORTED:
        raise ImportError(f"MuJoCo is {mujoco.__version__}; expected {' or '.join(_SUPPORTED)}")
    if not os.path.exists(_LIBRARY):
        raise ImportError(f"{_LIBRARY} is absent: this wheel was built without the MuJoCo plugin (python/build makes one with it)")
    if not load.is_done:
        mujoco.mj_loadPluginLibrary(_LIBRARY)
        load.is_done = True
    return _LIBRARY


load.is_done = False


def compile(model, assets=None, **settings):
    """Compiles a model whose mesh and SDF geoms collide with Voxshell.

    Args:
      model: path of an MJCF file, MJCF text, or a mujoco.MjSpec, to which an instance of the plugin is added.
      assets: with text: contents of the files that it names, {name: bytes}.
      **settings: see SETTINGS; `geoms` is "all" unless given.

    Returns:
      The mujoco.MjModel. Meshes are cooked, or found in the cache, when an MjData is made of it.

    Raises:
      ValueError: for an unknown setting, and for a model that MuJoCo refuses.
    """
    for name in settings:
        if name not in SETTINGS:
            raise ValueError(f"{name} is no setting of the plugin; expected one of {', '.join(SETTINGS)}")
    load()
    if isinstance(model, mujoco.MjSpec):
        spec = model
    elif model.lstrip().startswith("<"):
        spec = mujoco.MjSpec.from_string(model, assets=assets or {})
    else:
        spec = mujoco.MjSpec.from_file(model)
    spec.activate_plugin(PLUGIN)
    instance = spec.add_plugin(name="voxshell", plugin_name=PLUGIN, active=True)
    instance.config = {"geoms": "all", **{name: str(value) for name, value in settings.items()}}
    return spec.compile()


load()
