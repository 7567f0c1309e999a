"""Does `interpulse explore` simulate what it exports, refuse what is wrong, and serve its own user alone?"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from bokeh.application import Application
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from interpulse import ConfigError, _core
from interpulse.explore import server, simulation, view
from interpulse.explore.base import WITHOUT, Base
from interpulse.explore.controls import AUTOMATIC, WINDOWS, controls, query, state_of
from interpulse.explore.die import timeline, waits
from interpulse.explore.server import MOST_PAGES, Access
from interpulse.explore.simulation import MOST_KEPT, Simulator, StaleError
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Child, Ended

    Cli = Callable[..., Ended]

REQUESTS = 20_000


@pytest.fixture(scope="module")
def demo() -> Base:
    return Base.load(None)


@pytest.fixture
def simulator(demo: Base) -> Iterator[Simulator]:
    with Simulator(demo) as made:
        yield made


def changed(base: Base, **values: str) -> dict[str, str]:
    state, wrong = state_of(base.configured, [(name.replace("_", "-"), value) for name, value in values.items()])
    assert not wrong
    return state


def run(simulator: Simulator, state: dict[str, str]) -> simulation.Outcome:
    setup = simulator.base.setup(state, REQUESTS)
    return simulator.run(setup, state, lambda: False, lambda _: None)


def test_the_shipped_demo_is_the_example() -> None:
    ours = (ROOT / "python" / "interpulse" / "explore" / "demo.toml").read_text()
    assert tomllib.loads(ours) == tomllib.loads((ROOT / "examples" / "demo.toml").read_text())


OTHER = {
    "program": "deferred",
    "program-max": "3",
    "program-interval": "250",
    "erase": "loop-boundary",
    "erase-max": "5",
    "erase-interval": "1000.5",
    "load": "depth",
    "rate": "12345",
    "depth": "33",
    "read": "60",
    "part": "ressd-tlc",
    "op": "21",
    "window": "50000",
    "seed": str(2**64 - 1),
}
"""A value of each control that differs from the demo's."""

KEYS = {
    "program": "suspend.program.scheme=deferred",
    "program-max": "suspend.program.max-suspends=3",
    "program-interval": "suspend.program.min-interval=250000ns",
    "erase": "suspend.erase.scheme=loop-boundary",
    "erase-max": "suspend.erase.max-suspends=5",
    "erase-interval": "suspend.erase.min-interval=1000500ns",
    "load": 'pacing = "closed"',
    "rate": 'rate = "12345/s"',
    "read": "read = 0.6",
    "part": 'preset = "ressd-tlc"',
    "op": "over-provisioning = 0.21",
    "seed": f"seed = {2**64 - 1}",
}
"""What each of them writes into the configuration; the window has no key, and a depth needs the load."""


def test_every_control_has_another_value() -> None:
    assert set(OTHER) == {control.name for control in controls()}
    assert set(OTHER) - set(KEYS) == {"window", "depth"}


@pytest.mark.parametrize("name", KEYS)
def test_a_control_changes_its_key_of_the_configuration(demo: Base, name: str) -> None:
    setup = demo.setup(changed(demo, **{name: OTHER[name]}), REQUESTS)
    assert KEYS[name] in setup.text
    assert setup.text.count(KEYS[name].split("=")[0].strip().split(".")[-1] + " =") <= 1
    assert setup.config().resolve().case_names == list(setup.cases)


def test_all_controls_together_resolve_and_a_link_restores_them(demo: Base) -> None:
    state = changed(demo, **OTHER)
    settings = {entry.key: entry.value for entry in demo.setup(state, REQUESTS).config().resolve().entries()}
    assert settings["flow.0.depth"] == "33"
    assert settings["part.planes"] == "1"
    text = query(demo.configured, state)
    again, wrong = state_of(demo.configured, [tuple(pair.split("=")) for pair in text.split("&")])  # type: ignore[misc]
    assert (again, wrong) == (state, [])
    assert query(demo.configured, dict(demo.configured)) == ""


def test_a_part_keeps_its_own_times_where_the_drive_had_others(demo: Base) -> None:
    settings = {
        entry.key: entry.value
        for entry in demo.setup(changed(demo, part="hynix-176l-tlc"), REQUESTS).config().resolve().entries()
    }
    assert settings["part.program-suspend-entry"] == "20us"
    assert settings["part.bus-rate"] == "1.6GT/s"
    assert settings["part.pages-per-block"] == "2112"


