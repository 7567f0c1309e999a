"""Is every wrong or unsupported line of a fio job file refused with its place, what was seen, and what is legal?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from interpulse import Config, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

WRONG = (
    # Text of a job file, and what the message has beside the line that is marked by `<`.
    ("", "no job"),
    ("[global]\nbs=4k\n", "no job"),
    ("bs=4k <\n[j]\n", "expected a section"),
    ("prose of any kind <\n", "expected a section"),
    ("[j\n", "expected a section"),
    ("[] <\n", "expected a section"),
    ("[j]\nbogus=3 <\n", "expected an option of fio"),
    ("[j]\nrandwritw <\n", "expected an option"),
    ("[j]\n=4 <\n", "expected an option"),
    ("[j]\nRW=randread <\n", "did you mean rw?"),
    ("[j]\niodeph=4 <\n", "did you mean iodepth?"),
    ("[j]\niodepth <\n", "seen no value; expected iodepth=number"),
    ("[j]\niodepth= <\n", "expected iodepth=number"),
    ("[j]\niodepth=0 <\n", "from 1 to 65535"),
    ("[j]\niodepth=-4 <\n", "a whole number"),
    ("[j]\niodepth=4.5 <\n", "a whole number"),
    ("[j]\niodepth=70000 <\n", "from 1 to 65535"),
    ("[j]\niodepth=999999999999999999999 <\n", "a whole number"),
    ("[j]\niodepth=${NO_SUCH_VARIABLE} <\n", "after ${NO_SUCH_VARIABLE}"),
    ("[j]\nsize=$mb_memory <\n", "a property of the host"),
    ("[j]\nrw=sideways <\n", "one of read, write, trim"),
    ("[j]\nrw = randread <\n", "a blank after ="),
    ("[j]\nrw=read:x <\n", "read:8k"),
    ("[j]\nrw=randread:0 <\n", "randread:8"),
    ("[j]\nbs=0 <\n", "bytes such as 4k"),
    ("[j]\nbs=4q <\n", "bytes such as 4k"),
    ("[j]\nbs=4k-8k <\n", "bytes such as 4k"),
    ("[j]\nbs=4k,8k,16k,32k <\n", "at most three"),
    ("[j]\nbs=1000 <\n", "multiples of 512"),
    ("[j]\nbs=32m <\n", "up to 16 MiB"),
    ("[j]\nbsrange=4k <\n", "a range such as 4k-16k"),
    ("[j]\nbsrange=512-16m <\n", "at most 4096 sizes"),
    ("[j]\nbssplit=4k/70:8k/50 <\n", "these are 120 %"),
    ("[j]\nbssplit=4k/70 <\n", "these are 70 %"),
    ("[j]\nbssplit=4k/x <\n", "sizes with percentages"),
    ("[j]\nsize=4m\nba=8k <\n", "multiples of the least size"),
    ("[j]\nrw=randread\nsize=4m\nnorandommap\nba=1000 <\n", "one multiple of 512"),
    ("[j]\nrwmixread=200 <\n", "from 0 to 100"),
    ("[j]\nrw=randrw\nrwmixread=70\nrwmixwrite=70 <\n", "of 100 in all"),
    ("[j] <\n", "seen no size"),
    ("[j]\nsize=0 <\n", "above 0"),
    ("[j]\nsize=big <\n", "bytes such as 4k"),
    ("[j]\nsize=150% <\n", "at most 100%"),
    ("[j]\nsize=50% <\n", "filesize beside it"),
    ("[j]\nsize=9999999p <\n", "bytes such as 4k"),
    ("[j] <\nsize=1t\n", "within the drive, which has"),
    ("[j]\nsize=2k <\n", "no room for a request"),
    ("[j]\nfilename=/dev/x\noffset=1t <\n", "an end within"),
    ("[j]\nfilename=f\nfilesize=1m\nsize=1m\noffset=2m <\n", "an end within"),
    ("[j]\nsize=4m\nnumjobs=0 <\n", "from 1 to 256"),
    ("[j]\nsize=4m\nnumjobs=1000 <\n", "from 1 to 256"),
    ("[j]\nsize=4m\nloops=2\nio_size=8m\n", "they end the job"),
    ("[j]\nsize=4m\nruntime=soon <\n", "a time such as 10s"),
    ("[j]\nsize=4m\nruntime=9999999999 <\n", "at most 100 days"),
    ("[j]\nsize=4m\ntime_based <\n", "runtime beside it"),
    ("[j]\nsize=4m\nramp_time=5 <\nruntime=10\n", "needs time_based"),
    ("[a]\nsize=4m\ntime_based\nruntime=1\nramp_time=1 <\n[b]\nsize=4m\ntime_based\nruntime=1\n", "other jobs"),
    ("[j]\nsize=4m\nstartdelay=0-5 <\n", "a time such as 10s"),
    ("[j]\nsize=4m\nthinktime=10 <\niodepth=4\nioengine=libaio\n", "needs iodepth=1"),
    ("[j]\nsize=4m\nrate_iops=none <\n", "a number"),
    ("[j]\nsize=4m\nrate=1m\nrate_iops=5\n", "given too"),
    ("[j]\nsize=4m\nrw=randrw\nrate_iops=100 <\n", "one job for each direction"),
    ("[j]\nsize=4m\nrate=1m <\nbssplit=4k/50:8k/50\n", "use rate_iops"),
    ("[j]\nsize=4m\nrate_process=bursts <\n", "linear, poisson"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=zipf:1.0 <\n", "not 1, as in fio"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=zipf:1.2:0.5 <\n", "a centre"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=pareto:1.2 <\n", "from 0.001 to 0.999"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=normal:200 <\n", "below 100"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=zoned:50/50:40/50 <\n", "these are 90 %"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=zoned:50/80:50/80 <\n", "at most 100 %"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=zoned_abs:50/4m:50/4m <\n", "bytes of the job"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=zoned:50/:50/ <\n", "at most one part without a size"),
    ("[j]\nsize=1g\nio_size=100g\nrw=randrw\nbssplit=512/50:1k/50 <\n", "at most 4000000 requests"),
    ("[j]\nsize=4m\nrw=randread\nrandom_distribution=cauchy:1 <\n", "random, zipf:THETA"),
    ("[j]\nsize=4m\nrandom_distribution=zipf:1.2 <\n", "the addresses are sequential"),
    ("[j]\nsize=4m\nrw=randrw\nrandom_distribution=zipf:1.2,random <\n", "that differ"),
    ("[j]\nsize=4m\nrw=randread\npercentage_random=150 <\n", "from 0 to 100"),
    ("[j]\nsize=4m\nrw=randread\npercentage_random=50\nrandom_distribution=zipf:1.2 <\n", "uniform or zoned"),
    ("[j]\nsize=4m\nrw=randrw\nbs=4k,8k <\n", "need norandommap"),
    ("[j]\nsize=4m\nnorandommap=maybe <\n", "1 or 0"),
    ("[j]\nsize=4m\ndirect=yes <\n", "1 or 0"),
    ("[j]\nsize=4m\nnice=low <\n", "a number"),
    ("[j]\nsize=4m\nss_dur=later <\n", "a time such as 10s"),
    ("[j]\nsize=4m\ndirect <\n", "expected direct=bool"),
    ("[j]\nsize=4m\nioengine=rdma <\n", "an engine for a drive"),
    ("[j]\nsize=4m\nfilename=/dev/a:/dev/b <\n", "one file or drive"),
    ("[a]\nsize=4m\nfilename=/dev/a\n[b]\nsize=4m\nfilename=/dev/b <\n", "a run has one drive"),
    ("[a]\nsize=4m\nfilename=/dev/a\n[b]\nsize=4m\nfilename=other <\n", "name one of them"),
    ("[j]\nsize=4m\nfilename_format=x.$clientuid <\n", "$jobname, $jobnum and $filenum"),
    ("[j]\nsize=4m\nnumjobs=2\nfilename_format=$jobname <\n", "use filename"),
    ("[j]\nsize=4m\nnrfiles=4 <\n", "several files"),
    ("[j]\nsize=4m\nverify=crc32c <\n", "no contents to verify"),
    ("[j]\nsize=4m\nsync=dsync <\n", "fsync=1 flushes"),
    ("[j]\nsize=4m\nzonemode=zbd <\n", "zoned drives"),
    ("[j]\nsize=4m\nlatency_target=100 <\n", "interpulse slo"),
    ("[j]\nsize=4m\nexitall <\n", "jobs that end with others"),
    ("[j]\nsize=4m\nwait_for=a <\n", "stonewall"),
    ("[j]\nsize=4m\niodepth_batch=8 <\n", "expected 1"),
    ("[j]\nsize=4m\nkb_base=512 <\n", "1000"),
    ("[j]\nsize=4m\nfsync=4\nfdatasync=4 <\n", "one distance"),
    ("[j]\nread_iolog=nowhere.log <\n", "a log that can be read"),
    ("[j]\nsize=4m\nreplay_no_stall=1 <\n", "there is no read_iolog"),
    ("[j]\nread_iolog=x\nreplay_skip=read <\n", "are not left out"),
    ("[j]\npercentile_list=50:high <\nsize=4m\n", "percentages between colons"),
    ("[a]\nsize=4m\n[b]\nsize=4m\nstonewall <\n", "no known end"),
    ("[j]\nsize=4m\ninclude <\n", "expected include FILE"),
    ("[j]\nsize=4m\ninclude nowhere.inc <\n", "there is no file"),
    ("[j]\nsize=4m\nnumjobs=256\n[k]\nsize=4m\n", "at most 256"),
)


@pytest.mark.parametrize(("text", "names"), WRONG, ids=[repr(text)[1:50] for text, _ in WRONG])
def test_a_wrong_line_is_named_with_what_is_legal(text: str, names: str, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(text.replace(" <\n", "\n"))
    config = Config.of({"drive": "a4-mini", "flow": [{"fio": str(tmp_path / "job.fio")}]})
    with pytest.raises(ConfigError) as error:
        config.resolve()
    message = str(error.value)
    assert names in message
    marked = [number for number, line in enumerate(text.split("\n"), start=1) if line.endswith(" <")]
    if marked:
        assert f"job.fio:{marked[0]}: " in message
    assert "\n" not in message
    assert len(message) < 500


def test_there_are_enough_wrong_lines() -> None:
    assert len(WRONG) >= 90


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"[j]\nsize=4m\n\xff\xfe\n", "is not UTF-8"),
        (b"[j]\nsize=4\x00m\n", "a zero byte"),
        (b"\x7fELF\x02\x01", "expected a section"),
        (b"[j]\n" + b"x" * 100_000 + b"=1\n", "expected an option"),
        (b"[j]\nbs=" + b"9" * 100_000 + b"\n", "bytes such as 4k"),
        (b"[" + b"j" * 100_000 + b"]\nsize=4m\n", "job.fio:1: seen '[jjj"),
        (b"[global]\nsize=4m\n[a\x01b]\n", "job.fio:3: seen '[a\\x01b]'; expected a name of at most 54"),
    ],
)
def test_a_file_of_another_kind_is_refused(content: bytes, names: str, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_bytes(content)
    config = Config.of({"drive": "a4-mini", "flow": [{"fio": str(tmp_path / "job.fio")}]})
    with pytest.raises(ConfigError, match=re.escape(names)) as error:
        config.resolve()
    assert len(str(error.value)) < 1000


CASES = 'drive = "a4-mini"\n[[case]]\nname = "a"\n[[case]]\nname = "b"\n'


def test_includes_are_read_in_place_and_refused_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.inc").write_text("; options\nbs=8k\ninclude b.inc\n")
    (tmp_path / "sub" / "b.inc").write_text("iodepth=3\nioengine=libaio\n")
    (tmp_path / "job.fio").write_text("[j]\nsize=4m\ninclude sub/a.inc\n")
    config = Config.of({"drive": "a4-mini", "flow": [{"fio": str(tmp_path / "job.fio")}]})
    settings = {entry.key: entry.value for entry in config.entries()}
    assert (settings["flow.0.block-size"], settings["flow.0.depth"]) == ("8KiB", "3")
    (tmp_path / "sub" / "b.inc").write_text("include a.inc\n")
    with pytest.raises(ConfigError, match=r"b\.inc:1: include a\.inc: seen 16 nested includes"):
        config.resolve()
    (tmp_path / "sub" / "b.inc").write_text("[other]\n")
    with pytest.raises(ConfigError, match=r"b\.inc:1: .*not sections"):
        config.resolve()


@pytest.mark.parametrize(
    ("drive", "words", "names"),
    [
        (None, (), "give --drive"),
        ("nowhere.toml", (), "cannot read"),
        ("a5-unknown", (), "a5-unknown"),
        ('drive = "a4-mini"\n[[flow]]\nrequests = 5\n', (), "without flows"),
        ("drive = [\n", (), "drive.toml:1"),
        (CASES, ("--output-format", "fio-json"), "--case"),
        (CASES, (), "differs from case to case"),
        ("a4-mini", ("--output-format", "xml"), "fio-json or fio-json+"),
        ("a4-mini", ("--output-format", "fio-json", "--json"), "omit --json"),
        ("a4-mini", ("--output-format", "fio-json", "--repeat", "2"), "omit --repeat"),
        ("a4-mini", ("--output-format", "fio-json", "--counters"), "omit --counters"),
        ("a4-mini", ("--trace", "x.csv"), "read_iolog"),
        ("a4-mini", ("--set", "run.requests=5"), "omit run.requests"),
        (
            'drive = "a4-mini"\n[[case]]\nname = "a"\n[[case]]\nname = "b"\nset = ["drive.capacity=1GiB"]\n',
            (),
            "equal ones",
        ),
    ],
)
def test_a_wrong_drive_or_option_is_refused(
    drive: str | None, words: tuple[str, ...], names: str, interpulse: Callable[..., Ended], tmp_path: Path
) -> None:
    second = "[k]\nsize=1m\nstonewall\n" if names.startswith("omit run") or "differs" in names else ""
    (tmp_path / "job.fio").write_text(f"[j]\nsize=1m\n{second}")
    given: tuple[str, ...] = ()
    if drive is not None and "\n" in drive:
        (tmp_path / "drive.toml").write_text(drive)
        given = ("--drive", str(tmp_path / "drive.toml"))
    elif drive is not None:
        given = ("--drive", drive)
    ended = interpulse("run", str(tmp_path / "job.fio"), *given, "--no-cache", *words)
    assert ended.code == 2, ended.err
    assert names in ended.error()


@pytest.mark.parametrize(
    ("key", "value", "names"),
    [
        ("fio", "3", "the path of a fio job file"),
        ("fio", '""', "the path of a fio job file"),
        ("fio", '"nowhere.fio"', "cannot read the job file"),
        ("depth", "4", "seen beside fio"),
        ("trace", '"x.csv"', "seen beside fio"),
    ],
)
def test_a_flow_with_a_job_file_has_no_load_of_its_own(key: str, value: str, names: str, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[j]\nsize=1m\n")
    lines = {"fio": '"job.fio"'} | {key: value}
    text = 'drive = "a4-mini"\n[[flow]]\n' + "".join(f"{name} = {given}\n" for name, given in lines.items())
    with pytest.raises(ConfigError, match=re.escape(names)):
        Config.from_toml(text, path=str(tmp_path / "mine.toml")).resolve()


def test_a_configuration_has_one_job_file(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[j]\nsize=1m\n")
    twice = 'drive = "a4-mini"\n[[flow]]\nfio = "job.fio"\n[[flow]]\nfio = "job.fio"\n'
    config = Config.from_toml(twice, path=str(tmp_path / "mine.toml"))
    with pytest.raises(ConfigError, match="one job file"):
        config.resolve()
