from .kernel import Carver

LANES: int
BANDS: int

carve: Carver
