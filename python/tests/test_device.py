"""Does a device serve requests one by one and in batches alike, and refuse what is wrong by name?"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interpulse
from interpulse import Config, ConfigError, Device, RequestError
from interpulse.embedding.completion import CAUSES, OPS, STATUSES, Completions
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CONFIG: dict[str, Any] = {"drive": "a4-mini", "part": {"blocks-per-plane": 24}}
LATE = 10**9


def load(device: Device, count: int = 500) -> dict[str, Any]:
    """A load of reads and writes."""
    rng = np.random.default_rng(3)
    return {
        "at_ns": np.cumsum(rng.integers(0, 40_000, size=count)),
        "op": rng.integers(0, 2, size=count),
        "offset": 512 * rng.integers(device.capacity // 512 - 64, size=count),
        "bytes": 512 * rng.integers(1, 64, size=count),
        "cookie": rng.integers(0, 2**63, size=count),
    }


def alike(one: Completions, other: Completions) -> bool:
    """Whether two devices completed the same."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in one._fields)


def test_a_batch_is_served_as_single_requests_are() -> None:
    one, many = Device(CONFIG), Device(CONFIG)
    columns = load(one)
    assert many.submit_batch(**columns) == 0
    many.advance_to(LATE)
    batch = many.poll()
    single = []
    for at, op, offset, length, cookie in zip(*(column.tolist() for column in columns.values()), strict=True):
        while one.advance_to_completion(at):
            done = one.pop()
            assert done is not None
            single.append(done)
        one.submit(at, OPS[op], offset, length, cookie=cookie)
    one.advance_to(LATE)
    single += iter(one.pop, None)
    assert len(single) == len(batch.tag) == 500
    assert (one.pending, one.completions, one.pop()) == (0, 0, None)
    for name in ("tag", "cookie", "status", "submitted_ns", "completed_ns", "bytes", "latency_ns"):
        assert [getattr(done, name) for done in single] == getattr(batch, name).tolist(), name
    assert [done.op for done in single] == [OPS[code] for code in batch.op]
    assert [done.causes_ns for done in single] == [tuple(row) for row in batch.causes_ns.tolist()]
    assert (batch.causes_ns.sum(axis=1) == batch.latency_ns).all()
    assert batch.causes_ns.shape == (500, len(CAUSES))
    assert sum(single[0].causes.values()) == single[0].latency_ns
    assert set(batch.placed) == {-1}
    assert one.counters() == many.counters()
    assert one.counters()["host"]["requests"] == 500
    assert one.finish() == many.finish()
    assert not batch.tag.flags.writeable


def test_a_host_with_one_wake_up_misses_no_completion() -> None:
    device = Device(CONFIG)
    seen = []
    device.submit(5_000, "read", 0, 4096)
    device.submit(7_000, "write", 4096, 8192, cookie=9)
    while device.pending:
        at = device.next_event_ns
        assert at is not None
        device.advance_to(at)
        assert device.now_ns == at
        while (done := device.pop()) is not None:
            assert done.completed_ns == at
            seen.append(done)
    assert [(done.op, done.cookie) for done in seen] == [("write", 9), ("read", 0)]
    assert not device.advance_to_completion()
    assert not device.advance_to_completion(LATE)
    assert device.now_ns == LATE


def test_a_restored_device_continues() -> None:
    one = Device(CONFIG, journal=True)
    columns = load(one)
    one.submit_batch(**columns)
    one.advance_to(int(columns["at_ns"][250]))
    one.poll(100)
    saved = one.save()
    other = Device.restore(CONFIG, saved)
    assert other.now_ns == one.now_ns
    for device in (one, other):
        device.advance_to(LATE)
    assert alike(one.poll(), other.poll())
    assert one.counters() == other.counters()
    with pytest.raises(RequestError, match="it is of another configuration"):
        Device.restore(CONFIG | {"seed": 2}, saved)
    with pytest.raises(RequestError, match="not a saved device"):
        Device.restore(CONFIG, b"nonsense")
    with pytest.raises(RequestError, match="only a device created with a journal"):
        Device(CONFIG).save()


