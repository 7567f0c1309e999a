"""Generator of docs/IMPORT.md from the declarations of the parameters (`make golden`).

A test compares the page with the declarations.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from interpulse.importing.kinds import plain
from interpulse.importing.parameters import Parameter
from interpulse.importing.registry import IMPORTERS
from interpulse.importing.report import cell

PAGE = Path(__file__).parent.parent.parent / "docs" / "IMPORT.md"

INTRODUCTION = """# Files of other simulators

    interpulse import mqsim ssdconfig.xml workload.xml --out imported
    interpulse run imported/scenario-1.toml
{commands}
The folder gets complete configurations, in which every value names the parameter that it comes from, and a report
(`import-report.md` and `.json`) that lists every parameter of the files with its value and what became of it: our keys
with their values, or the reason why it has no counterpart. Nothing is dropped: parameters that the file leaves out are
listed with the program's default, and names that the program does not have with the nearest name that it has. The
report also lists the keys that no parameter decides, with the reason: constants in the program's code, and choices.

- An import that a run would refuse is refused, with the parameter, its place and what is legal. Files that are wrong
  (values of another kind or out of range, parameters given twice, missing sections) are refused, too; up to twelve
  problems are reported at once.
- Paths of traces are looked for beside the file that names them.
- Existing files are kept unless `--force` is given.

## What MQSim does with its values

MQSim's code does something else with some values than its documentation says. By default an import follows the code, so
that runs can be compared; with `--as-written` it follows the file.

| subject | MQSim's code | with `--as-written` |
|---|---|---|
| dies of a chip | one operation of a chip at a time: the dies are planes of one die | dies |
| transfers | whole nanoseconds for each: 800 MT/s are 1,000; above 1,000 no time (imported as written) | the rate |
| write cache | a page of each plane: data is written back at once unless it was written shortly before | its capacity |
| suspension | never | as `CMD_Suspension_Support` says, with the thresholds |
| wear levelling | always on, static with a threshold of 100 | as the file says |
| collection | at least 10 free blocks of a plane, below which host writes stop | the thresholds of the file |
| `Time_Unit` | ignored: ns | the unit |

With the whole map in memory, a read of whole units at depth 1 takes exactly the time that it takes in MQSim: flash,
channel and ready/busy times are the same, and `host.firmware` is what the messages of its NVMe model take beyond our
link. What differs is in the report:

- Pages are mapped whole. A scenario that only reads gets a smaller `ftl.mapping-unit` if its requests are smaller,
  since a read of a part of a unit transfers the unit. Reads of less than 4 KiB transfer 4 KiB.
- Operations on several planes of a die that wait together join, as in MQSim, only where a chip has one die: the dies of
  others are planes here, all of which would join.
- MQSim's DRAM serves one access at a time, which can limit writes. Here it has a latency and no bandwidth.

Measured with MQSim at 7ec40e3 on a drive of 8 channels of 4 chips with pages of 4 KiB and the whole map in memory:
random reads at depth 1 take 88.906 us in both, at depth 16 120.3 us in MQSim and 120.5 us here in the mean, at depth 64
282.1 and 283.7 us; random writes at depth 16 490.7 and 494.3 us; the trace `wsrch-small` 92.6 and 92.7 us.
"""


EXPORT = """
## Export to MQSim

    interpulse export mqsim CONFIG --out exported

writes `ssdconfig.xml` and `workload.xml` with the drive and the flows of a configuration, and `export-report.md`:
values that MQSim rounds or replaces, and keys that it has no counterpart of. Arrays, namespaces, zoned drives, QLC,
twins and flows that write zones are refused. An import of what was exported has the same values.
"""

OTHERS = """
## The other programs

They have no workload file: an import of their drives reads 4 KiB at random at depth 1, or replays the trace that is
given (SSDSim, DiskSim). Without suspension, loops, ECC and metadata in their models, an operation is one pulse.

- **SSDSim**: `name = value;` lines of `page.parameters`. Comments may be in any encoding.
- **SimpleSSD**: the sections of its configuration files. Times are in ps; a MT has 1,048,576 transfers. A file without
  `[nvme]` is a drive of `[sata]`, or of `[ufs]`.
- **FEMU**: a launch script, whose variables are expanded up to `-device femu,...`, or a list of properties. Black-box
  drives (`femu_mode=1`) only.
- **NVMeVirt**: `ssd_config.h`, whose expressions are evaluated; `Kbuild` chooses the model; a line with `memmap_size=`
  gives the capacity. Models with flash of pages (`SSD_TYPE_CONV`) only.
- **DiskSim**: the block `ssdmodel_ssd` of a parv file. Times are in ms. Other blocks are listed.

All of these programs, and MQSim, may collect from a share of free blocks on that a full drive cannot keep free: fewer
than four blocks of a plane would be left to it. Collection then starts later, at most at half of the spare blocks, and
the report says so.
"""


def page() -> str:
    """The text of the page."""
    parts = [INTRODUCTION.format(commands=_commands()), EXPORT, OTHERS]
    for importer in IMPORTERS.values():
        module = import_module(f"interpulse.importing.{importer.module}")
        parts.append(f"\n## {importer.program}\n")
        parts += [_section(name, parameters) for name, parameters in module.PAGE]
    return "".join(parts)


def _commands() -> str:
    lines = []
    for name, importer in IMPORTERS.items():
        if name != "mqsim":
            files = " ".join(f if n < importer.least else f"[{f}]" for n, f in enumerate(importer.files))
            lines.append(f"    interpulse import {name} {files} --out imported\n")
    return "".join(lines)


def _section(name: str, parameters: tuple[Parameter, ...]) -> str:
    head = f"\n### {name}\n\n| parameter | takes | default | becomes | how, or why not |\n|---|---|---|---|---|\n"
    return head + "".join(_row(each) for each in parameters)


def _row(each: Parameter) -> str:
    names = f"`{each.name}`" + (f" (also `{'`, `'.join(each.also)}`)" if each.also else "")
    default = "" if each.default is None else f"`{plain(each.default)}`"
    keys = ", ".join(f"`{key}`" for key in each.keys) or "no counterpart"
    return f"| {names} | {cell(each.kind.legal)} | {default} | {keys} | {cell(each.text)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
