"""Does a life age a drive as its windows measure, the same with any jobs, until its reserve or its ECC ends it?"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.cli import run_app
from interpulse.lifetime.ageing import DAY_NS, Ageing, Rates
from interpulse.lifetime.result import Age, End, Life, Lifetime
from interpulse.lifetime.sentences import sentences

CONFIG = """\
config_version = 1
drive = "a4-mini"
[part]
blocks-per-plane = { value = 32, source = "a miniature" }
endurance = { value = 500, source = "a short life" }
[ftl]
bad-block-reserve = "10%"
[faults]
wear-out = "lognormal"
endurance-spread = 0.1
[errors]
table = "cai-tlc"
[precondition]
overwrite = "uniform"
[run]
warmup = "0.2s"
requests = 3000
[[flow]]
pacing = "open"
rate = "4kIOPS"
read = "50%"
"""
LIFE = {"years": 0.5, "dwpd": 1, "windows": 3, "seeds": 2}


def live(text: str = CONFIG, *, sets: Sequence[tuple[str, Any]] = (), **more: object) -> Life:
    config = interpulse.Config(text)
    for key, value in sets:
        config.set(key, value)
    options: dict[str, Any] = {**LIFE, **more}
    return interpulse.life(config, **options)


def rates(**given: float) -> Rates:
    return Rates(**({"waf": 2.0, "cycles": 1.5, "stress": 0.0, "reads": 100.0} | given))


def test_wear_grows_by_the_rates_of_the_window_before() -> None:
    ageing = Ageing(dwpd=2.0, errors=True, dispersion=0.5)
    assert dict(ageing.sets(None))["errors.initial-age"] == "0ns"
    ageing.advance(100.0, rates())
    ageing.advance(150.0, rates(cycles=3.0, stress=0.1))
    assert ageing.path == [(0.0, 0.0), (100.0, 300.0), (150.0, pytest.approx(630.0))]
    assert dict(ageing.sets(rates())) == {
        "precondition.wear": "drawn",
        "precondition.cycles": "630",
        "precondition.cycles-dispersion": "0.5",
        "errors.initial-ages": "closed",
        "errors.initial-age": f"{DAY_NS // 3}ns",
        "errors.initial-reads": "100",
    }
    assert [ageing.day_of(cycles, rates()) for cycles in (0, 150, 465, 930)] == pytest.approx([0, 50, 125, 250])


def test_levelled_wear_does_not_spread_further() -> None:
    ageing = Ageing(dwpd=1.0, errors=False, dispersion=0.5, bounded=3.0)
    ageing.advance(40.0, rates())
    assert dict(ageing.sets(rates()))["precondition.cycles-dispersion"] == "0.05"


def test_rates_are_those_of_the_window() -> None:
    raw = {
        "ftl": {"waf": 3.0, "host_pages": 100, "page_consumption": {"total": 640}},
        "capacity": {"over_provisioning": 0.25},
        "counters": {"nand": {"suspend_stress": 500_000}},
        "reliability": {"page_reads": 4000},
    }
    assert Rates.of(raw, {"part.pages-per-block": "64"}) == Rates(waf=3.0, cycles=2.4, stress=0.05, reads=400.0)
    assert Rates.of({"ftl": {"host_pages": 0}}, {}) is None


def test_the_same_life_with_any_jobs_and_from_its_store(tmp_path: Path) -> None:
    first = live(out=tmp_path / "one", jobs=1)
    assert (first.simulated, first.kept) == (14, 0)
    two = live(out=tmp_path / "two", jobs=2)
    assert first.path is not None
    assert two.path is not None
    assert first.path.read_bytes() == two.path.read_bytes()
    again = live(out=tmp_path / "one", jobs=1)
    assert (again.simulated, again.kept) == (0, 14)
    assert again.to_dict() == first.to_dict()
    (case,) = first.cases
    assert [age.day for age in case.ages] == [0.0, 91.25, 182.5]
    spare = 1 + over_provisioning()
    for before, after in zip(case.ages, case.ages[1:], strict=False):
        assert after.cycles - before.cycles == pytest.approx(91.25 * fmean(before.values["waf"]) / spare)
        assert all(a <= b for a, b in zip(before.values["bad_blocks"], after.values["bad_blocks"], strict=True))
    assert case.ages[0].values["bad_blocks"] == (0.0, 0.0)
    assert max(case.ages[0].values["raw_bit_error_rate"]) < min(case.ages[2].values["raw_bit_error_rate"])


def over_provisioning() -> float:
    config = interpulse.Config(CONFIG).set("run.requests", 1)
    return float(interpulse.run(config).cases[0].raw["capacity"]["over_provisioning"])


def test_the_reserve_ends_a_life(tmp_path: Path) -> None:
    (case,) = live(out=tmp_path / "o", sets=[("part.endurance", "120")], windows=4, years=1).cases
    assert {end.why for end in case.ends} == {"reserve"}
    assert all(end.reached for end in case.ends)
    for end in case.ends:
        alive = [age.day for age in case.ages if end.seed in age.seeds]
        assert max(alive) <= end.day
        assert all(age.day >= end.day for age in case.ages if end.seed not in age.seeds)
    text = " ".join(sentences(case, Life([case], 1, 1, 2)))
    assert "reserve of bad blocks exhausted" in text


def test_the_ecc_ends_a_life(tmp_path: Path) -> None:
    weak = [("ecc.capability", "4"), ("ecc.max-retries", "0")]
    (case,) = live(out=tmp_path / "o", sets=weak).cases
    assert {end.why for end in case.ends} == {"ecc"}
    for end in case.ends:
        last = max(age.day for age in case.ages if end.seed in age.seeds)
        assert end.day == last
        assert end.after < last or last == 0.0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"dwpd": 0}, "dwpd = 0: expected a number greater than 0"),
        ({"years": -1}, "years = -1: expected a number greater than 0 and at most 100"),
        ({"windows": 1}, "windows"),
        ({"seeds": 0}, "seeds"),
        ({"cases": ["x"]}, "--case x: there is no such case"),
        ({"sets": [("precondition.overwrite", "none")]}, 'precondition.overwrite: seen "none"; expected the pattern'),
        ({"sets": [("precondition.wear", "drawn")]}, 'precondition.wear: seen "drawn"; expected "equal"'),
        ({"sets": [("flow.0.read", "100%")]}, "the window wrote nothing; expected a load with writes"),
        ({"dwpd": 1e-5}, "expected a rate at which they are within 20 years"),
    ],
)
def test_errors_name_the_argument_or_key(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        live(out=tmp_path / "o", **more)
    assert message in str(error.value)


def test_command_prints_ages_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(CONFIG)
    options = ["--years", "0.5", "--windows", "2", "--seeds", "2", "--jobs", "1", "--out", str(tmp_path / "o")]
    assert run_app(["life", str(file), *options, "--report"]) == 0
    printed = capsys.readouterr().out
    assert "0.5 years at 1 drive writes per day; 2 seeds" in printed
    assert "0.50" in printed
    page = (tmp_path / "o/life.html").read_text()
    assert "Read latency" in page
    assert run_app(["life", str(file), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "o/life.json").read_text())
    assert run_app(["life", str(file), "--dwpd", "-1"]) == 2
    assert "dwpd = -1.0: expected" in capsys.readouterr().err


def test_ends_and_shares_are_said() -> None:
    age = Age(0.0, 0.0, 0.0, (1, 2), {})
    case = Lifetime("a", [age], [End(1, 365.0, "reserve", 365.0, True), End(2, 730.0, "reserve", 730.0, False)])
    case.stress = 0.08
    said = list(sentences(case, Life([case], 1, 1, 2)))
    assert said[0] == "a: reserve of bad blocks exhausted at 1.00 to 2.00 years in 2 of 2 drives, extrapolated"
    assert said[1].startswith("a: end of life at 1.50 years (")
    assert said[2] == "a: suspensions cause 8 % of the wear"
    case.ends = []
    assert next(sentences(case, Life([case], 1, 1, 2))) == "a: no drive ends"


def test_the_error_table_may_end_before_the_drive(tmp_path: Path) -> None:
    (case,) = live(out=tmp_path / "o", sets=[("part.endurance", "5000")], years=4).cases
    assert [age.day for age in case.ages] == [0.0, 730.0]
    assert "the windows end at day 730" in case.notes[0]
    assert "the error table ends at 2000 cycles" in case.notes[0]
    assert {end.why for end in case.ends} == {"reserve"}
    assert not any(end.reached for end in case.ends if end.day > 4 * 365)