@pytest.mark.parametrize("scheme", ["none", "immediate"])
def test_keys_of_another_scheme_do_not_stay(scheme: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'drive = "a4-mini"\nrun.requests = 1000\n'
        'suspend.erase = { scheme = "timeout", defer-after = "3ms", max-suspends = 4 }\n'
        "[[flow]]\nread = 0.5\ndepth = 4\n"
    )
    base = Base.load(path)
    assert base.configured["erase"] == "timeout"
    assert "defer-after" in base.setup(dict(base.configured), REQUESTS).text
    setup = base.setup(changed(base, erase=scheme), REQUESTS)
    setup.config().resolve()
    assert "defer-after" not in setup.text
    assert ("max-suspends=4" in setup.text) == (scheme != "none")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("program", "fast", "program: seen 'fast'; expected one of none, ideal"),
        ("rate", "99", "rate: seen '99'; expected a whole number from 100 to 2,000,000"),
        ("rate", "1e4", "rate: seen '1e4'; expected a whole number"),
        ("read", "nan", "read: seen 'nan'; expected a number from 0 to 100"),
        ("erase-max", "0", "or nothing for no limit"),
        ("depth", "", "depth: seen ''; expected a whole number from 1 to 1,024"),
        ("seed", "9" * 400, "expected a whole number from 0 to"),
        ("colour", "red", "'colour': no control; expected one of program"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_legal(demo: Base, name: str, value: str, said: str) -> None:
    state, (wrong,) = state_of(demo.configured, [(name, value)])
    assert said in wrong
    assert state == demo.configured


def test_a_refused_combination_has_the_message_of_the_simulator(demo: Base) -> None:
    state = changed(demo, op="1")
    with pytest.raises(ConfigError, match=r"explored.toml:.*over-provisioning"):
        demo.setup(state, REQUESTS).config().resolve()


def test_a_load_that_is_no_single_flow_stays(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text('drive = "a4-mini"\nrun.requests = 1000\n[[flow]]\nread = 1.0\ndepth = 4\n[[flow]]\ndepth = 1\n')
    base = Base.load(path)
    assert set(base.fixed) == {"load", "rate", "depth", "read"}
    with pytest.raises(ConfigError, match="read: the load of this configuration is no single synthetic flow"):
        base.setup(changed(base, read="60"), REQUESTS)
    base.setup(changed(base, erase="deferred"), REQUESTS).config().resolve()


def test_the_named_case_is_the_beginning() -> None:
    base = Base.load(ROOT / "examples" / "demo.toml", ["flow.0.read=0.5"], "programs")
    assert (base.configured["erase"], base.configured["read"]) == ("none", "50")
    with pytest.raises(ConfigError, match=r"--case nobody: .* expected one of no suspension, programs, programs and"):
        Base.load(ROOT / "examples" / "demo.toml", [], "nobody")


def test_figures_equal_those_of_the_exported_run(simulator: Simulator, interpulse: Cli, tmp_path: Path) -> None:
    state = changed(simulator.base, rate="15000", read="70", erase_max="4", seed="7")
    outcome = run(simulator, state)
    exported = view.export(outcome)
    (tmp_path / exported["file"]).write_text(exported["toml"])
    words = exported["command"].split()
    assert words[:2] == ["interpulse", "run"]
    found = interpulse("run", str(tmp_path / words[2]), "--json")
    assert found.code == 0, found.err
    shown = view.exact(outcome)
    assert list(shown) == [WITHOUT, "programs: loop-boundary; erases: deferred"]
    for case in found.json()["cases"]:
        (seed,) = case["seeds"]
        for kind in ("read", "write"):
            assert shown[case["case"]][kind] == seed["latency_us"][kind]
        kept = next(each for each in outcome.cases if each["case"] == case["case"])
        assert (kept["iops"], kept["power"], kept["tail_blame"]) == (seed["iops"], seed["power"], seed["tail_blame"])


def test_the_die_of_the_slowest_read_is_followed(simulator: Simulator) -> None:
    state = dict(simulator.base.configured)
    outcome = run(simulator, state)
    assert outcome.slowest is not None
    assert outcome.slowest["latency_ns"] / 1e3 == outcome.cases[-1]["latency_us"]["read"]["max"]
    found = timeline(simulator.follow(outcome, state, lambda: False), outcome.slowest)
    # It is read from the array within its latency, and the die did something else before.
    own = found.pieces["own"]
    assert own["left"]
    assert all(0 <= x <= found.latency for x in own["left"] + own["right"])
    busy = sum(
        right - left for of in found.pieces.values() for left, right in zip(of["left"], of["right"], strict=True)
    )
    assert busy > 0.8 * found.latency
    assert waits(outcome.slowest).startswith("The slowest read took ")


def test_without_suspension_there_is_one_case(simulator: Simulator) -> None:
    outcome = run(simulator, changed(simulator.base, program="none", erase="none"))
    assert [case["case"] for case in outcome.cases] == [WITHOUT]
    assert view.answers(outcome)["answer"].startswith("No suspension: 99.9 % of the reads take at most ")
    assert "set" not in outcome.setup.text


def test_the_case_without_suspension_is_simulated_once(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(simulator, dict(simulator.base.configured))
    started: list[list[str]] = []
    real = _core.start

    def start(plan: _core.Plan, *rest: Any) -> _core.Handle:  # noqa: ANN401 - as the core takes them
        started.append(plan.case_names)
        return real(plan, *rest)

    monkeypatch.setattr(_core, "start", start)
    second = run(simulator, changed(simulator.base, erase_max="2"))
    assert started == [["programs: loop-boundary; erases: deferred"]]
    assert second.cases[0] == first.cases[0]
    for k in range(MOST_KEPT + 5):
        simulator._keep(f"other {k}", {})
    assert len(simulator._kept) == MOST_KEPT


def test_a_newer_change_stops_a_run(simulator: Simulator) -> None:
    state = dict(simulator.base.configured)
    setup = simulator.base.setup(state, 500_000_000)
    looks = iter([False, False, True])
    with pytest.raises(StaleError):
        simulator.run(setup, state, lambda: next(looks), lambda _: None)


def test_windows_follow_the_speed_of_the_machine(simulator: Simulator) -> None:
    state = {"window": AUTOMATIC}
    simulator._per_s = 1e3
    assert simulator.windows(state) == [WINDOWS[0]]
    simulator._per_s = 1e6
    first, longer = simulator.windows(state)
    assert first < longer <= simulation.LONGEST
    assert simulator.windows({"window": "50000"}) == [50_000]


def test_what_is_too_short_is_called_so(simulator: Simulator) -> None:
    outcome = run(simulator, dict(simulator.base.configured))
    cards = {each["name"]: each for each in view.cards(outcome.cases)}
    assert cards["Read p99.99"]["doubt"] == view.UNSURE
    assert cards["Read p99.9"]["doubt"] == ""
    assert any("Read p99.99" in line and view.UNSURE in line for line in view.answers(outcome)["doubts"])


def test_an_overload_is_named(simulator: Simulator) -> None:
    outcome = run(simulator, changed(simulator.base, rate="60000"))
    assert any("overloaded: " in line for line in view.answers(outcome)["doubts"])


@pytest.mark.parametrize(
    ("host", "token", "said"),
    [
        ("0.0.0.0", None, "--host 0.0.0.0: other machines reach this address"),
        ("::", None, "--host ::: other machines reach this address"),
        ("example.org", None, "--host example.org: expected an address"),
        ("127.0.0.1", "short", "--token: seen 5 characters; expected at least 16"),
    ],
)
def test_an_address_that_others_reach_needs_a_token(host: str, token: str | None, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        Access.of(host, 5006, token)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Child, str]]:
    """A server with a token in a process, and its address without it."""
    line = ["-m", "interpulse", "explore", "--no-browser", "--port", "0", "--token", "0123456789abcdef"]
    with process(*line, cwd=tmp_path_factory.mktemp("explore")) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        assert url.endswith("/?token=0123456789abcdef")
        yield running, url.partition("?")[0]
        running.kill()


COOKIE = {"Cookie": f"interpulse-token={b'0123456789abcdef'.hex()}"}
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def asked(url: str, method: str = "GET", **headers: str) -> int:
    """The status of a request; redirects are followed."""
    request = urllib.request.Request(url, method=method, headers=headers, data=b"" if method == "POST" else None)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("", {}, 403),
        ("?token=0123456789abcdeF", {}, 403),
        ("", {"Cookie": "interpulse-token=0123456789abcdef"}, 403),
        ("static/js/bokeh.min.js", {}, 403),
        ("static/js/bokeh.min.js", COOKIE, 200),
        ("static/js/bokeh.min.js", {"Authorization": "Bearer 0123456789abcdef"}, 200),
        ("static/js/bokeh.min.js", COOKIE | {"Host": "evil.example:80"}, 403),
        ("static/js/bokeh.min.js", COOKIE | {"Host": "127.0.0.1"}, 403),
        ("static/js/bokeh.min.js", COOKIE | {"Origin": "http://evil.example"}, 403),
        ("static/js/bokeh.min.js", COOKIE | {"Origin": "null"}, 403),
        ("", COOKIE | {"Host": "evil.example:80"}, 403),
        ("", COOKIE | {"Sec-Fetch-Dest": "iframe"}, 403),
        ("ws", COOKIE | SOCKET | {"Origin": "http://evil.example"}, 403),
        ("ws", SOCKET, 403),
        ("metadata", COOKIE, 404),
        ("autoload.js", COOKIE, 404),
        ("explored.toml", COOKIE, 404),
    ],
)
def test_the_server_answers_its_own_user_alone(
    served: tuple[Child, str], path: str, headers: dict[str, str], status: int
) -> None:
    assert asked(f"{served[1]}{path}", **headers) == status


