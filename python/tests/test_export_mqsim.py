"""Does an export to MQSim keep what MQSim can have, and say what it cannot?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import Config
from interpulse._core import ConfigError
from interpulse.importing.mqsim import files
from interpulse.importing.mqsim.export import export
from interpulse.importing.mqsim.parameters import DEVICE, FLASH, HOST, SYNTHETIC, TRACE
from tests import import_files as made
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

SMALL = ROOT / "examples" / "small.toml"
ONCE = {"host.firmware", "cache.latency", "flow.0.name", "title"}
"""Keys that an export rounds: MQSim has whole numbers, and times of its own."""


def imported(folder: Path, drive: str, load: str) -> dict[str, Any]:
    """Keys and values of the only scenario of two texts."""
    for name, text in (("d.xml", drive), ("w.xml", load)):
        (folder / name).write_text(text)
    draft = files.read([folder / "d.xml", folder / "w.xml"]).drafts[0]
    draft.check(str(folder / "run.toml"))
    (folder / "run.toml").write_text(draft.toml())
    return {key: setting.value for key, setting in draft.settings.items()}


@pytest.mark.parametrize(
    ("device", "flash", "flow"),
    [
        ({}, {}, {}),
        ({"Enabled_Preconditioning": "true", "GC_Block_Selection_Policy": "FIFO"}, {"Flash_Technology": "TLC"}, {}),
        ({"Ideal_Mapping_Table": "false", "Channel_Transfer_Rate": 800}, {"Flash_Technology": "SLC"}, {}),
        ({"Plane_Allocation_Scheme": "PDCW"}, {}, {"Read_Percentage": 35, "Address_Distribution": "STREAMING"}),
        ({}, {}, {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": 30}),
        ({}, {}, {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": 4_096_000, "Stop_Time": 10**9}),
        ({}, {}, {"Device_Level_Data_Caching_Mode": "WRITE_READ_CACHE"}),
        ({"Ideal_Mapping_Table": "false", "CMT_Sharing_Mode": "EQUAL_PARTITIONING"}, {}, {}),
    ],
)
def test_what_was_imported_comes_back(
    tmp_path: Path, device: dict[str, Any], flash: dict[str, Any], flow: dict[str, Any]
) -> None:
    first = imported(tmp_path, made.mqsim_drive(device=device, flash=flash), made.mqsim_workload([flow]))
    texts = dict(export(Config.load(tmp_path / "run.toml")).files())
    again = imported(tmp_path, texts["ssdconfig.xml"], texts["workload.xml"])
    assert set(first) == set(again)
    other = {key: (first[key], again[key]) for key in first if key not in ONCE and not _alike(first[key], again[key])}
    assert other == {}


def _alike(one: object, two: object) -> bool:
    """Equal, or numbers that differ by less than a millionth."""
    texts = [re.fullmatch(r"([0-9.]+)(.*)", str(each)) for each in (one, two)]
    if not all(texts):
        return one == two
    (a, unit), (b, other) = (each.groups() for each in texts if each)
    return unit == other and abs(float(a) - float(b)) <= 1e-6 * max(float(a), float(b), 1)


def test_names_are_those_that_mqsim_reads() -> None:
    known = {each.name for group in (HOST, DEVICE, FLASH, SYNTHETIC, TRACE) for each in group}
    known |= {name for group in (DEVICE, FLASH) for each in group for name in each.also}
    out = export(Config.load(SMALL))
    names = {*out.host, *out.device, *out.flash, *(n for _, values in out.flows for n in values)}
    assert names <= known
    required = {each.name for group in (HOST, DEVICE, FLASH) for each in group}
    spelt = {"Prefered_suspend_erase_time_for_read": "Preferred_suspend_erase_time_for_read"}
    assert {spelt.get(name, name) for name in required} <= names


def test_differences_are_said() -> None:
    out = export(Config.load(SMALL).set("flow.0.address", "zipf").set("flow.0.exponent", 1.1))
    text = out.markdown()
    for word in ("zipf", "dynamic", "`ecc.latency` | 4us", "3 pages", "part.voltage-reset"):
        assert word in text


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"ftl.family": "zoned", "flow.0.zones": "write", "precondition.overwrite": "none"}, "ftl.family: seen zoned"),
        ({"flow.0.twin": "msn"}, "flow.0.twin"),
        ({"flow.0.depth": 0}, "flow.0.depth"),
    ],
)
def test_drives_and_loads_that_mqsim_has_not_are_refused(keys: dict[str, Any], says: str) -> None:
    text = SMALL.read_text().partition("[[flow]]")[0] + "[[flow]]\n"
    config = Config.from_toml(text)
    for key, value in keys.items():
        config.set(key, value)
    with pytest.raises(ConfigError, match=re.escape(says)):
        export(config)


def test_the_command_writes_two_files_and_a_report(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = interpulse("export", "mqsim", str(SMALL), "--out", str(out))
    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == [str(out / "ssdconfig.xml"), str(out / "workload.xml")]
    assert interpulse("import", "mqsim", *ended.out.splitlines(), "--out", str(tmp_path / "back")).code == 0
    again = interpulse("export", "mqsim", str(SMALL), "--out", str(out))
    assert (again.code, "--force replaces it" in again.err) == (2, True)
    assert "mqsim" in interpulse("export", "ssdsim", str(SMALL), "--out", str(out)).err
    assert interpulse("export", "mqsim", str(SMALL), "--out", str(out), "--force", "--set", "seed=3").code == 0
    assert "<Seed>3</Seed>" in (out / "ssdconfig.xml").read_text()


def exported(path: Path) -> list[tuple[str, str]]:
    """Files of a configuration; none if it is refused, for a reason that names a key or the configuration."""
    try:
        return export(Config.load(path)).files()
    except ConfigError as error:
        return [] if re.search(r"[a-z]+[.\d]*:|examples/", str(error)) else [("no reason", str(error))]


def test_every_example_is_exported_or_refused_by_its_key(tmp_path: Path) -> None:
    written = [texts for path in sorted((ROOT / "examples").glob("*.toml")) if (texts := exported(path))]
    for texts in written:
        for name, text in texts:
            (tmp_path / name).write_text(text)
        for draft in files.read([tmp_path / "ssdconfig.xml", tmp_path / "workload.xml"]).drafts:
            draft.check(str(tmp_path / draft.name))
    assert len(written) > 12
    assert not [texts for texts in written if texts[0][0] == "no reason"]
