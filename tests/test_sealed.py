"""The checksum is zlib's CRC-32, whoever computes it."""

import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eller_stream.sealed import seal

WITHOUT_ISAL = "import sys; sys.modules['isal'] = None; "
SEAL = "from eller_stream import sealed; print(sealed.crc32.__module__, sealed.seal([b'maze', b'rows']).hex())"


@given(st.lists(st.binary(max_size=300), max_size=4))
def test_the_seal_is_the_crc_of_all_pieces(pieces):
    expected = b"\xce" + zlib.crc32(b"".join(pieces)).to_bytes(4, "big")
    assert seal(pieces) == expected
    assert seal([memoryview(piece) for piece in pieces]) == expected


@pytest.mark.parametrize(("before", "module"), [("", "isal.isal_zlib"), (WITHOUT_ISAL, "zlib")])
def test_with_and_without_isal(before, module):
    done = subprocess.run([sys.executable, "-c", before + SEAL], capture_output=True, check=True, text=True)
    assert done.stdout.split() == [module, seal([b"maze", b"rows"]).hex()]
