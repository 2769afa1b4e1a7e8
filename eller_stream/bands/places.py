"""Where the bands of a maze stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SpecError

if TYPE_CHECKING:
    from ..spec import MazeSpec


def band_rows(spec: MazeSpec) -> int:
    """Return the rows of a whole band; SpecError for an algorithm that carves none."""
    if spec.band is None:
        raise SpecError(f"a BandStream has an algorithm that carves bands, not {spec.algorithm}")
    return spec.band


def rows_of(spec: MazeSpec, band: int) -> int:
    """Return the rows that a band is carved with: fewer in the last one of a planned height."""
    rows = band_rows(spec)
    return rows if spec.height is None else min(rows, spec.height - band * rows)


def is_last(spec: MazeSpec, band: int) -> bool:
    """Return whether a planned height ends with this band."""
    return spec.height is not None and (band + 1) * band_rows(spec) >= spec.height