def test_arrays_namespaces_and_zones() -> None:
    array = Device(CONFIG | {"array": {"level": "raid5", "drives": 3}})
    assert array.description["device"] == "array"
    array.submit_batch([1, 2, 3], "write", [0, 65536, 131072], 4096)
    array.finish()
    assert array.poll().causes_ns.sum() == 0
    zones = {"family": "zoned", "over-provisioning": "7%", "zone-width": 1, "zone-rows": 4}
    zoned = Device(CONFIG | {"ftl": zones, "precondition": {"fill": "0%"}})
    zoned.submit(0, "append", 0, 16384)
    zoned.submit(1_000_000, "append", 0, 16384)
    zoned.submit(2_000_000, "write", 0, 4096)
    zoned.submit(3_000_000, "zone_reset")
    zoned.finish()
    done = [zoned.pop() for _ in range(4)]
    placed = sorted(each.placed for each in done if each is not None and each.placed is not None)
    assert placed == [0, 16384]
    (refused,) = (each for each in done if each is not None and each.status)
    assert (refused.op, refused.tag, STATUSES[refused.status]) == ("write", 2, "Zone Invalid Write")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"op": "nosuch"}, "op = 'nosuch': legal: read, write, trim, "),
    ({"offset": 100}, "offset = 100, bytes = 4096: legal: multiples of 512"),
    ({"offset": -512}, "offset = -512: legal: 0 to "),
    ({"offset": 0.5}, "offset = 0.5: legal: a whole number"),
    ({"offset": 2**64}, "offset = 18446744073709551616: legal: 0 to "),
    ({"offset": 2**60}, "ends behind the "),
    ({"bytes": 0}, "bytes = 0: legal of read: 512 to 1073741824"),
    ({"bytes": 2**31}, "bytes = 2147483648: legal of read: 512 to 1073741824"),
    ({"at_ns": 9}, "at = 9 ns is in the past: it is 10 ns"),
    ({"at_ns": 2**60}, "100 days"),
    ({"namespace": 2}, "namespace = 2: legal: 1 to 1"),
    ({"namespace": 0}, "namespace = 0: legal: 1 to 1"),
    ({"queue": 1}, "queue = 1: legal: 0 to 0"),
    ({"queue": 2**40}, "queue = 1099511627776: legal: 0 to 4294967295"),
    ({"handle": 256}, "handle = 256: legal: 0 to 255"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_request_is_refused(change: dict[str, Any], message: str) -> None:
    device = Device(CONFIG)
    device.advance_to(10)
    request: dict[str, Any] = {"at_ns": 10, "op": "read", "offset": 0, "bytes": 4096} | change
    with pytest.raises(RequestError) as refused:
        device.submit(**request)
    assert message in str(refused.value)
    if change.get("op") != "nosuch":
        request |= {"at_ns": [10, 10, request["at_ns"]]}
        with pytest.raises(RequestError) as refused:
            device.submit_batch(**request)
        assert message in str(refused.value) or "offset has type" in str(refused.value)
    assert device.pending == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"at_ns": 5}, "a batch has an array of instants"),
        ({"at_ns": [[1, 2]]}, "at_ns has 2 dimensions"),
        ({"offset": [0, 512]}, "offset has 2 values, at_ns 3"),
        ({"offset": [0.5, 1.5, 2.5]}, "offset has type float64: legal: whole numbers"),
        ({"offset": ["a", "b", "c"]}, "offset has type <U1"),
        ({"op": [0, 1, 15]}, "op = 15: legal: 0 to 14"),
        ({"offset": [0, 0, 1]}, "request 2 of the batch: offset = 1"),
        ({"cookie": [0, -1, 1]}, "cookie = -1: legal: 0 to "),
    ],
)
def test_a_wrong_batch_is_refused_whole(change: dict[str, Any], message: str) -> None:
    device = Device(CONFIG)
    request: dict[str, Any] = {"at_ns": [1, 2, 3], "op": "read", "offset": 0, "bytes": 4096} | change
    with pytest.raises(RequestError) as refused:
        device.submit_batch(**request)
    assert message in str(refused.value)
    assert device.pending == 0
    assert device.submit_batch(np.empty(0), "read") == 0
    assert len(device.poll().tag) == 0


