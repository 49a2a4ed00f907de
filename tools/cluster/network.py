"""Hosts as network namespaces on one bridge: links with a speed and a delay, cut and mended, their bytes counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

SUBNET = "198.18.0"
"""198.18.0.0/15 is the range for benchmarks of networks (RFC 2544); nothing else uses it."""

BURST_BYTES = 256 * 1024
QUEUE_MILLISECONDS = 400


class NoNamespaces(Exception):
    """This machine gives us no network namespaces."""


@dataclass(frozen=True, slots=True)
class Host:
    """A namespace with one interface, `eth0`. The other end of its link is a port of the bridge."""

    name: str
    address: str
    namespace: str
    port: str

    def command(self, *command: str) -> list[str]:
        """The command as it is started on this host."""
        return ["ip", "netns", "exec", self.namespace, *command]


@dataclass(frozen=True, slots=True)
class Network:
    """A driver's host and the workers' hosts. All of them see the machine's files."""

    switch: str
    driver: Host
    workers: tuple[Host, ...]

    @property
    def hosts(self) -> tuple[Host, ...]:
        return (self.driver, *self.workers)

    def limit(self, rate: str, delay: str = "") -> None:
        """Gives every link a speed, as tc writes it (`1gbit`), in both directions, and a delay (`1ms`)."""
        for host in self.hosts:
            for namespace, device in ((host.namespace, "eth0"), (self.switch, host.port)):
                _shape(namespace, device, rate, delay)

    def cut(self, host: Host) -> None:
        """Pulls the host's cable: its processes go on, and nobody hears of them."""
        _ip("-n", self.switch, "link", "set", host.port, "down")

    def mend(self, host: Host) -> None:
        _ip("-n", self.switch, "link", "set", host.port, "up")

    def received(self) -> dict[str, int]:
        """Bytes that came in on each host's interface since the start, by the name of the host."""
        return {host.name: _bytes(host, "rx") for host in self.hosts}

    def sent_by_driver(self) -> int:
        return _bytes(self.driver, "tx")

    def between_workers(self) -> int:
        """Bytes from worker to worker: what came in on all workers, without what the driver sent."""
        return sum(_bytes(host, "rx") for host in self.workers) - self.sent_by_driver()


def network_of(values: Mapping[str, Any]) -> Network:
    """The network that `dataclasses.asdict` has taken apart: for another process."""
    workers = tuple(Host(**host) for host in values["workers"])
    return Network(values["switch"], Host(**values["driver"]), workers)


@contextmanager
def network(workers: int, rate: str = "", delay: str = "") -> Iterator[Network]:
    """Makes the namespaces, and removes them at the end. Raises NoNamespaces with the cause and the cure."""
    _refuse_without_tools()
    tag = f"colocate{os.getpid()}"
    names = ["driver", *(f"worker{n}" for n in range(1, workers + 1))]
    # An interface's name has at most 15 characters.
    hosts = [Host(name, f"{SUBNET}.{10 + n}", f"{tag}-{name}", f"port{n}") for n, name in enumerate(names)]
    made = Network(f"{tag}-switch", hosts[0], tuple(hosts[1:]))
    try:
        _make(made)
        if rate:
            made.limit(rate, delay)
        yield made
    finally:
        for namespace in (*(host.namespace for host in hosts), made.switch):
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)


def _refuse_without_tools() -> None:
    missing = [tool for tool in ("ip", "tc") if not shutil.which(tool)]
    if missing:
        raise NoNamespaces(
            f"Hosts are network namespaces, and this machine has no command {' and '.join(missing)}.\n"
            "On Debian or Ubuntu type: sudo apt-get install iproute2"
        )


def _make(made: Network) -> None:
    _ip("netns", "add", made.switch)
    _ip("-n", made.switch, "link", "add", "bridge", "type", "bridge")
    _ip("-n", made.switch, "link", "set", "bridge", "up")
    for host in made.hosts:
        _ip("netns", "add", host.namespace)
        link = ("link", "add", "eth0", "type", "veth", "peer", "name", host.port, "netns", made.switch)
        _ip("-n", host.namespace, *link)
        _ip("-n", host.namespace, "address", "add", f"{host.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", host.namespace, "link", "set", device, "up")
        _ip("-n", made.switch, "link", "set", host.port, "master", "bridge", "up")


def _shape(namespace: str, device: str, rate: str, delay: str) -> None:
    root = ("replace", "dev", device, "root")
    if delay:
        limited = ("netem", "rate", rate, "delay", delay, "limit", "100000")
    else:
        limited = ("tbf", "rate", rate, "burst", str(BURST_BYTES), "latency", f"{QUEUE_MILLISECONDS}ms")
    _run(["tc", "-n", namespace, "qdisc", *root, *limited])


def _bytes(host: Host, direction: str) -> int:
    shown = json.loads(_ip("-n", host.namespace, "-s", "-j", "link", "show", "eth0"))
    return int(shown[0]["stats64"][direction]["bytes"])


def _ip(*arguments: str) -> str:
    return _run(["ip", *arguments])


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNamespaces(
            f"Cannot make hosts out of network namespaces: `{' '.join(command)}` said {done.stderr.strip()}.\n"
            "It takes root, or CAP_NET_ADMIN and CAP_SYS_ADMIN. Type: sudo ./run cluster"
        )
    return done.stdout
