"""Selection of cases by name (`--case`)."""

from __future__ import annotations

from interpulse._core import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def positions(names: Sequence[str], wanted: Sequence[str] | None) -> list[int]:
    """The positions of the selected cases, in the order of the configuration; all without a selection.

    Raises:
        ConfigError: there is no such case.
    """
    for name in wanted or ():
        if name not in names:
            raise ConfigError(f"--case {name}: there is no such case; expected one of {', '.join(names)}")
    return [at for at, name in enumerate(names) if not wanted or name in wanted]
