"""`interpulse fit`: does it find the drive that made its figures, say what they leave open, and refuse mistakes?"""

from __future__ import annotations

import json
import math
import tomllib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interpulse
from interpulse import Config, ConfigError
from interpulse.fitting import quantity
from interpulse.fitting.parameters import Continuous
from interpulse.fitting.spec import Spec
from interpulse.fitting.times import time_of
from interpulse.fitting.uncertainty import WIDER, uncertainties
from tests import fio_like
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

LITTLE: dict[str, Any] = {
    "drive": "a4-mini",
    "part": {"blocks-per-plane": 48, "pages-per-block": 96, "layers": 32},
    "geometry": {"channels": 2, "chips-per-channel": 2},
    "host": {"firmware": "10us", "firmware-cores": 2},
    "cache": {"size": "8MiB"},
}
"""A drive that is preconditioned in no time."""

LOAD = {"name": "random read", "pattern": "random", "depth": 4, "iops": "40k"}
FREE = {"key": "host.firmware", "from": "1us", "to": "60us"}


def little(**more: object) -> dict[str, Any]:
    return {"config": LITTLE, "load": [LOAD], "free": [FREE], **more}


def values() -> dict[str, str]:
    return {entry.key: entry.value for entry in Config.of({**LITTLE, "run": {"requests": 1}, "flow": [{}]}).entries()}


def whole(name: str) -> float:
    key, share = next(iter(time_of(name, values()).items()))
    return quantity.read(values()[key], "a duration", key) / share


# ---- recovery -----------------------------------------------------------------------------------------


def recovered(
    tmp_path: Path,
    truth: dict[str, float],
    free: list[dict[str, Any]],
    jobs: list[tuple[str, int, int]],
    **more: object,
) -> interpulse.Fit:
    """Fits to fio figures of a drive with these values; the seeds of both have nothing in common."""
    sets: dict[str, str] = {}
    for name, value in truth.items():
        if name in ("tR", "tPROG", "tBERS"):
            parts = time_of(name, values()).items()
            sets |= {key: quantity.setting(share * value, "a duration") for key, share in parts}
        else:
            kind = "a transfer rate" if "rate" in name else "a fraction" if "provision" in name else "a duration"
            kind = "a whole number" if "cores" in name else kind
            sets[name] = quantity.setting(value, kind)
    text = fio_like.output([fio_like.job(LITTLE, sets, *each, window=2**28) for each in jobs])
    (tmp_path / "fio.json").write_text(text)
    lines = [
        f"{key} = {value!r}".replace("'", '"') for key, value in {"fit_version": 1, "budget": "none", **more}.items()
    ]
    config = [f"{key}.{inner} = {json.dumps(value)}" for key, table in LITTLE.items() if isinstance(table, dict)
              for inner, value in table.items()]  # fmt: skip
    lines += ["[config]", f'drive = "{LITTLE["drive"]}"', *config, "[[fio]]", 'file = "fio.json"']
    for each in free:
        lines += ["[[free]]", *(f"{key} = {json.dumps(value)}" for key, value in each.items())]
    (tmp_path / "drive.toml").write_text("\n".join(lines))
    return interpulse.fit(tmp_path / "drive.toml", out=tmp_path / "out", jobs=2)


