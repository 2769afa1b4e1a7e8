"""Who may talk to a server: tokens, loopback and beyond, TLS with a certificate made here."""

import shutil
import socket
import ssl
import subprocess

import pytest
from net_helpers import HOST, QUICK, ByHand, Served, hello, open_spec, remote, serving, small

from eller_stream import EllerStream
from eller_stream.errors import NetError
from eller_stream.net import access
from eller_stream.net.access import client_tls, server_tls, token_from
from eller_stream.net.client import RemoteStream
from eller_stream.net.limits import ServerLimits
from eller_stream.net.protocol import Refusal

TOKEN = b"open sesame"

# ---- tokens ----------------------------------------------------------------------------------


def test_a_token_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("ELLER_STREAM_TOKEN", raising=False)
    assert token_from(None) is None
    monkeypatch.setenv("ELLER_STREAM_TOKEN", " from the environment\n")
    assert token_from(None) == b"from the environment"
    (tmp_path / "token").write_bytes(b"\n from a file \r\n")
    assert token_from(tmp_path / "token") == b"from a file"
    for wrong in (b"", b" \n", b"x" * 1025, b"x" * 9999):
        (tmp_path / "token").write_bytes(wrong)
        with pytest.raises(NetError, match="a token has from 1 to 1024 bytes"):
            token_from(tmp_path / "token")
    with pytest.raises(FileNotFoundError):
        token_from(tmp_path / "nothing")


def test_a_server_that_wants_a_token():
    with serving(token=TOKEN) as served:
        for wrong in (None, b"", b"open sesam", b"open sesamE", TOKEN + b"!"):
            with ByHand(served.port, hello(wrong), open_spec(small())) as client:
                assert client.all() == [Refusal("token", "the token is missing or not the right one")]
            with pytest.raises(NetError, match="missing or not the right one"):
                remote(served, small(), token=wrong)
        with remote(served, small(), token=TOKEN) as stream:
            assert stream.read(10) == EllerStream(64, seed=1).read(10)


def test_a_server_that_wants_none_takes_any():
    with serving(token=TOKEN, no_token=True) as served, remote(served, small(), token=b"whatever") as stream:
        assert len(stream.read(10)) == 10


def test_tokens_are_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr(access.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    assert access.same_token(TOKEN, TOKEN)
    assert not access.same_token(None, TOKEN)
    assert compared == [(TOKEN, TOKEN), (b"", TOKEN)]


# ---- loopback and beyond ---------------------------------------------------------------------


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback(address):
    assert access.is_loopback(address)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.1", "fe80::1%eth0", "::ffff:10.0.0.1"])
def test_beyond_loopback(address):
    assert not access.is_loopback(address)


@pytest.mark.parametrize("host", ["0.0.0.0", ""])
def test_beyond_loopback_it_takes_a_token_or_the_word(host):
    served = Served(host=host)
    with pytest.raises(NetError, match="it takes a token"):
        served.do(served.server.start())
    served.stop()
    access.check_exposure(host, TOKEN, no_token=False)
    access.check_exposure(host, None, no_token=True)


@pytest.mark.parametrize("options", [{"token": TOKEN}, {"no_token": True}])
def test_beyond_loopback_with_a_token_or_the_word(options):
    with serving(host="0.0.0.0", **options) as served, remote(served, small(), token=TOKEN) as stream:
        assert len(stream.read(10)) == 10


def test_a_server_listens_on_loopback_unless_told():
    served = Served()
    served.do(served.server.start())
    assert served.server._server.sockets[0].getsockname()[0] == HOST
    served.stop()


def test_a_token_does_not_go_to_another_machine_in_the_clear(monkeypatch):
    """This machine is made to look like another one; the server must not have seen the token."""
    with serving(token=TOKEN) as served:
        monkeypatch.setattr(access, "is_loopback", lambda _: False)
        with pytest.raises(NetError, match=r"the token would go to 127\.0\.0\.1 in the clear"):
            remote(served, small(), token=TOKEN)
        with remote(served, small(), token=TOKEN, clear_token=True) as stream:
            assert len(stream.read(10)) == 10


def test_without_a_token_nothing_is_held_back(monkeypatch):
    with serving() as served:
        monkeypatch.setattr(access, "is_loopback", lambda _: False)
        with remote(served, small()) as stream:
            assert len(stream.read(10)) == 10


# ---- TLS -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Make a key and a certificate for 127.0.0.1 and localhost, signed by itself."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no command openssl")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run(["openssl", *words.split(), *names, "-out", cert, "-keyout", key], check=True, capture_output=True)
    return cert, key


def test_rows_over_tls(certificate):
    spec = small(1000, key_interval=0)
    with (
        serving(tls=server_tls(*certificate), token=TOKEN) as served,
        remote(served, spec, tls=client_tls(certificate[0]), token=TOKEN) as stream,
    ):
        here = EllerStream.from_spec(spec)
        assert stream.read(20_000) == here.read(20_000)
        stream.finalize()
        here.finalize()
        assert stream.read(9) == here.read(9)


def test_a_certificate_that_is_not_trusted(certificate):
    with serving(tls=server_tls(*certificate), host="0.0.0.0", no_token=True) as served:
        with pytest.raises(NetError, match=r"no TLS with this server: self.signed certificate"):
            remote(served, small(), tls=client_tls())
        with pytest.raises(NetError, match=r"no TLS with this server: .*(not valid for|doesn't match|mismatch)"):
            RemoteStream("127.0.0.2", served.port, small(), tls=client_tls(certificate[0]), limits=QUICK)


def test_tls_on_one_side_only(certificate):
    with serving() as served, pytest.raises(NetError, match="no TLS with this server"):
        remote(served, small(), tls=client_tls(certificate[0]))
    with serving(tls=server_tls(*certificate)) as served:
        with pytest.raises(NetError):
            remote(served, small())
        with remote(served, small(), tls=client_tls(certificate[0])) as stream:
            assert len(stream.read(10)) == 10


def test_a_handshake_that_stops_half_way(certificate):
    with serving(tls=server_tls(*certificate), limits=ServerLimits(greeting=0.3)) as served:
        with socket.create_connection((HOST, served.port), 5) as half:
            half.sendall(bytes.fromhex("16030100f8"))
            assert half.recv(100) == b""
        with remote(served, small(), tls=client_tls(certificate[0])) as stream:
            assert len(stream.read(10)) == 10


def test_files_that_are_no_certificates(certificate, tmp_path):
    (tmp_path / "x").write_text("nothing")
    with pytest.raises(NetError, match="no certificate and its key"):
        server_tls(tmp_path / "x", tmp_path / "x")
    with pytest.raises(NetError, match="no certificates"):
        client_tls(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        server_tls(tmp_path / "y", tmp_path / "y")
    assert isinstance(server_tls(*certificate), ssl.SSLContext)
