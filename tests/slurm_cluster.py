"""A Slurm cluster of one machine in a temporary folder: munged and slurmctld, slurmd where jobs should run.

Nothing of the machine's own Slurm is read or written: key, socket, state and `slurm.conf` are in the folder,
and the daemons listen on 127.0.0.1, at ports that were free. Messages are signed with the folder's own munge
key, for `auth/none` would let every local user run commands as this one. Root is not needed.

The daemons run in the foreground as children. They end with the `with` block, jobs before them, and the
kernel ends them if Python is killed.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from netloom.files import Folder
from netloom.live import process

START_SECONDS = 60.0
"""Of one daemon, on a machine that may be busy."""
SERVER = ("munged", "slurmctld", "scontrol")
MACHINE = "node"
"""Nodes that a `slurmd` each is: `node0` and so on."""


def missing_tools(*, jobs: bool = False) -> list[str]:
    """What a cluster needs and this machine lacks; with `jobs`, also what runs some."""
    names = (*SERVER, *(("slurmd", "sbatch", "squeue", "scancel") if jobs else ()))
    return [name for name in names if process.find_tool(name) is None]


@dataclass
class Cluster:
    """A running cluster."""

    folder: Path
    """Logs, state and `slurm.conf`."""
    environment: Mapping[str, str]
    """In which Slurm's commands talk to it (`SLURM_CONF`)."""

    def run(self, *words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        """One of Slurm's commands; its output is text."""
        command = [tool(str(words[0])), *map(str, words[1:])]
        done = subprocess.run(
            command, env=dict(self.environment), capture_output=True, text=True, timeout=60, check=False
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done

    def answers(self) -> bool:
        return self.run("scontrol", "ping", check=False).returncode == 0

    def until(self, ready: Callable[[], bool]) -> None:
        """Waits until something that a job does is there."""
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            assert time.monotonic() < deadline, self.run("squeue", check=False).stdout
            time.sleep(0.05)

    def is_idle(self, number: int = 0) -> bool:
        """Whether a machine is there and has nothing to do."""
        done = self.run("sinfo", "--noheader", "--Node", "--format=%N %T", check=False)
        return f"{MACHINE}{number} idle" in done.stdout.splitlines()


def tool(name: str) -> str:
    path = process.find_tool(name)
    assert path is not None, f"{name} is not installed"
    return path


@contextlib.contextmanager
def cluster(
    *,
    nodes: str = "",
    topology: bytes | None = None,
    jobs: bool = False,
    cpus: int = 2,
    machines: int = 1,
    settings: str = "",
) -> Iterator[Cluster]:
    """Starts a cluster; leaving ends it.

    Parameters
    ----------
    nodes : str
        A hostlist of nodes that exist on paper only; they are down.
    topology : bytes, optional
        A `topology.conf`; the plugin is then `topology/tree`.
    jobs : bool, default False
        Whether this machine is a node (`node0`) that runs jobs, in the partition `all`.
    cpus : int, default 2
        Of each node, whatever the machine has: so many jobs of one task run at once.
    machines : int, default 1
        How many nodes this machine is, each with a `slurmd` of its own.
    settings : str
        More lines for `slurm.conf`.
    """
    with contextlib.ExitStack() as stack:
        # Sockets' paths are at most 107 bytes: not in pytest's long folders.
        folder = Path(tempfile.mkdtemp(prefix="netloom-slurm-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        conf = folder / "slurm.conf"
        conf.write_text(_conf(folder, nodes, topology is not None, machines if jobs else 0, cpus) + settings)
        # Without it slurmd looks for cgroups, which a container may not have.
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\nCgroupPlugin=cgroup/v1\n")
        if topology is not None:
            (folder / "topology.conf").write_bytes(topology)
        one = Cluster(folder, {**os.environ, "SLURM_CONF": str(conf)})
        _munged(stack, one)
        daemon = _daemon(stack, one, "slurmctld", "-D", "-i", "-f", conf)
        _wait(one, "slurmctld", one.answers, daemon)
        for number in range(machines if jobs else 0):
            name = f"{MACHINE}{number}"
            daemon = _daemon(stack, one, "slurmd", "-D", "-f", conf, "-N", name, log=name)
            _wait(one, name, functools.partial(one.is_idle, number), daemon)
        if jobs:
            stack.callback(_end_jobs, one)
        yield one


def _munged(stack: contextlib.ExitStack, one: Cluster) -> None:
    key, where = one.folder / "munge.key", one.folder / "munge.socket"
    key.touch(0o600)
    key.write_bytes(secrets.token_bytes(64))
    files = [
        f"--{option}={one.folder / f'munge.{name}'}"
        for option, name in (("log-file", "log"), ("pid-file", "pid"), ("seed-file", "seed"))
    ]
    # --force: the folder is closed to others, and munged wants everybody to reach its socket.
    words = ("--foreground", "--force", f"--key-file={key}", f"--socket={where}", *files)
    daemon = _daemon(stack, one, "munged", *words)
    _wait(one, "munged", where.is_socket, daemon)


def _daemon(
    stack: contextlib.ExitStack, one: Cluster, name: str, *words: object, log: str | None = None
) -> subprocess.Popen[bytes]:
    return stack.enter_context(
        process.spawn(
            [tool(name), *map(str, words)],
            folder=stack.enter_context(Folder.open(one.folder)),
            name=log or name,
            env=one.environment,
            console=subprocess.DEVNULL,
            stop=lambda child: child.send_signal(signal.SIGTERM),
        )
    )


def _wait(one: Cluster, name: str, ready: Callable[[], bool], daemon: subprocess.Popen[bytes]) -> None:
    try:
        process.wait_until(ready, START_SECONDS, name, daemon)
    except Exception as error:
        raise AssertionError(f"{error}: {process.tail(one.folder / f'{name}.err', 8)}") from error


def _end_jobs(one: Cluster) -> None:
    """Jobs are no children of ours: they would outlive slurmd."""
    one.run("scancel", "--user", getpass.getuser(), check=False)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and one.run("squeue", "--noheader", check=False).stdout.strip():
        time.sleep(0.1)


def _conf(folder: Path, nodes: str, topology: bool, machines: int, cpus: int) -> str:
    user = getpass.getuser()
    server, away, *ports = _free_ports(2 + machines)
    names = [f"{MACHINE}{number}" for number in range(machines)]
    lines = [
        "ClusterName=netloom",
        f"SlurmctldHost={socket.gethostname()}(127.0.0.1)",
        f"SlurmctldPort={server}",
        f"SlurmUser={user}",
        f"SlurmdUser={user}",
        "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
        "AuthType=auth/munge",
        f"AuthInfo=socket={folder}/munge.socket",
        "CredType=cred/munge",
        f"StateSaveLocation={folder}/state",
        f"SlurmdSpoolDir={folder}/spool/%n",
        f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "JobAcctGatherType=jobacct_gather/none",
        "AccountingStorageType=accounting_storage/none",
        "MpiDefault=none",
        "MailProg=/bin/true",
        "KillWait=1",
        "ReturnToService=2",
        "SchedulerParameters=sched_min_interval=0,bf_interval=1",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_CPU",
        f"TopologyPlugin=topology/{'tree' if topology else 'none'}",
    ]
    if nodes:
        lines.append(f"NodeName={nodes} NodeAddr=127.0.0.1 Port={away} State=DOWN")
    lines += [
        f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} "
        f"CPUs={cpus} State=UNKNOWN"
        for name, port in zip(names, ports, strict=True)
    ]
    if machines:
        lines.append("SlurmdParameters=config_overrides")
    lines.append(f"PartitionName=all Nodes={','.join(names) or nodes} Default=YES State=UP")
    return "".join(f"{line}\n" for line in lines)


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
