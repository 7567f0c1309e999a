"""Wrong inputs of features with own sections: SLC cache, mapping cache, placement, zones, wear-out, plane reads.

The generated inputs try each key by itself; these keys contradict each other, the drive or its load, or their values
are of a wrong kind or far out of range. The message has to name the file with its line, the key, and the value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.hostile.records import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = """\
drive = "a4-mini"
[part]
[cache]
size = "1MiB"
[ftl]
[run]
requests = 10
[[flow]]
"""
"""A page-mapped drive of four channels with four dies each."""

SLC = """\
drive = "p5430"
[geometry]
channels = 4
chips-per-channel = 2
[part]
blocks-per-plane = 64
pages-per-block = 768
[part.slc-mode]
loops = 5
pulse = "20us"
verify = "20us"
read = "35us"
endurance = 30000
[cache]
size = "16MiB"
[ftl]
[ftl.slc-cache]
kind = "dynamic"
size = "192MiB"
[run]
requests = 10
[[flow]]
"""
"""A drive of four bits per cell with an SLC cache."""

ZONED = """\
drive = "a4-mini"
[ftl]
family = "zoned"
over-provisioning = "7%"
zone-width = 1
zone-rows = 8
[cache]
size = "1MiB"
[run]
requests = 10
[[flow]]
zones = "append"
block-size = "64KiB"
"""
"""A zoned drive of zones of one lane."""

CHUNKED = """\
drive = "a4-mini"
[ftl]
family = "open-channel"
over-provisioning = "7%"
[run]
requests = 10
[[flow]]
zones = "vector"
"""
"""An Open-Channel drive."""

LOGGED = """\
drive = "a4-mini"
[ftl]
family = "log-block"
log-blocks = 2
[cache]
size = "1MiB"
[run]
requests = 10
[[flow]]
read = 0.5
"""
"""A drive with log blocks."""

WORN = """\
drive = "a4-mini"
[part]
blocks-per-plane = 32
endurance = 40
[ftl]
bad-block-reserve = "6%"
[faults]
wear-out = "lognormal"
endurance-spread = 0.1
[run]
requests = 10
[[flow]]
"""
"""A drive whose blocks wear out."""

Change = tuple[str, str, str]
"""What is wrong, the section, and its lines: a key that the section has is replaced."""

OF_SLC: tuple[Change, ...] = (
    ("a size without a unit", "ftl.slc-cache", "size = 192"),
    ("a size of nothing", "ftl.slc-cache", 'size = "0B"'),
    ("a size below zero", "ftl.slc-cache", 'size = "-1MiB"'),
    ("a time as a size", "ftl.slc-cache", 'size = "20ms"'),
    ("a size beyond the drive", "ftl.slc-cache", 'size = "900TiB"'),
    ("a size beyond all numbers", "ftl.slc-cache", 'size = "99999999999TiB"'),
    ("a size as a list", "ftl.slc-cache", 'size = ["1MiB"]'),
    ("a kind of another case", "ftl.slc-cache", 'kind = "Static"'),
    ("a kind as true", "ftl.slc-cache", "kind = true"),
    ("a largest write of nothing", "ftl.slc-cache", 'admission = "small-writes"\nlargest-write = "0B"'),
    ("a largest write as a share", "ftl.slc-cache", 'admission = "small-writes"\nlargest-write = "50%"'),
    ("a largest write of all writes", "ftl.slc-cache", 'largest-write = "64KiB"'),
    ("admission by handle without handles", "ftl.slc-cache", 'admission = "by-handle"\nadmitted-handles = [1]'),
    ("no admitted handle", "ftl.slc-cache", 'admission = "by-handle"\nadmitted-handles = []'),
    ("an admitted handle twice", "ftl.slc-cache", 'admission = "by-handle"\nadmitted-handles = [1, 1]'),
    ("an admitted handle by name", "ftl.slc-cache", 'admission = "by-handle"\nadmitted-handles = ["hot"]'),
    ("an admission that does not exist", "ftl.slc-cache", 'admission = "hot"'),
    ("an idle delay of nothing", "ftl.slc-cache", 'idle-delay = "0s"'),
    ("an idle delay of a month", "ftl.slc-cache", 'idle-delay = "2600000s"'),
    ("an idle delay without a unit", "ftl.slc-cache", "idle-delay = 100"),
    ("folding above more than all", "ftl.slc-cache", 'fold-above = "180%"'),
    ("folding above nothing", "ftl.slc-cache", 'fold-above = "0%"'),
    ("folding below without above", "ftl.slc-cache", 'fold-below = "40%"'),
    ("folding below what is above", "ftl.slc-cache", 'fold-above = "40%"\nfold-below = "80%"'),
    ("folding below as far as above", "ftl.slc-cache", 'fold-above = "40%"\nfold-below = "40%"'),
    ("no loops", "part.slc-mode", "loops = 0"),
    ("half a loop", "part.slc-mode", "loops = 1.5"),
    ("a pulse of nothing", "part.slc-mode", 'pulse = "0us"'),
    ("a pulse of an hour", "part.slc-mode", 'pulse = "3600s"'),
    ("an endurance of nothing", "part.slc-mode", "endurance = 0"),
    ("a read as a rate", "part.slc-mode", 'read = "35MT/s"'),
    ("a cache with hotness", "ftl", 'hotness = "update-interval"'),
    ("a cache without blocks", "ftl", 'gc = "imposed"\nimposed-waf = 2.0'),
    ("a cache beside super word lines", "ftl", 'allocation = "super-word-line"'),
    ("a cache with handles", "ftl", 'placement = "fdp"'),
)

OF_PAGE: tuple[Change, ...] = (
    ("a map size without a cache", "ftl", 'map-cache-size = "1MiB"'),
    ("a mapping of another name", "ftl", 'mapping = "dftl"'),
    ("a map cache of nothing", "ftl", 'mapping = "cached"\nmap-cache-size = "0B"'),
    ("a map cache of one byte", "ftl", 'mapping = "cached"\nmap-cache-size = "1B"'),
    ("a map cache as a number", "ftl", 'mapping = "cached"\nmap-cache-size = 4096'),
    ("a map cache of all memory", "ftl", 'mapping = "cached"\nmap-cache-size = "65GiB"'),
    ("a map cache below one page", "ftl", 'mapping = "cached"\nmap-cache-format = "pages"\nmap-cache-size = "512B"'),
    ("a partition that is none", "ftl", 'mapping = "cached"\nmap-cache-partition = "by-flow"'),
    ("shares of a shared cache", "ftl", 'mapping = "cached"\nmap-cache-shares = [1]'),
    ("too many shares", "ftl", 'mapping = "cached"\nmap-cache-partition = "by-queue"\nmap-cache-shares = [1, 2]'),
    ("a share of nothing", "ftl", 'mapping = "cached"\nmap-cache-partition = "by-queue"\nmap-cache-shares = [0]'),
    ("a format that is none", "ftl", 'mapping = "cached"\nmap-cache-format = "learned"'),
    ("a replacement that is none", "ftl", 'mapping = "cached"\nmap-cache-replacement = "arc"'),
    (
        "a protected share of all",
        "ftl",
        'mapping = "cached"\nmap-cache-replacement = "segmented-lru"\nmap-cache-protected = 1',
    ),
    (
        "a protected share of no segments",
        "ftl",
        'mapping = "cached"\nmap-cache-replacement = "lru"\nmap-cache-protected = 0.5',
    ),
    ("a prefetch below zero", "ftl", 'mapping = "cached"\nmap-prefetch = -1'),
    ("a prefetch of everything", "ftl", 'mapping = "cached"\nmap-prefetch = 1025'),
    ("a batch of nothing", "ftl", 'mapping = "cached"\nmap-write-batch = 0'),
    ("half a batch", "ftl", 'mapping = "cached"\nmap-write-batch = 2.5'),
    ("a batch beyond memory", "ftl", 'mapping = "cached"\nmap-write-batch = 4097'),
    ("a cached map without blocks", "ftl", 'mapping = "cached"\ngc = "imposed"\nimposed-waf = 2.0'),
    ("handles without placement", "ftl", "placement-handles = 4"),
    ("no handle", "ftl", 'placement = "fdp"\nplacement-handles = 0'),
    ("65 handles", "ftl", 'placement = "fdp"\nplacement-handles = 65'),
    ("groups without placement", "ftl", "reclaim-groups = 2"),
    ("no group", "ftl", 'placement = "fdp"\nreclaim-groups = 0'),
    ("more groups than dies", "ftl", 'placement = "fdp"\nplacement-handles = 1\nreclaim-groups = 256'),
    ("more pairs than a byte", "ftl", 'placement = "fdp"\nplacement-handles = 64\nreclaim-groups = 8'),
    ("groups of streams", "ftl", 'placement = "streams"\nreclaim-groups = 2'),
    ("a group of a drive without", "flow", "reclaim-group = 1"),
    ("handles as text", "ftl", 'placement = "fdp"\nplacement-handles = "two"'),
    (
        "an isolated handle that is not there",
        "ftl",
        'placement = "fdp"\nplacement-handles = 2\npersistently-isolated = [2]',
    ),
    ("an isolated handle twice", "ftl", 'placement = "fdp"\nplacement-handles = 2\npersistently-isolated = [1, 1]'),
    ("an isolated handle as no list", "ftl", 'placement = "fdp"\nplacement-handles = 2\npersistently-isolated = 1'),
    ("an isolated handle below zero", "ftl", 'placement = "fdp"\nplacement-handles = 2\npersistently-isolated = [-1]'),
    ("isolation of streams", "ftl", 'placement = "streams"\npersistently-isolated = [0]'),
    ("handles with hotness", "ftl", 'placement = "fdp"\nhotness = "update-interval"'),
    ("handles without blocks", "ftl", 'placement = "fdp"\ngc = "imposed"\nimposed-waf = 2.0'),
    ("handles beside super word lines", "ftl", 'placement = "fdp"\nallocation = "super-word-line"'),
    ("a handle of a drive without", "flow", "placement-handle = 1"),
    ("a handle of no number", "flow", 'placement-handle = "a"'),
    ("a handle of 64", "flow", "placement-handle = 64"),
    ("log blocks on pages", "ftl", "log-blocks = 4"),
    ("zones on pages", "flow", 'zones = "append"'),
    ("open zones without zones", "flow", "open-zones = 4"),
    ("a zone width on pages", "ftl", "zone-width = 1"),
    ("conventional zones on pages", "ftl", "conventional-zones = 2"),
    ("open zones on pages", "ftl", "max-open = 4"),
    ("independent reads as a word", "part", 'independent-plane-reads = "yes"'),
    ("independent reads as a number", "part", "independent-plane-reads = 1"),
    ("an interface that is none", "part", 'interface = "onfi-9.0"'),
    ("a window without its policy", "ftl", 'gc = "greedy"\ngc-oldest = 4'),
    ("a window of nothing", "ftl", 'gc = "windowed-greedy"\ngc-oldest = 0'),
)

OF_ZONED: tuple[Change, ...] = (
    ("a width of nothing", "ftl", "zone-width = 0"),
    ("a width beyond the dies", "ftl", "zone-width = 65536"),
    ("a width that does not divide the lanes", "ftl", "zone-width = 3"),
    ("a width as a share", "ftl", 'zone-width = "50%"'),
    ("more conventional zones than the drive", "ftl", "conventional-zones = 60000"),
    ("a negative number of conventional zones", "ftl", "conventional-zones = -1"),
    ("conventional zones as a share", "ftl", 'conventional-zones = "50%"'),
    ("rows of nothing", "ftl", "zone-rows = 0"),
    ("rows beyond the blocks", "ftl", "zone-rows = 4096"),
    ("no active zone", "ftl", "max-active = 0"),
    ("no open zone", "ftl", "max-open = 0"),
    ("more open than active", "ftl", "max-open = 8\nmax-active = 4"),
    ("a reset at no time", "ftl", 'zone-reset = "never"'),
    ("a victim policy of zones", "ftl", 'gc = "greedy"'),
    ("a mapping cache of zones", "ftl", 'mapping = "cached"'),
    ("handles of zones", "ftl", 'placement = "fdp"'),
    ("hotness of zones", "ftl", 'hotness = "update-interval"'),
    ("a family that is none", "ftl", 'family = "hybrid"'),
    ("a larger block than a unit", "flow", 'block-size = "3KiB"'),
    ("open zones of nothing", "flow", "open-zones = 0"),
    ("more open zones than the drive", "flow", "open-zones = 60000"),
    ("zones of no kind", "flow", 'zones = "random"'),
    ("zones and skewed addresses", "flow", 'address = "zipf"'),
)

OF_CHUNKED: tuple[Change, ...] = (
    ("chunks of no block", "ftl", "chunk-blocks = 0"),
    ("chunks of more blocks than the unit has", "ftl", "chunk-blocks = 4096"),
    ("no open chunk", "ftl", "max-open-chunks = 0"),
    ("open chunks as a share", "ftl", 'max-open-chunks = "10%"'),
    ("a width of zones of chunks", "ftl", "zone-width = 1"),
    ("a victim policy of chunks", "ftl", 'gc = "greedy"'),
    ("a write across no chunk", "flow", "vector-width = 0"),
    ("a write across more chunks than its list holds", "flow", "vector-width = 6\nopen-zones = 6"),
    ("a write across other chunks than are open", "flow", "vector-width = 2\nopen-zones = 3"),
    ("a read of no place", "flow", "vector-places = 0"),
    ("a read of more places than its list holds", "flow", 'vector-places = 33\nblock-size = "8KiB"'),
    ("a unit that the drive has not", "flow", "first-unit = 8"),
    ("more units than the drive has", "flow", "first-unit = 4\nparallel-units = 5"),
    ("appends to chunks", "flow", 'zones = "append"'),
)

OF_LOGGED: tuple[Change, ...] = (
    ("no log block", "ftl", "log-blocks = 0"),
    ("more log blocks than the lane has", "ftl", "log-blocks = 65536"),
    ("log blocks as a share", "ftl", 'log-blocks = "10%"'),
    ("an association that is none", "ftl", 'log-block-association = "sector"'),
    ("merges of sub-blocks that the part has not", "ftl", 'log-block-merge = "sub-blocks"'),
    ("a limit of erases of sub-blocks of whole blocks", "ftl", "max-sub-block-erases = 3"),
    ("a victim policy of log blocks", "ftl", 'gc = "greedy"'),
    ("a mapping cache of log blocks", "ftl", 'mapping = "cached"'),
    ("zones of log blocks", "ftl", "zone-rows = 2"),
    ("writes through to log blocks", "cache", 'acknowledge = "when-programmed"'),
    ("zones written on log blocks", "flow", 'zones = "append"'),
)

OF_WORN: tuple[Change, ...] = (
    ("a wear of no kind", "faults", 'wear-out = "weibull"'),
    ("a spread of nothing", "faults", "endurance-spread = 0"),
    ("a spread of all", "faults", "endurance-spread = 0.9"),
    ("a spread as a time", "faults", 'endurance-spread = "1ms"'),
    ("a spread of equal blocks", "faults", 'wear-out = "equal"\nendurance-spread = 0.1'),
    ("bad blocks below zero", "faults", "factory-bad-blocks = -0.01"),
    ("more bad blocks than half", "faults", 'factory-bad-blocks = "51%"'),
    ("bad blocks beyond the reserve", "faults", 'factory-bad-blocks = "40%"'),
    ("a program that always fails", "faults", 'program-failure = "100%"'),
    ("an erase that always fails", "faults", "erase-failure = 1"),
    ("a failure that is no number", "faults", "erase-failure = nan"),
    ("a failure as true", "faults", "program-failure = true"),
    ("an unknown fault", "faults", "read-failure = 0.1"),
    ("a reserve of everything", "ftl", 'bad-block-reserve = "100%"'),
    ("a reserve below zero", "ftl", 'bad-block-reserve = "-6%"'),
    ("faults without blocks", "ftl", 'gc = "imposed"\nimposed-waf = 2.0'),
    ("no endurance", "part", "endurance = 0"),
)


def features() -> Iterator[Wrong]:
    """Configurations in which one key of a feature is wrong, or two contradict each other."""
    of_families = ((ZONED, OF_ZONED), (CHUNKED, OF_CHUNKED), (LOGGED, OF_LOGGED))
    for base, changes in ((PAGE, OF_PAGE), (SLC, OF_SLC), *of_families, (WORN, OF_WORN)):
        for about, section, lines in changes:
            text = changed(base, section, lines)
            keys = [line.partition(" = ")[0] for line in lines.split("\n")]
            yield Wrong(
                kind="config",
                about=about,
                text=text,
                names=tuple(f"{'flow.0' if section == 'flow' else section}.{key}" for key in keys),
                every=("mine.toml:",),
            )
    yield Wrong(
        kind="config",
        about="small writes without a size",
        text=changed(SLC, "ftl.slc-cache", 'admission = "small-writes"'),
        names=("ftl.slc-cache.largest-write",),
        every=("mine.toml:",),
    )


def changed(base: str, section: str, lines: str) -> str:
    """The base with these lines at the start of a section, and without its own of the same keys."""
    head = "[[flow]]\n" if section == "flow" else f"[{section}]\n"
    before, found, after = base.partition(head)
    assert found, f"the base has no {head}"
    own, at, rest = after.partition("\n[")
    for line in lines.split("\n"):
        own = re.sub(rf"(?m)^{re.escape(line.partition(' = ')[0])} = .*\n?", "", own)
    return f"{before}{head}{lines}\n{own}{at}{rest}"