def test_time_does_not_go_back_and_a_finished_device_ends() -> None:
    device = Device(CONFIG)
    device.advance_to(1_000)
    with pytest.raises(RequestError, match="simulated time cannot go back to 999 ns: it is 1000 ns"):
        device.advance_to(999)
    with pytest.raises(RequestError, match="cannot go back"):
        device.advance_to_completion(5)
    with pytest.raises(RequestError, match="to_ns = -1: legal: 0 to "):
        device.advance_to(-1)
    device.finish()
    for call in (device.finish, device.save, lambda: device.advance_to(2_000), lambda: device.submit(2_000, "flush")):
        with pytest.raises(RequestError, match="the device is finished"):
            call()


def test_wrong_configurations_are_refused_as_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "host.toml"
    path.write_text('drive = "a4-mini"\n[ftl]\ngc = "x"\n')
    with pytest.raises(ConfigError, match=r"host\.toml:3: ftl\.gc"):
        Device(path)
    with pytest.raises(ConfigError, match="several cases: choose one of no-suspend, suspend-10"):
        Device(ROOT / "examples" / "small.toml")
    with pytest.raises(ConfigError, match=r"no case \"x\"; legal: "):
        Device(ROOT / "examples" / "small.toml", case="x")
    with pytest.raises(ConfigError, match="nothing says which drive"):
        Device({"seed": 1})
    with pytest.raises(ConfigError, match="a configuration is a Config"):
        Device(5)  # type: ignore[arg-type]


def test_a_configuration_of_a_run_with_a_kept_state(tmp_path: Path) -> None:
    config = Config.load(ROOT / "examples" / "small.toml").set("part.blocks-per-plane", 24)
    first = Device(config, case="suspend-10", cache=tmp_path)
    assert list(tmp_path.glob("*.snapshot"))
    second = Device(config, case="suspend-10", cache=tmp_path)
    for device in (first, second):
        device.submit_batch(**load(device))
        device.advance_to(LATE)
    assert alike(first.poll(), second.poll())
    assert first.counters()["ftl"]["gc_units"] == second.counters()["ftl"]["gc_units"]


def test_devices_on_threads_are_independent_and_threads_take_turns_with_one() -> None:
    results: dict[int, list[int]] = {}

    def work(number: int) -> None:
        device = Device(CONFIG)
        device.submit_batch(**load(device))
        device.advance_to(LATE)
        results[number] = device.poll().completed_ns.tolist()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] for result in results.values())
    shared = Device(CONFIG)
    offsets = 4096 * np.random.default_rng(1).integers(shared.capacity // 4096, size=20_000)
    shared.submit_batch(np.arange(20_000) * 5_000, "read", offsets, 4096)
    busy = threading.Thread(target=shared.finish)
    busy.start()
    while busy.is_alive():
        assert shared.pending <= 20_000
    busy.join()
    assert len(shared.poll().tag) == 20_000


def test_the_simpy_model_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("simpy", reason="make dev installs it")
    outputs = []
    for _ in range(2):
        exec((ROOT / "examples" / "embedding" / "simpy_host.py").read_text(), {"__name__": "__main__"})
        outputs.append(capsys.readouterr().out)
    assert outputs[0].startswith("4000 reads, mean latency ")
    assert outputs[0] == outputs[1]


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "EMBEDDING.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(code, {})
    assert capsys.readouterr().out.startswith("1001 ")


def test_the_names_are_public() -> None:
    assert {"Device", "RequestError"} <= set(interpulse.__all__)
    assert issubclass(RequestError, ValueError)
