"""Records the traces of examples/traces: real programs on ext4 on a served drive, `interpulse serve --record`.

Arguments are names of recordings; without one all are made. It needs root, /dev/fuse, loop devices, and Debian's
packages libnbd-bin, e2fsprogs, postgresql, postgresql-contrib and rocksdb-tools. Each program works on a file system
that an earlier session has made, at pace 10; the commands of the session are in its trace, with times of the drive. A
new recording of the same program differs in times and in some addresses: the examples are the files of the repository.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from interpulse.blockdevice import commands, filesystem, requirements
from interpulse.blockdevice.pgbench import PgBench
from interpulse.blockdevice.server import serving
from interpulse.blockdevice.sqlite import Sqlite
from interpulse.blockdevice.workload import Load, Workload

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples" / "traces"
DRIVE = 'config_version = 1\ndrive = "a4-mini"\n[precondition]\nfill = "0%"\n'
PACE = 10

LOAD = Load(rate=150.0, warm_up=0.0, window=10.0, seed=1)


def nothing(_: Path) -> None:
    """The preparation of programs that begin on an empty file system."""


def ignore(_: float) -> None:
    """Progress is not shown."""


def under(workload: Workload) -> Callable[[Path], None]:
    """Runs the load of the experiments on a database."""

    def run(place: Path) -> None:
        workload.run(place, LOAD, ignore)

    return run


def sources(place: Path) -> None:
    """Unpacks the sources of this repository, reads them, renames and deletes some, and trims what is free."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    for copy in ("first", "second"):
        (place / copy).mkdir()
        subprocess.run(["tar", "-x", "-C", place / copy], input=archive, check=True)
        subprocess.run(["sync", "-f", place], check=True)
    filesystem.drop_cached([path for path in place.rglob("*") if path.is_file()])
    subprocess.run(["grep", "-r", "-c", "-l", "suspend", place / "first"], stdout=subprocess.DEVNULL, check=True)
    for number, path in enumerate(sorted(path for path in (place / "second").rglob("*") if path.is_file())):
        if number % 3 == 0:
            path.unlink()
        elif number % 3 == 1:
            path.rename(path.with_name(f"{path.name}.old"))
    shutil.rmtree(place / "first")
    subprocess.run(["sync", "-f", place], check=True)
    commands.run("fstrim", place)


def rocksdb_fill(place: Path) -> None:
    """Fills a store of RocksDB with 200,000 values."""
    db_bench(place, "fillrandom", "--use_existing_db=0", "--disable_wal=1")


def rocksdb(place: Path) -> None:
    """Reads and writes the store: three clients, one in five operations a write, compaction beside them."""
    mixed = ["--duration=10", "--threads=3", "--readwritepercent=80", "--sync=1"]
    db_bench(place, "readrandomwriterandom", "--use_existing_db=1", *mixed)


def db_bench(place: Path, benchmark: str, *options: str) -> None:
    """Runs db_bench with direct I/O and small files, so that its levels are used."""
    sizes = ["--write_buffer_size=2097152", "--target_file_size_base=2097152", "--max_bytes_for_level_base=8388608"]
    direct = ["--use_direct_reads=1", "--use_direct_io_for_flush_and_compaction=1", "--compression_type=none"]
    load = [f"--db={place}", f"--benchmarks={benchmark}", "--num=200000", "--value_size=400", "--seed=1"]
    commands.run("db_bench", *load, *sizes, *direct, "--cache_size=1048576", *options)


@dataclass(frozen=True)
class Recording:
    """A program whose commands are recorded."""

    prepare: Callable[[Path], None]
    run: Callable[[Path], None]
    programs: tuple[str, ...] = ()


RECORDINGS = {
    "pgbench": Recording(PgBench().prepare, under(PgBench()), requirements.POSTGRESQL),
    "sqlite": Recording(Sqlite().prepare, under(Sqlite())),
    "sources": Recording(nothing, sources),
    "rocksdb": Recording(rocksdb_fill, rocksdb, ("db_bench",)),
}


def record(name: str, of: Recording, folder: Path) -> None:
    """Makes one trace."""
    config = folder / "drive.toml"
    config.write_text(DRIVE)
    options = ("--backing", str(folder / "data"))
    for number, (pace, work) in enumerate((("max", of.prepare), (str(PACE), of.run))):
        recording = ("--record", str(folder / "trace")) if number else ()
        with serving(folder, config, pace, *options, *recording) as served:
            with filesystem.block_device(served.uri, folder) as device:
                if not number:
                    filesystem.make(device)
                with filesystem.mounted(device, folder) as place:
                    work(place)
            uri = served.uri
        operations = served.report["operations"]
    assert uri
    target = FOLDER / f"{name}.blkparse.gz"
    # Without name and time in the header: the same trace is the same file.
    target.write_bytes(gzip.compress((folder / "trace").read_bytes(), 9, mtime=0))
    counts = {each: operations[each]["commands"] for each in operations}
    print(f"{target.name}: {target.stat().st_size:,} bytes, {counts}")  # noqa: T201


def main(names: list[str]) -> int:
    """Makes the traces of these names."""
    unknown = [name for name in names if name not in RECORDINGS]
    if unknown:
        sys.exit(f"there is no recording '{unknown[0]}'; there are {', '.join(RECORDINGS)}")
    FOLDER.mkdir(exist_ok=True)
    for name in names or RECORDINGS:
        requirements.require(f"recording {name}", (*requirements.FILE_SYSTEM, *RECORDINGS[name].programs))
        with tempfile.TemporaryDirectory(prefix="interpulse-record-", dir="/dev/shm") as folder:
            Path(folder).chmod(0o755)
            record(name, RECORDINGS[name], Path(folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
