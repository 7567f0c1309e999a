"""Does a life follow its profile: temperature, load and time without power, each with windows of its own?"""

import json
import math
import tomllib
from pathlib import Path

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.cli import run_app
from interpulse.lifetime.ageing import DAY_NS, Ageing, Rates
from interpulse.lifetime.profile import Past, Profile, age_in_days
from interpulse.lifetime.result import Age, End, Life, Lifetime
from interpulse.lifetime.sentences import sentences
from tests.test_life import CONFIG, LIFE, live

TEXT = """\
life_version = 1
[[period]]
from = "0y"
temperature-c = 40
[[period]]
from = "60d"
power = "off"
temperature-c = 30
[[period]]
from = "90d"
temperature-c = 55
dwpd = 2
set = ["flow.0.read=80%"]
"""
ENERGY, KELVIN, BOLTZMANN = 1.1, 273.15, 8.617333262e-5


def profile(folder: Path, text: str = TEXT, years: float = 1.0) -> Profile:
    file = folder / "profile.toml"
    file.write_text(text)
    return Profile.of(str(file), years, 1.0)


def accelerated(past: float, now: float) -> float:
    return math.exp(ENERGY / BOLTZMANN * (1 / (now + KELVIN) - 1 / (past + KELVIN)))


def test_windows_are_where_periods_begin_and_none_is_without_power(tmp_path: Path) -> None:
    found = profile(tmp_path)
    assert found.days(1.0, 13) == pytest.approx([0, 365 / 12, 60, 90, *(365 * k / 12 for k in range(3, 13))])
    assert [found.load(day).dwpd for day in (0, 59, 60, 75, 90)] == [1, 1, 1, 1, 2]
    assert [found.writes(day) for day in (0, 30, 75, 90, 100)] == [0, 30, 60, 60, 80]


def test_a_life_may_end_without_power(tmp_path: Path) -> None:
    two_rests = '[[period]]\nfrom = "0y"\n' + "".join(
        f'[[period]]\nfrom = "{day}d"\npower = "off"\ntemperature-c = {celsius}\n'
        for day, celsius in ((100, 20), (200, 30))
    )
    found = profile(tmp_path, two_rests)
    assert found.days(1.0, 3) == [0, 100, 365]
    past = found.past(365, 10.0, ENERGY, 40.0)
    assert past.off_days == pytest.approx(100 * accelerated(20, 40) + 165 * accelerated(30, 40))
    assert past.since == 0


def test_data_ages_by_the_temperatures_of_its_past(tmp_path: Path) -> None:
    found = profile(tmp_path)
    assert found.past(60, 10.0, ENERGY, 40.0) == Past(1.0, 0.0, 0.0)
    warm = found.past(90, 10.0, ENERGY, 40.0)
    assert warm.factor == pytest.approx(accelerated(40, 55))
    assert warm.off_days == pytest.approx(30 * accelerated(30, 55))
    assert warm.since == 0
    half = found.past(95, 10.0, ENERGY, 40.0)
    assert half.factor == pytest.approx((5 + 5 * accelerated(40, 55)) / 10)
    assert (half.off_days, half.since) == (warm.off_days, 0.5)
    assert found.past(100, 10.0, ENERGY, 40.0) == Past(1.0, 0.0, 0.0)


def test_settings_of_a_window_have_the_time_without_power() -> None:
    ageing = Ageing(dwpd=1.0, errors=True, dispersion=0.5)
    ageing.advance(10.0, Rates(2.0, 1.0, 0.0, 100.0))
    ageing.rest(40.0)
    assert ageing.path[-1] == (40.0, 10.0)
    sets = dict(ageing.sets(Rates(2.0, 1.0, 0.0, 100.0), Past(0.5, 30.0, 0.25)))
    assert sets["errors.initial-age"] == f"{DAY_NS // 2}ns"
    assert (sets["errors.initial-off"], sets["errors.initial-off-since"]) == (f"{30 * DAY_NS}ns", "0.25")


