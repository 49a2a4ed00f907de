"""Hosts as network namespaces, which need root: where they can't be made, the tests fail with what it takes."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tools.cluster.network import Host, Network, network

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
SERVER = f"""
import socket
server = socket.create_server(("", 5000))
print("ready", flush=True)
while True:
    client, _ = server.accept()
    client.sendall(b"x" * {2 * MIB})
    client.close()
"""
CLIENT = """
import socket, sys
client = socket.create_connection((sys.argv[1], 5000), timeout=2)
client.settimeout(5)
total = 0
while part := client.recv(65536):
    total += len(part)
print(total)
"""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Network]:
    with network(2) as made:
        yield made


def fetch(by: Host, of: Host) -> str:
    """What a process on one host got from the server on another."""
    done = subprocess.run(
        by.command(sys.executable, "-c", CLIENT, of.address), capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.strip()


def test_bytes_between_workers_are_counted_a_link_has_its_speed_and_can_be_cut(hosts: Network) -> None:
    one, two = hosts.workers
    server = subprocess.Popen(two.command(sys.executable, "-c", SERVER), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        server.stdout.readline()
        before, driver = hosts.between_workers(), hosts.received()["driver"]
        assert fetch(one, two) == str(2 * MIB)
        assert 2 * MIB < hosts.between_workers() - before < 2.2 * MIB
        assert hosts.received()["driver"] - driver < MIB / 10
        hosts.limit("8mbit")  # a MiB a second, after the first quarter of one
        start = time.monotonic()
        assert fetch(one, two) == str(2 * MIB)
        assert time.monotonic() - start > 1
        hosts.cut(two)
        assert fetch(one, two) == ""
        hosts.mend(two)
        hosts.limit("1gbit")
        assert fetch(one, two) == str(2 * MIB)
    finally:
        server.kill()
        server.wait()


def test_nothing_is_left_of_the_hosts() -> None:
    with network(1) as made:
        name = made.driver.namespace
        assert name in namespaces()
    assert name not in namespaces()


def namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
