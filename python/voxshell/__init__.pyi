from ._core import CONTACT as CONTACT, HIT as HIT, Haptics as Haptics, Shape as Shape, contacts as contacts
from ._core import distance as distance, plot as plot, time_of_impact as time_of_impact
from typing import Any

__version__: str

def from_trimesh(mesh: Any, **options: Any) -> Shape: ...