def test_the_end_beyond_the_windows_follows_the_loads_to_come(tmp_path: Path) -> None:
    ageing = Ageing(dwpd=1.0, errors=False, dispersion=0.5, profile=profile(tmp_path))
    rates = Rates(2.0, 1.0, 0.0, 0.0)
    ageing.advance(30.0, rates)
    assert [ageing.day_of(cycles, rates) for cycles in (15, 60, 60.5, 80)] == pytest.approx([15, 60, 90.25, 100])
    text = '[[period]]\nfrom = "0y"\n[[period]]\nfrom = "60d"\npower = "off"\n'
    ageing.profile = profile(tmp_path, text)
    assert ageing.day_of(61, rates) == math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "profile.toml: period: seen none; expected at least one [[period]]"),
        ('[[period]]\nfrom = "1y"\n', "profile.toml:2: period.from: seen '1y'; expected \"0y\" for the first period"),
        ('[[period]]\npower = "on"\n', "profile.toml:1: period.from: seen none; expected the age"),
        ('[[period]]\nfrom = "0 years"\n', "profile.toml:2: period.from: seen '0 years'; expected an age in years"),
        (
            '[[period]]\nfrom = "0y"\n[[period]]\nfrom = "90d"\n[[period]]\nfrom = "80d"\n',
            "profile.toml:6: period.from: seen '80d'; expected at least a day after the period before, 90d",
        ),
        (
            '[[period]]\nfrom = "0y"\n[[period]]\nfrom = "1y"\n',
            "profile.toml:4: period.from: seen '1y'; expected less than the life of 1 years",
        ),
        ('[[period]]\nfrom = "0y"\npower = "off"\n', 'profile.toml:3: period.power: seen "off"; expected "on"'),
        ('[[period]]\nfrom = "0y"\npower = false\n', "profile.toml:3: period.power: seen False; expected"),
        (
            '[[period]]\nfrom = "0y"\n[[period]]\nfrom = "9d"\npower = "off"\ndwpd = 1\n',
            'profile.toml:6: period.dwpd: seen 1 with power = "off"; expected no load without power',
        ),
        (
            '[[period]]\nfrom = "0y"\ntemperature-c = 200\n',
            "profile.toml:3: period.temperature-c: seen 200; expected degrees Celsius from -55 to 150",
        ),
        ('[[period]]\nfrom = "0y"\ntemperature-c = "40"\n', "period.temperature-c: seen '40'; expected degrees"),
        ('[[period]]\nfrom = "0y"\ndwpd = 0\n', "profile.toml:3: period.dwpd: seen 0; expected more than 0"),
        ('[[period]]\nfrom = "0y"\ndwpd = nan\n', "profile.toml:3: period.dwpd: seen nan; expected drive writes"),
        (
            '[[period]]\nfrom = "0y"\nset = "flow.0.read=1"\n',
            "profile.toml:3: period.set: seen 'flow.0.read=1'; expected",
        ),
        (
            '[[period]]\nfrom = "0y"\nset = ["flow.mixed.read=1"]\n',
            "period.set: seen 'flow.mixed.read=1'; expected keys",
        ),
        (
            '[[period]]\nfrom = "0y"\nset = ["part.endurance=1"]\n',
            "profile.toml:3: period.set: seen 'part.endurance=1'; expected keys of flows",
        ),
        (
            '[[period]]\nfrom = "0y"\ntemprature = 3\n',
            "profile.toml:3: unknown key period.temprature; expected one of from, power, temperature-c, dwpd, set",
        ),
        ('periods = 1\n[[period]]\nfrom = "0y"\n', "profile.toml:1: unknown key periods; expected one of life_version"),
        ('life_version = 2\n[[period]]\nfrom = "0y"\n', "profile.toml:1: life_version: seen 2; expected 1"),
    ],
)
def test_errors_name_file_line_key_and_value(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        profile(tmp_path, text)
    assert message in str(error.value)


def test_keys_that_the_drive_refuses_name_the_period(tmp_path: Path) -> None:
    wrong = {"period": [{"from": "0y", "set": ["flow.0.raed=50%"]}]}
    with pytest.raises(ConfigError, match=r"<dict>:1: period: .*flow.0.raed"):
        live(profile=wrong, out=tmp_path / "o")
    cold = {"period": [{"from": "0y", "temperature-c": 20}]}
    with pytest.raises(ConfigError, match=r"<dict>:1: period: .*temperature-c"):
        live(profile=cold, out=tmp_path / "o", sets=[("errors.table", "ideal")])


def test_a_profile_that_changes_nothing_changes_no_result(tmp_path: Path) -> None:
    plain = live(out=tmp_path / "o", windows=2).to_dict()
    same = live(out=tmp_path / "o", windows=2, profile={"period": [{"from": "0y"}]})
    assert same.simulated == 0
    assert same.to_dict() == plain | {"profile": [{"from_day": 0.0, "power": "on", "dwpd": 1.0, "set": {}}]}


def test_a_life_with_a_profile_is_the_same_with_any_jobs_and_continues(tmp_path: Path) -> None:
    file = tmp_path / "profile.toml"
    file.write_text(TEXT)
    first = live(out=tmp_path / "one", jobs=1, profile=file)
    two = live(out=tmp_path / "two", jobs=2, profile=str(file))
    assert first.path is not None
    assert two.path is not None
    assert first.path.read_bytes() == two.path.read_bytes()
    assert live(out=tmp_path / "one", profile=file).simulated == 0
    (case,) = first.cases
    assert [age.day for age in case.ages] == [0, 60, 90, 91.25, 182.5]
    before, after, soon, late = case.ages[1:]
    assert before.cycles == after.cycles
    assert (after.drive_writes, late.drive_writes) == (60, 245)
    # A month on the shelf ages all data; a day of two drive writes, each of which rewrites more than that, renews it.
    rates = [age.estimate("raw_bit_error_rate") for age in (before, after, soon)]
    assert all(rates)
    shelf, renewed = (rates[1].low, rates[2].value)  # type: ignore[union-attr]
    assert shelf is not None
    assert shelf > 2 * rates[0].value  # type: ignore[union-attr]
    assert shelf > renewed
    text = "\n".join(sentences(case, first))
    assert "30 days without power at 30 °C at 0.16 years: read p99 " in text


def test_data_after_a_shelf_has_the_errors_of_data_kept_there(tmp_path: Path) -> None:
    """The reference keeps all data 30 days at 30 degrees; the window reads at 55 degrees what was kept so."""
    (case,) = live(out=tmp_path / "o", seeds=1, windows=2, profile=tomllib.loads(TEXT)).cases
    after = next(age for age in case.ages if age.day == 90)
    kept = interpulse.Config(CONFIG)
    sets: dict[str, str | int | float] = {
        "precondition.wear": "drawn",
        "precondition.cycles": round(after.cycles),
        "precondition.cycles-dispersion": case.dispersion,
        "errors.initial-age": f"{30 * DAY_NS}ns",
        "errors.temperature-c": 30,
        "run.warmup": "0.2s",
    }
    for key, value in sets.items():
        kept.set(key, value)
    theirs = interpulse.run(kept).cases[0].raw["reliability"]["raw_bit_error_rate"]
    assert after.values["raw_bit_error_rate"][0] == pytest.approx(theirs, rel=0.05)


def test_command_takes_a_profile_and_the_page_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "drive.toml").write_text(CONFIG)
    (tmp_path / "profile.toml").write_text(TEXT)
    options = ["--years", "0.5", "--windows", "2", "--seeds", "1", "--out", str(tmp_path / "o")]
    command = ["life", str(tmp_path / "drive.toml"), "--profile", str(tmp_path / "profile.toml"), *options]
    assert run_app([*command, "--report"]) == 0
    printed = capsys.readouterr().out
    assert "DWPD" in printed
    assert "days without power at 30 °C" in printed
    page = (tmp_path / "o/life.html").read_text()
    assert "A drive&#x27;s life: drive.toml" in page
    assert "without power" in page
    assert "flow.0.read=80%" in page
    found = json.loads((tmp_path / "o/life.json").read_text())
    assert [each["power"] for each in found["profile"]] == ["on", "off", "on"]
    assert run_app([*command, "--profile", str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


def test_a_case_says_what_its_suspensions_take_for_the_tail() -> None:
    def case(name: str, stress: float, tail: float, end: float) -> Lifetime:
        ages = [Age(day, day, day, (1,), {"read_p99_9_us": (tail,)}) for day in (0.0, 100.0)]
        return Lifetime(name, ages, [End(1, end, "reserve", end, reached=True)], stress=stress)

    cases = [case("plain", 0.0, 2000.0, 730.0), case("suspended", 0.08, 200.0, 672.0)]
    life = Life(cases, 1, 1, 1)
    assert list(sentences(cases[1], life))[-1] == (
        "suspended: suspensions cause 8 % of the wear: 8 % of the endurance for a read p99.9 90 % below that of plain, "
        "over all ages; the life changes from 2.00 to 1.84 years"
    )
    assert "endurance" not in " ".join(sentences(cases[0], life))


def test_ages_have_units() -> None:
    assert (age_in_days("2y", "x"), age_in_days(" 1.5 y", "x"), age_in_days("90d", "x")) == (730, 547.5, 90)
    for wrong in (5, "5", "5 years", "-1y", None):
        with pytest.raises(ConfigError, match=r"x: seen .*; expected an age in years or days"):
            age_in_days(wrong, "x")


def test_a_study_needs_no_profile(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a profile is the path of a TOML file or a dictionary"):
        interpulse.life(interpulse.Config(CONFIG), profile=3, out=tmp_path / "o", **LIFE)  # type: ignore[arg-type]
