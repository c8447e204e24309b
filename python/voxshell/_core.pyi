import os
from typing import Any, Callable, Literal, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONTACT: np.dtype[np.void]
"""One contact: point_on_a, point_on_b (3,) metres, world; normal (3,) from A to B; separation, metres, negative when
penetrating; toi, fraction of a motion; feature, number of the sample or edge."""
HIT: np.dtype[np.void]
"""One hit of a segment: fraction 0 to 1; point, normal (3,), body frame; hit. NaN without a hit."""
__version__: str

Coverage = Literal["edges", "facets", "samples"]
Roles = Literal["auto", "shell_of_a", "shell_of_b", "both"]
Progress = Callable[[str, float], bool | None]

class Shape:
    """Field and samples of a body. Immutable; any number of threads may use one. Can be pickled."""

    @classmethod
    def cook(
        cls, vertices: ArrayLike, faces: ArrayLike, *, resolution: int = ..., voxel_size: float = ..., spacing: float = ...,
        samples: int = ..., sampling: Literal["default", "projection", "vertices", "uniform", "features"] = ...,
        storage: Literal["auto", "dense", "bricks", "exact"] = ..., target_error: float = ..., offset: float = ...,
        weld_tolerance: float = ..., memory_limit: int = ..., progress: Progress | bool | None = ...,
    ) -> Shape:
        """Cooks triangles: vertices (N, 3), metres; faces (M, 3), counter-clockwise seen from outside.

        resolution: voxels along the largest extent; by default 32 for a closed mesh of at most 1,024 triangles, whose field is
        exact, else 128. voxel_size, spacing (largest gap between samples), target_error,
        offset, weld_tolerance: metres. samples: approximate number. progress: True, a bar in a notebook or a terminal; or
        progress(stage, fraction), called by threads of the library: returning False cancels with a RuntimeError, and an
        exception is passed on.
        """

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Shape:
        """Cooks a mesh file, OBJ, STL or PLY, with the options of `cook`."""

    @classmethod
    def primitive(cls, kind: str, size: Sequence[float] = ..., detail: Sequence[int] = ..., **options: Any) -> Shape:
        """Cooks a mesh of the library: box, sphere, capsule, cylinder, cone, torus, torus_knot, bowl, peg, hole, gear, blob,
        bolt or nut. size, metres, and detail replace the defaults from the first on."""

    @classmethod
    def sphere(cls, radius: float) -> Shape:
        """Makes an exact sphere: a field without samples."""

    @classmethod
    def cuboid(cls, half_extents: Sequence[float]) -> Shape:
        """Makes an exact box: a field without samples."""

    @classmethod
    def half_space(cls, normal: Sequence[float] = ..., offset: float = ...) -> Shape:
        """Makes the half-space of all x with normal · x <= offset: a field without samples."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Shape:
        """Reads an asset file."""

    def plot(self, *, size: int = ..., direction: Sequence[float] = ...) -> bytes:
        """Draws the shape: a PNG of size × size pixels, seen from a direction; y is up. A notebook shows shapes by it."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an asset file."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Shape: ...
    def to_bytes(self) -> bytes: ...
    @property
    def info(self) -> dict[str, Any]:
        """Numbers of triangles and samples, grid, voxel size and measured error of the field, metres."""

    @property
    def bounds(self) -> NDArray[np.float64]:
        """The box around the shape, (2, 3): its lowest and highest corner, metres, body frame."""

    @property
    def mass_properties(self) -> dict[str, Any]:
        """volume, m³; center_of_mass (3,), metres; inertia (3, 3) per unit mass about it, m²; exact."""

    @property
    def mesh(self) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Vertices (N, 3), metres, and faces (M, 3)."""

    def sample(self, points: ArrayLike, *, gradient: bool = ...) -> Any:
        """Evaluates the field at points (3,) or (N, 3), metres, body frame.

        Returns the signed distances, metres; with `gradient` also their gradients (3,) or (N, 3).
        """

    def segments(self, start: ArrayLike, end: ArrayLike) -> Any:
        """Finds the first hit of segments between points (3,) or (N, 3), metres, body frame: an array of HIT."""

class Haptics:
    """A tool in a hand among bodies: `simulate` finds contacts, `step` answers the device at 1 kHz."""

    def __init__(
        self, tool: Shape, bodies: Sequence[tuple[Shape, ArrayLike | None]], *, mass: float,
        renderer: Literal["god_object", "penalty", "continuous_penalty", "vps", "impulse"] = ...,
        stiffness: float | None = ..., friction: float | None = ..., max_force: float = ..., max_torque: float = ...,
    ) -> None:
        """mass: kg. stiffness of the coupling against translation: N/m. max_force: N. max_torque: N·m."""

    def step(self, pose: ArrayLike, twist: ArrayLike | None = ..., *, dt: float = ..., engaged: bool = ...) -> dict[str, Any]:
        """Makes one step of dt seconds. twist: linear and angular velocity of the device (6,).

        Returns wrench on the hand and contact wrench on the tool (6,), N and N·m; the tool's pose (7,); contacts; status.
        """

    def simulate(self) -> dict[str, Any]:
        """Makes one round of the simulation. Returns least_separation, metres; contacts; status."""

    def set_body_pose(self, index: int, pose: ArrayLike, twist: ArrayLike | None = ...) -> None: ...
    def load(self, index: int) -> NDArray[np.float64]:
        """Returns the wrench of the tool on a body (6,), N and N·m, over the last step."""

    def reset(self) -> None: ...

def contacts(
    a: Shape, b: Shape, pose_a: ArrayLike | None = ..., pose_b: ArrayLike | None = ..., *, max_separation: float = ...,
    max_contacts: int = ..., coverage: Coverage = ..., roles: Roles = ..., threads: int = ...,
) -> Any:
    """Finds the contacts of two shapes, deepest first.

    Returns an array of CONTACT; for N poses the contacts of all, and offsets (N + 1,): query i has
    contacts[offsets[i]:offsets[i + 1]]. max_contacts: 0, all. threads: 0, all processors.
    """

def distance(
    a: Shape, b: Shape, pose_a: ArrayLike | None = ..., pose_b: ArrayLike | None = ..., *, max_distance: float = ...,
    coverage: Coverage = ..., roles: Roles = ..., threads: int = ...,
) -> Any:
    """Finds the closest or deepest contact: a CONTACT, N of them for N poses. Its separation is infinite beyond
    max_distance, metres."""

def time_of_impact(
    a: Shape, b: Shape, from_a: ArrayLike | None = ..., to_a: ArrayLike | None = ..., from_b: ArrayLike | None = ...,
    to_b: ArrayLike | None = ..., *, max_separation: float = ..., tolerance: float = ...,
    path: Literal["screw", "straight"] = ..., coverage: Coverage = ..., roles: Roles = ..., threads: int = ...,
) -> Any:
    """Finds when moving shapes first touch: a CONTACT with its toi, 0 to 1; N of them for N poses. toi is infinite if they
    do not touch. A body without a `to` rests."""

def plot(
    bodies: Sequence[tuple[Shape, ArrayLike | None]], contacts: NDArray[np.void] | None = ..., *, size: int = ...,
    direction: Sequence[float] = ...,
) -> bytes:
    """Draws bodies and contacts: a PNG of size × size pixels, seen from a direction; y is up."""
