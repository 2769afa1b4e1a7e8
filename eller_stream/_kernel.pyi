from .kernel import Carver

LANES: int

carve: Carver
