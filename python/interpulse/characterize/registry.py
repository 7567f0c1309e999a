"""The kinds of characterization: what `interpulse characterize` knows, one entry each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from interpulse.experiments.registry import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from interpulse.characterize.bench import Bench
    from interpulse.characterize.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind; its code is loaded when it runs."""

    name: str
    summary: str
    source: str
    quick: str
    """How long `--quick` takes on two cores, as measured."""
    full: str
    """How long all of it takes on two cores, as measured."""
    preset: str
    """The preset of cells that it measures unless told otherwise."""
    takes: tuple[str, ...] = ()
    """The options of the command line that only some kinds have, such as `scheme`."""
    module: str
    """The module whose function `run` takes a `Bench` and returns a `Finding`."""

    def run(self, bench: Bench) -> Finding:
        """Measures. Raises as `Bench.run` does."""
        function = cast("Callable[[Bench], Finding]", import_module(self.module).run)
        return function(bench)


KINDS: tuple[Kind, ...] = (
    Kind(
        name="suspend",
        summary="program suspension at chosen delays: suspends, time to enter, program time, bit errors, current",
        source="Zambelli et al., Electronics 2021, Figures 3 to 9",
        quick="10 s",
        full="45 s",
        preset="a4-tlc",
        takes=("scheme", "poll", "word_lines", "cells"),
        module="interpulse.characterize.suspend",
    ),
    Kind(
        name="erase",
        summary="erase suspension: stress, over-erase, uncorrectable errors and lifetime under every design of ATC'19",
        source="Kim et al., ATC'19, problem 2",
        quick="3 s",
        full="7 s",
        preset="a4-tlc",
        takes=("word_lines", "cells"),
        module="interpulse.characterize.erase",
    ),
    Kind(
        name="retention",
        summary="bit errors against time, temperature, wear, reads and layer; how long data keeps; an error table",
        source="Cai et al., Proceedings of the IEEE 2017, Tables 4 and 5",
        quick="5 s",
        full="30 s",
        preset="a4-tlc",
        takes=("word_lines", "cells"),
        module="interpulse.characterize.retention",
    ),
    Kind(
        name="endurance",
        summary="program and erase times and bit errors against wear; the cycles that the ECC allows",
        source="Cho et al., AERO, ASPLOS 2024; Cai et al., Proceedings of the IEEE 2017, Table 4",
        quick="3 s",
        full="20 s",
        preset="a4-tlc",
        takes=("word_lines", "cells"),
        module="interpulse.characterize.endurance",
    ),
    Kind(
        name="reprogram",
        summary="a TLC block reprogrammed in random order within one to four layers: page errors, threshold voltages",
        source="Gao et al., MICRO 2019, Tables 2 and 3, Figures 5 and 6",
        quick="10 s",
        full="25 s",
        preset="b17a-tlc",
        module="interpulse.characterize.reprogram",
    ),
)


def find(name: str) -> Kind:
    """The kind of this name.

    Raises:
        ConfigError: there is none; the message has the names that there are, a near one first.
    """
    return named(name, KINDS, "kind of characterization")
