"""Who may talk to a server, and over what: tokens, loopback, TLS.

A token is a secret that both sides hold, from a file or from the environment, never from a command's words, which
everyone on the machine can read. It goes in the clear only where nobody else listens, on loopback, unless that is
asked for.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
import ssl
from pathlib import Path

from ..errors import NetError
from .protocol import MAX_TOKEN

TOKEN_VARIABLE = "ELLER_STREAM_TOKEN"


def token_from(file: str | os.PathLike[str] | None) -> bytes | None:
    """Return the token in a file, or else in the environment's ELLER_STREAM_TOKEN; None if there is neither.

    White space around it does not count. Raises NetError for an empty one or one above 1,024 bytes, OSError for a file
    that cannot be read.
    """
    if file is not None:
        with Path(file).open("rb") as source:
            return _checked(source.read(MAX_TOKEN + 64).strip(), str(file))
    value = os.environ.get(TOKEN_VARIABLE)
    return None if value is None else _checked(os.fsencode(value).strip(), TOKEN_VARIABLE)


def _checked(token: bytes, origin: str) -> bytes:
    if not 1 <= len(token) <= MAX_TOKEN:
        raise NetError(f"{origin}: a token has from 1 to {MAX_TOKEN} bytes, not {len(token)}")
    return token


def same_token(came: bytes | None, expected: bytes | None) -> bool:
    """Return whether the token is the one expected, in a time that does not tell how much of it fits."""
    return expected is None or hmac.compare_digest(came or b"", expected)


def is_loopback(address: str) -> bool:
    """Return whether a numeric address is this machine's own, IPv4 or IPv6."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return (mapped or ip).is_loopback


def check_exposure(host: str, token: bytes | None, no_token: bool) -> None:
    """Raise NetError for listening off loopback without a token, unless it is said that none is wanted."""
    if token is not None or no_token:
        return
    found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    if not all(is_loopback(str(address[0])) for *_, address in found):
        raise NetError(
            f"listening on {host or 'all addresses'} lets others in: it takes a token (from a file or "
            f"{TOKEN_VARIABLE}), or the word that none is wanted"
        )


def check_way(peer: str, token: bytes | None, encrypted: bool, clear_token: bool) -> None:
    """Raise NetError before a token is sent in the clear to another machine, unless that was asked for."""
    if token is not None and not encrypted and not clear_token and not is_loopback(peer):
        raise NetError(f"the token would go to {peer} in the clear: use TLS, or ask for that")


def server_tls(cert: str | os.PathLike[str], key: str | os.PathLike[str]) -> ssl.SSLContext:
    """Return the TLS settings of a server with a certificate (with its chain) and its key, both PEM files."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key)
    except ssl.SSLError as error:
        raise NetError(f"{os.fspath(cert)}, {os.fspath(key)}: no certificate and its key ({error.reason})") from None
    return context


def client_tls(ca: str | os.PathLike[str] | None = None) -> ssl.SSLContext:
    """Return the TLS settings of a client: the server's certificate is checked against `ca`, or the system's list."""
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError as error:
        raise NetError(f"{ca}: no certificates ({error.reason})") from None


def tls_failed(error: ssl.SSLError) -> NetError:
    """Return what to tell of a handshake that failed, which trying again would not mend."""
    why = getattr(error, "verify_message", None) or error.reason or str(error)
    return NetError(f"no TLS with this server: {why}")