def test_other_methods_are_refused(served: tuple[Child, str]) -> None:
    assert asked(served[1], "POST", **COOKIE) == 405
    assert asked(served[1], "DELETE", **COOKIE) == 405


def test_it_listens_on_loopback_alone(served: tuple[Child, str]) -> None:
    listening = psutil.Process(served[0].pid).net_connections(kind="inet")
    assert {each.laddr.ip for each in listening if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


@pytest.mark.parametrize(("open_pages", "status"), [(MOST_PAGES - 1, None), (MOST_PAGES, 503)])
def test_pages_are_limited(open_pages: int, status: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    application = server._Tornado(Application(), Access.of("127.0.0.1", 5006, None))
    monkeypatch.setattr(application, "get_sessions", lambda _: [None] * open_pages)
    headers = HTTPHeaders({"Host": "127.0.0.1:5006"})
    line = RequestStartLine("GET", "/?rate=30000", "HTTP/1.1")
    connection: Any = SimpleNamespace(context=None)
    request = HTTPServerRequest(start_line=line, headers=headers, connection=connection)
    found = application.find_handler(request)
    answer = found.handler_kwargs.get("answer")
    assert (answer and answer.status) == status


def test_a_taken_port_is_named(served: tuple[Child, str], interpulse: Cli) -> None:
    port = served[1].rstrip("/").rpartition(":")[2]
    found = interpulse("explore", "--no-browser", "--port", port)
    assert found.code == 2
    assert found.error() == (
        f"cannot listen on 127.0.0.1, port {port}: Address already in use (--port 0 takes any free port)"
    )


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    with process("-m", "interpulse", "explore", "--no-browser", "--port", "0", cwd=tmp_path) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        assert asked(url) == 200  # A simulation runs now.
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert err.splitlines() == ["serving until Ctrl-C", "ended"]


def test_a_wrong_configuration_ends_with_its_message(interpulse: Cli, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text('drive = "a4-mini"\nflow = [{ reed = 1 }]\n')
    found = interpulse("explore", str(tmp_path / "wrong.toml"), "--no-browser")
    assert found.code == 2
    assert "wrong.toml:2: flow.0.reed" in found.error()


def test_a_run_of_the_command_line_imports_no_server() -> None:
    code = "import sys, interpulse.cli.explore; sys.exit('bokeh' in sys.modules or 'tornado' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT / "python")


def test_pins_say_what_differs(demo: Base) -> None:
    assert view.described(dict(demo.configured), demo.configured) == (
        "programs loop-boundary (at most 10); erases deferred"
    )
    state = changed(demo, program="none", erase="none", rate="30000", op="20")
    assert view.described(state, demo.configured) == ("arrivals 30000 requests/s; over-provisioning 20 % of capacity")
    assert view.compared({"iops": 100.0}, {"iops": 150.0})[3] == {"value": "100 IOPS", "change": "+50.0 %"}
    assert json.loads(json.dumps(view.compared({}, {})))[0] == {"value": "none", "change": ""}
