"""A Slurm of one node for tests, from the programs of Debian's package `slurm-wlm`, in a folder of its own.

It needs neither root nor cgroups nor systemd nor MUNGE: daemon and controller run as whoever runs the test.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "srun", "sinfo", "scancel")

CONFIGURATION = """\
ClusterName=interpulse
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""

START_S = 30.0


@contextmanager
def started(folder: Path) -> Iterator[dict[str, str]]:
    """A Slurm that runs jobs; yields what its commands need in their environment. Skips where it is not installed."""
    environment = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    missing = [name for name in PROGRAMS if shutil.which(name, path=environment["PATH"]) is None]
    if missing:
        pytest.skip(f"there is no {' and no '.join(missing)} here: apt-get install slurm-wlm")
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    text = CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=folder, ports=_free_ports(2)
    )
    (folder / "slurm.conf").write_text(text)
    # It is read even where nothing is constrained; the default would ask systemd.
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
    environment["SLURM_CONF"] = str(folder / "slurm.conf")
    with ExitStack() as ends:
        for name in ("slurmctld", "slurmd"):
            log = ends.enter_context((folder / f"{name}.log").open("wb"))
            daemon = subprocess.Popen([name, "-D"], env=environment, stdout=log, stderr=log)
            ends.callback(_end, daemon)
        end = time.monotonic() + START_S
        while "idle" not in (said := _asked("sinfo", "-h", "-o", "%T", environment=environment)):
            if time.monotonic() > end:
                logs = "".join((folder / f"{name}.log").read_text()[-2000:] for name in ("slurmctld", "slurmd"))
                pytest.fail(f"no node after {START_S:.0f} s: sinfo says {said!r}\n{logs}")
            time.sleep(0.2)
        # Before the daemons end, so that none of what they started outlives them.
        ends.callback(_asked, "scancel", "--user", getpass.getuser(), environment=environment)
        yield environment


def _asked(*command: str, environment: dict[str, str]) -> str:
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return ended.stdout + ended.stderr


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as ends:
        sockets = [ends.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
