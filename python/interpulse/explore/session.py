"""Session of one page: its settings, its results, its pinned ones. The newest change wins."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bokeh.core.properties import String
from bokeh.model import DataModel

from interpulse._core import ConfigError, RunError
from interpulse.explore import plots, view
from interpulse.explore.base import SHORT_WARMUP, WARMUP
from interpulse.explore.controls import query, state_of
from interpulse.explore.die import KEYS, DieTimeline, timeline, waits
from interpulse.explore.plots import MOST_PINS, SLOTS
from interpulse.explore.simulation import Outcome, Simulator, StaleError

if TYPE_CHECKING:
    from bokeh.document import Document

PAUSE_S = 0.25
"""Time without a change before a longer window is simulated."""


class Link(DataModel):  # type: ignore[misc] # Bokeh has no types here
    """Both directions between page and server, as JSON."""

    wanted = String(default="")
    """Settings of the page, or what it asks for."""
    shown = String(default="")
    """What the page shows."""


@dataclass(frozen=True)
class Pin:
    """A result that stays."""

    letter: str
    label: str
    case: Mapping[str, Any]


class Session:
    """What one page shows. All methods but those that begin with `_work` run on the server's loop."""

    def __init__(self, doc: Document, simulator: Simulator, arguments: Mapping[str, list[bytes]]) -> None:
        """Adds the plots to the document; the page begins the simulation of the settings of the link."""
        self._doc, self._simulator = doc, simulator
        base = simulator.base
        given = [(name, each.decode(errors="replace")) for name, values in arguments.items() for each in values[-1:]]
        self.state, wrong = state_of(base.configured, [pair for pair in given if not pair[0].startswith("bokeh-")])
        self._generation = 0
        self._closed = False
        self._outcome: Outcome | None = None
        self._pins: dict[str, Pin] = {}
        self._shown: dict[str, Any] = {"error": "", "status": "", "link_errors": wrong, "pins": [], "die": ""}
        self._reads, self._writes = plots.tail("read", 400), plots.tail("write", 260)
        self._causes, self._die = plots.causes(260), plots.die_plot(220)
        self._link = Link(name="link")
        self._link.on_change("wanted", self._on_wanted)
        # A model that nothing refers to is no part of the document.
        self._reads.figure.tags = [self._link]
        with doc.models.freeze():
            for each in (self._reads, self._writes, self._causes, self._die):
                doc.add_root(each.figure)
        doc.on_session_destroyed(self._close)
        self._update(status="")

    def _close(self, _: object) -> None:
        self._closed = True
        self._outcome = None
        self._pins.clear()

    def _on_wanted(self, _attribute: str, _old: str, new: str) -> None:
        try:
            wanted = json.loads(new)
            values = wanted.get("values") if isinstance(wanted, dict) else None
            if values is not None:
                state, wrong = state_of(self._simulator.base.configured, [(str(k), str(v)) for k, v in values.items()])
                self._shown["link_errors"] = []
                self.state = state
                self._generation += 1
                if wrong:
                    self._refuse("; ".join(wrong))
                else:
                    self._simulate()
            elif isinstance(wanted, dict) and wanted.get("begin"):
                # What changes before the page is complete would be lost.
                self._simulate()
            elif isinstance(wanted, dict) and wanted.get("pin"):
                self._pin()
            elif isinstance(wanted, dict) and "unpin" in wanted:
                self._pins.pop(str(wanted["unpin"]), None)
                self._draw()
        except (ValueError, AttributeError) as error:
            self._refuse(f"the page sent what no control has: {error}")

    def _simulate(self) -> None:
        self._generation += 1
        self._update(status="simulating")
        self._submit(self._work, self._generation, dict(self.state))

    def _submit(self, work: Callable[..., None], *arguments: object) -> None:
        if not self._simulator.closing.is_set():
            self._simulator.pool.submit(work, *arguments)

    def _is_stale(self, generation: int) -> bool:
        return self._closed or generation != self._generation

    def _work(self, generation: int, state: dict[str, str]) -> None:
        """Simulates a first window, and a longer one where nothing changes meanwhile."""
        stale = partial(self._is_stale, generation)
        try:
            windows = self._simulator.windows(state)
            for place, requests in enumerate(windows):
                longer = place + 1 < len(windows)
                if place and self._simulator.closing.wait(PAUSE_S):
                    return
                setup = self._simulator.base.setup(state, requests, SHORT_WARMUP if longer else WARMUP)
                progress = partial(self._post, generation, self._report)
                outcome = self._simulator.run(setup, state, stale, progress, longer=longer)
                self._post(generation, self._show, outcome)
                rows = self._simulator.follow(outcome, state, stale)
                self._post(generation, self._show_die, timeline(rows, outcome.slowest), waits(outcome.slowest))
        except StaleError:
            pass
        except (ConfigError, RunError) as error:
            self._post(generation, self._refuse, str(error))
        except Exception as error:  # noqa: BLE001 - the page would wait for ever
            self._post(generation, self._refuse, f"{type(error).__name__}: {error} (please report this: it is a bug)")

    def _post(self, generation: int, function: Callable[..., None], *arguments: object) -> None:
        """Calls a function on the loop, unless something has changed by then."""

        def call() -> None:
            if not self._is_stale(generation):
                function(*arguments)

        if not self._is_stale(generation):
            self._doc.add_next_tick_callback(call)

    def _report(self, phase: str) -> None:
        self._update(status=f"simulating: {phase}")

    def _refuse(self, message: str) -> None:
        self._update(status="", error=message)

    def _show(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._shown["status"] = "shown"
        self._draw()

    def _show_die(self, it: DieTimeline, text: str) -> None:
        keys = self._die.show(it)
        status = "longer" if self._outcome is not None and self._outcome.longer else "ready"
        self._update(
            status=status,
            die_title=it.title,
            die=view.in_symbols(text),
            die_legend=view.legend(KEYS[key] for key in keys),
        )

    def _draw(self) -> None:
        """Everything that follows from the current result and the pinned ones."""
        outcome = self._outcome
        if outcome is None:
            return
        now = outcome.cases[-1]
        of: dict[str, Mapping[str, Any]] = {"now": now}
        if len(outcome.cases) > 1:
            of["without"] = outcome.cases[0]
        of |= {f"pin{'ABCD'.index(letter)}": pin.case for letter, pin in self._pins.items()}
        self._reads.show(of)
        self._writes.show(of)
        requests, causes = self._causes.show(of)
        keys = plots.cause_keys(causes)
        self._update(
            error="",
            **view.answers(outcome),
            **view.export(outcome),
            cards=view.cards(outcome.cases),
            exact=view.exact(outcome),
            tail_legend=view.legend(SLOTS[slot] for slot in SLOTS if slot in of),
            causes_of=requests,
            causes_legend=view.legend(keys),
            pins=[
                {"letter": pin.letter, "label": pin.label, "figures": view.compared(pin.case, now)}
                for pin in self._pins.values()
            ],
            full=len(self._pins) >= MOST_PINS,
        )

    def _pin(self) -> None:
        if self._outcome is None or len(self._pins) >= MOST_PINS:
            return
        letter = next(each for each in "ABCD" if each not in self._pins)
        label = view.described(self.state, self._simulator.base.configured)
        self._pins[letter] = Pin(letter, label, self._outcome.cases[-1])
        self._pins = dict(sorted(self._pins.items()))
        self._draw()

    def _update(self, **changes: Any) -> None:  # noqa: ANN401 - JSON
        self._shown |= changes
        self._shown["query"] = query(self._simulator.base.configured, self.state)
        self._shown["generation"] = self._generation
        self._link.shown = json.dumps(self._shown)