def test_the_drive_that_made_the_figures_is_found_and_what_they_do_not_say_is_said(tmp_path: Path) -> None:
    truth = {"host.firmware": 40_000.0, "tR": 1.2 * whole("tR")}
    free: list[dict[str, Any]] = [FREE, {"time": "tR"}, {"key": "cache.latency", "from": "100ns", "to": "900ns"}]
    jobs = [("randread", 4, 1), ("randread", 4, 32), ("read", 128, 8)]
    found = recovered(tmp_path, truth, free, jobs, tolerance="1%", requests=2000, repetitions=2)
    for name, value in truth.items():
        assert found.value(name) == pytest.approx(value, rel=0.05), found
    by_name = {each.parameter.name: each for each in found.parameters}
    assert by_name["host.firmware"].determined
    assert by_name["tR"].determined
    # Reads of what is not cached never see it.
    assert not by_name["cache.latency"].determined
    assert by_name["cache.latency"].why == "no figure depends on it"
    assert not found.unmet
    assert found.held_out
    for figure in found.held_out:
        assert figure.ratio == pytest.approx(1, abs=0.1)

    # The drive is a configuration that does what it says, and the same call finds everything there.
    kept = tomllib.loads(found.drive)
    assert kept["host"]["firmware"]["source"].startswith("interpulse fit of drive.toml: within ")
    assert "not determined" in kept["cache"]["latency"]["source"]
    config = Config.load(tmp_path / "out" / "drive.toml")
    written = {entry.key: entry.value for entry in config.entries()}["host.firmware"]
    assert quantity.read(written, "a duration", "") == pytest.approx(found.value("host.firmware"), abs=1)
    again = interpulse.fit(tmp_path / "drive.toml", out=tmp_path / "out", jobs=1)
    assert again.simulated == 0
    assert again.drive == found.drive


@pytest.mark.verify
def test_of_seven_parameters_those_that_figures_determine_are_found(tmp_path: Path) -> None:
    truth = {
        "host.firmware": 30_000.0,
        "host.firmware-cores": 3.0,
        "part.bus-rate": 420e6,
        "tR": 1.15 * whole("tR"),
        "tPROG": 0.8 * whole("tPROG"),
        "ftl.over-provisioning": 0.22,
    }
    free: list[dict[str, Any]] = [
        FREE,
        {"key": "host.firmware-cores", "values": [1, 2, 3, 4, 6]},
        {"key": "part.bus-rate"},
        {"time": "tR"},
        {"time": "tPROG"},
        {"key": "ftl.over-provisioning", "from": "5%", "to": "50%"},
        {"key": "ecc.interval", "from": "1ns", "to": "20ns"},
    ]
    jobs = [("randread", 4, 1), ("randread", 64, 1), ("randread", 4, 64), ("randread", 16, 8), ("read", 128, 32),
            ("randwrite", 4, 8), ("randwrite", 4, 32), ("randrw", 4, 16), ("write", 128, 8)]  # fmt: skip
    found = recovered(tmp_path, truth, free, jobs, tolerance="1%")
    by_name = {each.parameter.name: each for each in found.parameters}
    assert not by_name["ecc.interval"].determined
    assert by_name["ecc.interval"].why == "no figure depends on it"
    for name in ("host.firmware", "tPROG", "ftl.over-provisioning"):
        assert by_name[name].determined, found
        assert found.value(name) == pytest.approx(truth[name], rel=0.05), found
    # Several drives may have these figures: intervals have the one that made them, or the parameter is said to be open.
    for each in found.parameters:
        if each.determined and each.within is not None:
            off = abs(math.log(each.value / truth[each.parameter.name]))
            assert off < math.log1p(max(each.within, 0.05)), found
    assert by_name["host.firmware-cores"].text == "3" or not by_name["host.firmware-cores"].determined


# ---- what figures say ---------------------------------------------------------------------------------


def parameter(name: str) -> Continuous:
    return Continuous(name, "a duration", 1.0, 100.0, None, 2.0, ((name, 1.0),), "given")


def test_what_only_a_product_is_known_of_is_told_together() -> None:
    # Two figures of a * b, and one that depends on nothing else; c is felt by nobody.
    jacobian = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    tolerances, none = np.full(3, 0.01), np.zeros(3)
    a, b, c = uncertainties([parameter(n) for n in "abc"], jacobian, tolerances, none, [10.0] * 3)
    assert not a.determined
    assert a.why == "only together with b"
    assert b.why == "only together with a"
    assert c.why == "no figure depends on it"
    # A figure of a alone tells both apart, to what errors of logarithms add up to.
    apart = np.vstack([jacobian, [1.0, 0.0, 0.0]])
    a, b, _ = uncertainties([parameter(n) for n in "abc"], apart, np.full(4, 0.01), np.zeros(4), [10.0] * 3)
    assert a.determined
    assert a.within == pytest.approx(math.expm1(WIDER * 1.96 * 0.01), rel=0.01)
    assert b.within == pytest.approx(math.expm1(WIDER * 1.96 * 0.01 * math.sqrt(1 + 1 / 3)), rel=0.01)


