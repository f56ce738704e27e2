"""The server is not open to a network by accident."""

import socket

import pytest

from samovar.errors import SettingsError
from samovar.service.request_origin import LOOPBACK
from samovar.service.server import Address, allowed_hosts, check_access

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_the_loopback_address_needs_no_token(host):
    assert Address(host, 0).is_loopback
    check_access(Address(host, 0), None, no_token=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "::", "example.org", ""])
def test_every_other_address_needs_a_token_or_a_word(host):
    address = Address(host, 0)
    assert not address.is_loopback
    with pytest.raises(SettingsError, match="--no-token"):
        check_access(address, None, no_token=False)
    check_access(address, TOKEN, no_token=False)
    check_access(address, None, no_token=True)
    with pytest.raises(SettingsError, match="Choose one"):
        check_access(address, TOKEN, no_token=True)
    with pytest.raises(SettingsError, match="at least 16"):
        check_access(address, "short", no_token=False)


def test_a_proxy_that_others_reach_needs_a_token_too():
    local = Address("127.0.0.1", 0)
    with pytest.raises(SettingsError, match=r"Others can reach my\.name"):
        check_access(local, None, no_token=False, named=("my.name",))
    check_access(local, TOKEN, no_token=False, named=("my.name",))
    check_access(local, None, no_token=True, named=("my.name",))
    check_access(local, None, no_token=False, named=("localhost",))


def test_a_local_server_answers_to_local_names_only():
    local = Address("127.0.0.1", 0)
    assert set(allowed_hosts(local, None, ())) == set(LOOPBACK)
    assert "my.name" in allowed_hosts(local, None, ("my.name",))
    assert allowed_hosts(local, TOKEN, ()) == ()
    assert allowed_hosts(Address("0.0.0.0", 0), None, ()) == ()
    assert allowed_hosts(Address("0.0.0.0", 0), TOKEN, ("my.name",)) == ("my.name",)


def test_connections_are_known_to_be_tcp():
    """Without that, asyncio would hold back every answer for 40 ms."""
    with Address("127.0.0.1", 0).bind() as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_an_error_in_a_sentence():
    with Address("127.0.0.1", 0).bind() as listener:
        port = listener.getsockname()[1]
        with pytest.raises(SettingsError, match=f"port {port}"):
            Address("127.0.0.1", port).bind()
    with pytest.raises(SettingsError, match="Choose another"):
        Address("127.0.0.1", 70_000).bind()
    with pytest.raises(SettingsError, match="Choose another"):
        Address("no.such.name.invalid", 0).bind()
