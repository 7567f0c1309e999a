"""Is a scheme ruled out whose drive does not live as long as demanded, by the same end as that of a whole life?"""

import json
from pathlib import Path
from typing import Any

import pytest

import interpulse
from interpulse import Config, ConfigError
from interpulse.cli import run_app
from interpulse.configuration.lists import listed
from interpulse.lifetime.expected import Expected, LifeLimit, expected
from interpulse.lifetime.result import Age, End, Lifetime
from interpulse.sweeps.engine import ProgressObserver
from interpulse.sweeps.simulations import Simulations
from tests.test_life import CONFIG

SHORT = CONFIG.replace("value = 500", "value = 300").replace('table = "cai-tlc"', 'table = "ideal"')
WORN = (("suspend.erase.scheme", "immediate"), ("suspend.erase.stress", "50%"))
LIMIT = LifeLimit(days=150.0, dwpd=1.0)
SCHEMES = ("ideal", "none", "loop-boundary", "immediate")
"""Schemes that the searches below try."""


def without() -> list[str]:
    return [each["name"] for each in listed()["schemes"] if each["name"] not in SCHEMES]


def found(*ends: float, why: str = "reserve", last: float = 150.0) -> Expected:
    ages = [Age(day, day, day, tuple(range(len(ends))), {}) for day in (0.0, last)]
    return Expected(Lifetime("a", ages, [End(k, day, why, day, reached=True) for k, day in enumerate(ends)]), LIMIT)


def test_the_interval_of_the_end_decides() -> None:
    assert [found(*ends).lives for ends in ((200, 201, 202), (100, 101, 102), (120, 150, 180))] == [True, False, None]
    assert found(200, 201, 202).text == "0.55 (0.54 to 0.56)"
    assert found(100, 101, 102).why == "expected life, years: 0.28 (0.27 to 0.28), below 0.41"
    assert found(100).excess == pytest.approx(0.5)
    assert found(120, 150, 180).excess > 0
    assert found(200).excess < 0
    unread = found(150, why="ecc")
    assert (unread.lives, unread.text) == (False, "at most 0.41: uncorrectable reads")
    assert Expected(Lifetime("a", [Age(150.0, 1, 1, (1,), {})]), LIMIT).lives is True
    assert Expected(Lifetime("a", [Age(0.0, 0, 0, (1,), {})]), LIMIT).lives is None


def test_the_expected_end_is_that_of_a_whole_life(tmp_path: Path) -> None:
    config = Config(SHORT)
    with Simulations(config, tmp_path / "o", ProgressObserver(), jobs=2) as simulations:
        own = simulations.cases["run"] if "default" in simulations.cases else next(iter(simulations.cases.values()))
        name = next(iter(simulations.cases))
        plain, worn = expected(simulations, [(name, own, ()), (name, own, WORN)], LIMIT, 4)
    for sets, ours in (((), plain), (WORN, worn)):
        config = Config(SHORT)
        for key, value in sets:
            config.set(key, value)
        life = interpulse.life(config, years=150 / 365, dwpd=1, windows=5, seeds=4, out=tmp_path / "life")
        theirs, end = life.cases[0].end(), ours.end
        assert theirs is not None
        assert end is not None
        assert theirs.low is not None
        assert theirs.high is not None
        assert theirs.low <= end.value <= theirs.high
    assert plain.end is not None
    assert worn.end is not None
    assert worn.end.value < 0.95 * plain.end.value


def test_advice_rules_out_what_wears_the_drive_out(tmp_path: Path) -> None:
    config = Config(SHORT).set("suspend.erase.stress", "50%")
    limits = {"all-p50": "100ms"}
    common: dict[str, Any] = {"without": without(), "seeds": 3, "out": tmp_path / "o"}
    fast = interpulse.advise(config, limits, life="100d", **common)
    assert fast.best is not None
    assert fast.best.candidate.erase is not None
    assert fast.best.candidate.erase.scheme == "none"
    assert all(life.lives for life in fast.best.lives.values())
    doc = fast.to_dict()
    assert doc["life"] == {"years": 100 / 365, "dwpd": 1.0}
    assert doc["best"]["life"]["run"]["lives"] is True
    longer = interpulse.advise(config, limits, life="2y", dwpd=2, **common)
    assert longer.best is None
    assert "expected life, years: " in longer.nearest.why
    assert "life" not in interpulse.advise(config, limits, **common).to_dict()


HEAVIER = '[[period]]\nfrom = "0d"\n[[period]]\nfrom = "40d"\ndwpd = 3\nset = ["flow.0.read=40%"]\n'