def test_figures_that_are_off_by_more_than_their_tolerances_are_believed_less() -> None:
    jacobian = np.ones((4, 1))
    exact = uncertainties([parameter("a")], jacobian, np.full(4, 0.01), np.zeros(4), [10.0])[0]
    off = uncertainties([parameter("a")], jacobian, np.full(4, 0.01), np.array([5.0, -5.0, 5.0, -5.0]), [10.0])[0]
    assert math.log1p(off.within) == pytest.approx(math.log1p(exact.within) * math.sqrt(100 / 3), rel=1e-3)


def test_where_no_figure_depends_on_anything_that_is_said(tmp_path: Path) -> None:
    free = {"key": "cache.latency", "from": "100ns", "to": "900ns"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = interpulse.fit(little(free=[free], requests=1000), out=tmp_path / "o", jobs=2)
    assert [each.why for each in found.parameters] == ["no figure depends on it"]


def test_a_parameter_at_its_bound_says_so() -> None:
    found = uncertainties([parameter("a")], np.ones((2, 1)), np.full(2, 0.01), np.zeros(2), [100.0])[0]
    assert found.determined
    assert found.bound == "at its upper bound, 100 ns"


def test_targets_that_no_drive_can_meet_are_named(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    """A load of depth 4 cannot do more than 4 / tR."""
    lines = ['fit_version = 1', 'requests = 1000', 'repetitions = 2', '[config]', 'drive = "a4-mini"', '[[load]]',
             'name = "random read"', 'pattern = "random"', 'depth = 4', 'iops = "900k"', '[[free]]',
             'key = "host.firmware"', 'from = "1us"', 'to = "60us"']  # fmt: skip
    (tmp_path / "much.toml").write_text("\n".join(lines))
    ended = interpulse("fit", str(tmp_path / "much.toml"), "--out", str(tmp_path / "o"), "--jobs", "2")
    assert ended.code == 0, ended.err
    assert "no drive within the bounds was found that has: random read: iops 900 k, simulated" in " ".join(
        ended.out.split()
    )
    assert "host.firmware is at its lower bound" in " ".join(ended.out.split())
    assert (tmp_path / "o" / "drive.toml").exists()


# ---- the file -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fit_version": 2}, r"fit_version: seen 2; expected 1"),
        ({"loads": []}, r"unknown key loads; expected one of .*load.*free"),
        ({"load": []}, r"load: seen none; expected at least one \[\[load\]\]"),
        ({"free": []}, r"free: seen none; expected at least one \[\[free\]\]"),
        ({"free": [{"key": "host.firmware-cores", "values": [1, 2]}]}, r"free: seen choices alone; expected"),
        ({"load": [LOAD | {"iops": "40 bogus"}]}, r"load.iops: seen '40 bogus'; expected a rate of requests above 0"),
        ({"load": [LOAD | {"iops": -1}]}, r"load.iops: seen -1; expected a rate of requests above 0"),
        ({"load": [LOAD | {"iops": True}]}, r"load.iops: seen True; expected"),
        ({"load": [LOAD | {"bandwith": "1GB/s"}]}, r"unknown key bandwith; expected one of .*or a figure"),
        ({"load": [LOAD | {"depth": 0}]}, r"load.depth: seen 0; expected the requests outstanding in all, from 1"),
        ({"load": [LOAD | {"pattern": "zipf"}]}, r"load.pattern: seen 'zipf'; expected one of random, sequential"),
        ({"load": [LOAD | {"read": "130%"}]}, r"load.read: seen '130%'; expected a share from 0 to 1"),
        ({"load": [LOAD | {"state": "new"}]}, r"load.state: seen 'new'; expected one of filled, steady, empty"),
        ({"load": [LOAD | {"held-out": ["read-p99"]}]}, r"load.held-out: seen \['read-p99'\]; .* of this load: iops"),
        ({"load": [LOAD, LOAD]}, r"load.name: seen 'random read' twice"),
        ({"load": [LOAD | {"tolerance": "300%"}]}, r"tolerance: seen '300%'; expected a share of the figure"),
        ({"load": [{k: v for k, v in LOAD.items() if k != "iops"}]}, r"load: seen no figure; expected iops, bandwidth"),
        ({"load": [LOAD | {"set": {"host.nonsense": 1}}]}, r"load random read: .*host.nonsense"),
        ({"free": [FREE | {"key": "host.nonsense"}]}, r"free.key: seen 'host.nonsense'; expected a setting"),
        ({"free": [{"key": "geometry.channels", "from": 1, "to": 8}]}, r"expected values = \[\.\.\.\] with those to"),
        ({"free": [FREE | {"from": "80us"}]}, r"free: seen from 80 us to 60 us; expected a range"),
        ({"free": [FREE | {"from": "80MB"}]}, r"free.from: seen '80MB'; expected a duration above 0"),
        ({"free": [FREE | {"prior": "90us"}]}, r"free.prior: seen '90us'; expected a value from 1 us to 60 us"),
        ({"free": [FREE | {"within": 0.5}]}, r"free.within: seen 0.5; expected a factor above 1"),
        ({"free": [FREE | {"time": "tR"}]}, r"free: seen both key and time"),
        ({"free": [{"time": "tWB"}]}, r"free.time: seen 'tWB'; expected one of tR, tPROG, tBERS"),
        ({"free": [{"key": "host.firmware-cores", "values": []}]}, r"free.values: seen an empty list"),
        ({"free": [FREE, {"key": "host.firmware", "values": ["1us"]}]}, r"host.firmware is chosen twice"),
        ({"free": [FREE, {"time": "tR"}]}, r"seen 1 figures that are not held out, and 2 parameters"),
        ({"hold-out": "80%"}, r"hold-out: seen '80%'; expected a share of at most one half"),
        ({"budget": "soon"}, r"budget: seen 'soon'; expected a duration above 0, in ns.*; or none, for no limit"),
        ({"budget": "200ms"}, r"budget: seen '200ms'; expected at least 1s, or none"),
        ({"budget": True}, r"budget: seen True; expected a duration"),
        ({"scale": "yes"}, r"scale: seen 'yes'; expected true or false"),
        ({"repetitions": 1}, r"repetitions = 1: a number of seeds is a whole number from 2"),
        ({"fio": [{"file": "nowhere.json"}]}, r"fio.file: cannot read fio's output nowhere.json"),
        ({"fio": [{"path": "x"}]}, r"fio: unknown key path; expected one of file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_runs(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        interpulse.fit(little(**change), out=tmp_path / "o")
    assert not list((tmp_path / "o").glob("store/index/*"))


def test_a_mistake_is_found_where_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "fit.toml"
    lines = ["fit_version = 1", "[config]", 'drive = "a4-mini"', "[[load]]", 'name = "a"', 'pattern = "random"',
             "depth = 1", 'read-p99.9 = "5 parsecs"', "[[free]]", 'key = "host.firmware"']  # fmt: skip
    path.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match=r"fit.toml:8: load.read-p99.9: seen '5 parsecs'; expected a duration"):
        interpulse.fit(path)


def test_bounds_and_priors_come_from_the_shipped_parts() -> None:
    spec = Spec.of(little(load=[LOAD, LOAD | {"name": "b"}], free=[{"time": "tPROG"}, {"key": "part.bus-rate"}]))
    program, bus = spec.continuous
    # Three bits per cell: 1.01 ms (hynix-300l-tlc) to 11 ms (Starblaze).
    assert program.low == pytest.approx(506_720)
    assert program.high == pytest.approx(22e6)
    assert program.prior is not None
    assert 2e6 < program.prior < 11e6
    assert program.within >= 1.5
    assert bus.low < 533e6 < bus.high
    assert "shipped parts or drives" in bus.origin


def test_a_share_of_the_figures_is_held_out_where_the_file_says_nothing() -> None:
    loads = [LOAD | {"name": str(n)} for n in range(10)]
    assert [t.held_out for _, t in Spec.of(little(load=loads)).targets()].count(True) == 2
    assert [t.held_out for _, t in Spec.of(little(load=loads[:3])).targets()].count(True) == 0
    loads[4] = loads[4] | {"held-out": True}
    assert [t.held_out for _, t in Spec.of(little(load=loads)).targets()] == [n == 4 for n in range(10)]


def test_loads_of_zoned_drives_write_zones() -> None:
    zoned = LOAD | {"pattern": "zone-append", "read": 0, "name": "append"}
    spec = Spec.of(little(load=[zoned, zoned | {"pattern": "zone-write", "name": "write"}]))
    for load, command in zip(spec.loads, ("append", "write"), strict=True):
        sets = dict(load.sets(1000, 2**30))
        assert sets["flow.0.zones"] == command
        assert "flow.0.address" not in sets
        assert sets["precondition.overwrite"] == "none"


def test_flows_that_a_load_does_not_set_start_after_its_end() -> None:
    second = LOAD | {"name": "with a writer", "set": {"flow": {"1": {"read": 0, "depth": 2}}}}
    spec = Spec.of(little(load=[LOAD, second]) | {"flows": 2})
    alone, together = (dict(load.sets(1000, 0)) for load in spec.loads)
    assert alone["flow.1.start"] == "8640000s"
    assert together["flow.1.depth"] == "2"
    assert "flow.1.start" not in together
    with pytest.raises(ConfigError, match=r"flows = 9: a number of flows is a whole number from 1 to 8"):
        Spec.of(little(load=[LOAD]) | {"flows": 9})


# ---- shipped drives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "drives").glob("*.toml")), ids=lambda path: path.stem)
def test_the_files_of_the_shipped_drives_are_fits_with_a_source_for_each_figure(path: Path) -> None:
    spec = Spec.of(path)
    assert all(target.source for _, target in spec.targets())
    # Figures of another file are predicted where the fit has none: test_predictions.py.
    elsewhere = f"predicted/{path.name}" in path.read_text()
    assert elsewhere or any(target.held_out for _, target in spec.targets())


def test_sequential_reads_beside_idle_dies_get_a_hint_at_the_allocation(
    interpulse: Callable[..., Ended], tmp_path: Path
) -> None:
    """Consecutive pages fill a one-shot program of one die; only an order that spreads them reaches the others."""
    lines = ['fit_version = 1', 'requests = 2000', 'repetitions = 2', '[config]', 'drive = "a4-mini"', '[[load]]',
             'name = "sequential read"', 'pattern = "sequential"', 'depth = 1', 'block-size = "64KiB"',
             'bandwidth = "3000MB/s"', '[[free]]', 'key = "host.firmware"', 'from = "1us"', 'to = "6us"']  # fmt: skip
    (tmp_path / "much.toml").write_text("\n".join(lines))
    ended = interpulse("fit", str(tmp_path / "much.toml"), "--out", str(tmp_path / "o"), "--jobs", "2")
    assert ended.code == 0, ended.err
    assert 'try "super-word-line" or "cwdp"' in " ".join(ended.out.split())
    (tmp_path / "much.toml").write_text("\n".join([*lines[:5], 'ftl.allocation = "cwdp"', *lines[5:]]))
    ended = interpulse("fit", str(tmp_path / "much.toml"), "--out", str(tmp_path / "p"), "--jobs", "2")
    assert "super-word-line" not in ended.out