def test_the_periods_of_a_profile_count(tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text(HEAVIER)
    limit = LifeLimit.read("150d", 1.0, ("--life", "--dwpd", "--profile"), str(profile))
    assert limit is not None
    assert limit.text == "a life of at least 0.41 years at 1 drive writes per day and the 2 periods of its profile"
    assert [each["from_day"] for each in limit.to_dict()["profile"]] == [0, 40]
    with Simulations(Config(SHORT), tmp_path / "o", ProgressObserver(), jobs=2) as simulations:
        name, own = next(iter(simulations.cases.items()))
        plain, heavier = (expected(simulations, [(name, own, ())], each, 4)[0] for each in (LIMIT, limit))
    life = interpulse.life(Config(SHORT), years=150 / 365, windows=5, seeds=4, profile=profile, out=tmp_path / "life")
    whole = life.cases[0].end()
    assert plain.end is not None
    assert heavier.end is not None
    assert whole is not None
    # Forty days at the first rate, and the rest three times as fast.
    assert heavier.end.value == pytest.approx(40 + (plain.end.value - 40) / 3, rel=0.05)
    assert heavier.end.value == pytest.approx(whole.value, rel=0.03)
    common: dict[str, Any] = {"without": without(), "seeds": 2, "out": tmp_path / "a", "profile": profile}
    advice = interpulse.advise(Config(SHORT), {"all-p50": "100ms"}, life="150d", **common)
    assert advice.best is None
    assert "expected life, years: " in advice.nearest.why


def test_a_ranking_leaves_out_short_lives_and_shows_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "drive.toml").write_text(SHORT)
    options = [each for name in without() for each in ("--without", name)]
    options += ["--set", "suspend.erase.stress=50%", "--seeds", "2", "--out", str(tmp_path / "o")]
    command = ["advise", str(tmp_path / "drive.toml"), "--rank", "read-p99", *options]
    assert run_app([*command, "--life", "100d"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "life, years" in printed
    assert "expected life below 0.274 years" in printed
    ranking = json.loads((tmp_path / "o/ranking.json").read_text())["cases"]["run"]
    assert {pair["set"]["suspend.erase.scheme"] for pair in ranking["ranked"]} == {"none"}
    assert {pair["life"]["lives"] for pair in ranking["ranked"]} == {True}
    short = [pair for pair in ranking["doubtful"] if "life" in pair]
    assert {pair["set"]["suspend.erase.scheme"] for pair in short} == {"immediate", "loop-boundary"}


STUDY = """\
config = "drive.toml"
trials = 1
batch = 1
repetitions = 1
sampler = "random"
{limit}
[set]
suspend.erase.stress = "50%"
[[parameter]]
key = "suspend.erase.scheme"
name = "erase"
values = ["immediate"]
[[objective]]
minimise = "read_p99_us"
"""


def test_trials_whose_drives_end_early_are_not_feasible(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text(SHORT)
    study = tmp_path / "study.toml"
    for name, limit, feasible in (("a", 'life = "100d"', False), ("b", 'life = "30d"\ndwpd = 0.5', True)):
        study.write_text(STUDY.format(limit=limit))
        done = interpulse.optimize(study, out=tmp_path / name)
        assert {trial.feasible for trial in done.trials} == {feasible}
        assert all(trial.life["lives"] is feasible for trial in done.trials)
        again = interpulse.optimize(study, out=tmp_path / name)
        assert again.to_dict() | {"simulated": 0, "kept": 0} == done.to_dict() | {"simulated": 0, "kept": 0}
    study.write_text(STUDY.format(limit='life = "60d"'))
    with pytest.raises(ConfigError, match="begun with a different space: life years: "):
        interpulse.optimize(study, out=tmp_path / "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--life", "5"], "--life: seen '5'; expected an age in years or days"),
        (["--life", "0d"], "--life: seen '0d'; expected an age above 0"),
        (["--life", "5y", "--dwpd", "0"], "--dwpd: seen 0.0; expected drive writes per day above 0"),
        (["--dwpd", "1"], "--dwpd: seen 1.0 without --life; expected both, or none"),
        (["--profile", "p.toml"], "--profile: seen 'p.toml' without --life; expected both, or none"),
        (["--life", "5y", "--profile", "none.toml"], "cannot read the profile none.toml: No such file"),
        (["--life", "5y", "--profile", "p.toml"], "p.toml:3: period: flow.0.reed: unknown key"),
        (["--life", "5d", "--profile", "p.toml"], "p.toml:4: period.from: seen '9d'; expected less than"),
        (["--life", "5y", "--set", "precondition.overwrite=none"], 'precondition.overwrite: seen "none"; expected'),
    ],
)
def test_errors_name_the_option(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text('[[period]]\nfrom = "0d"\n[[period]]\nfrom = "9d"\nset = ["flow.0.reed=1%"]\n')
    (tmp_path / "drive.toml").write_text(SHORT)
    command = ["advise", str(tmp_path / "drive.toml"), "--out", str(tmp_path / "o"), *options]
    assert run_app([*command, "--read-p99", "1ms"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_study_names_the_line_of_a_wrong_life(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text(SHORT)
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(limit='life = "soon"'))
    with pytest.raises(ConfigError, match=r"study.toml:6: life: seen 'soon'; expected an age"):
        interpulse.optimize(study, out=tmp_path / "o")
    study.write_text(STUDY.format(limit='profile = "p.toml"'))
    with pytest.raises(
        ConfigError, match=r"study.toml:6: profile: seen '.*p.toml' without .*study.toml:1: life; expected both"
    ):
        interpulse.optimize(study, out=tmp_path / "o")
    study.write_text(STUDY.format(limit='life = "1y"\nprofile = "none.toml"'))
    with pytest.raises(ConfigError, match=r"cannot read the profile .*none\.toml"):
        interpulse.optimize(study, out=tmp_path / "o")
