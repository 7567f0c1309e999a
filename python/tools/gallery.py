"""Pictures of docs/gallery and the page docs/GALLERY.md (`make gallery`).

Arguments are names of pictures (`train.svg`). Without arguments all pictures are drawn and other files of the folder
are deleted. `--check` writes nothing and compares pictures with the stored files, except pictures from a browser.
Charts of reports and timelines need a browser: Playwright and a Chromium, which INTERPULSE_BROWSER may name. Their
fonts depend on the browser; all other pictures are byte-identical on every machine.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallery_browser import Browser
from gallery_table import PARTS, Picture, pictures
from PIL import Image

from interpulse.cli import run_app

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "docs" / "gallery"
PAGE = ROOT / "docs" / "GALLERY.md"

COLOURS = 96
"""Colours of a PNG: enough for smooth edges, at a third of the size."""

HEAD = """# Gallery

Pictures that the program draws, each with its command; other output of a command is in the same folder.
`make gallery` redraws the pictures and rewrites this page.
"""


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for part in PARTS:
        parts.append(f"\n## {part.title}\n\n{part.text}\n")
        for each in part.pictures:
            view = f"\n    interpulse view {_out(each)}/{each.view}" if each.view else ""
            shown = f"![{each.title}](gallery/{each.name})"
            parts.append(f"\n### {each.title}\n\n{each.says}\n\n{shown}\n\n    {each.command}{view}\n")
    return "".join(parts)


def main(arguments: Sequence[str]) -> int:
    """Runs the commands, draws the pictures and writes the page; returns the exit code of the first failed command."""
    os.chdir(ROOT)
    # Pictures use twins of traces, which every user has, not the traces.
    os.environ.pop("INTERPULSE_TRACES", None)
    check, names = "--check" in arguments, [each for each in arguments if each != "--check"]
    unknown = set(names) - {each.name for each in pictures()}
    if unknown:
        print(f"error: no picture is called {', '.join(sorted(unknown))}", file=sys.stderr)  # noqa: T201
        return 2
    wanted = [each for each in pictures() if not names or each.name in names]
    for command in dict.fromkeys(each.command for each in wanted if not each.explore):
        code = _run(command)
        if code:
            return code
    with Browser() as browser:
        drawn = {each.name: _content(each, browser) for each in wanted}
    return _compare(drawn) if check else _store(drawn, whole=not names)


def _compare(drawn: Mapping[str, bytes]) -> int:
    """Prints the stored files that differ from the drawn pictures."""
    shown = {each.name for each in pictures() if each.chart or each.view or each.explore}
    old = [name for name in drawn if name not in shown and (FOLDER / name).read_bytes() != drawn[name]]
    for name in old:
        print(f"differs: docs/gallery/{name}; run `make gallery`")  # noqa: T201
    print(f"all {len(drawn)} pictures were drawn; {len(drawn) - len(shown & set(drawn)) - len(old)} are the same bytes")  # noqa: T201
    return 1 if old else 0


def _store(drawn: Mapping[str, bytes], *, whole: bool) -> int:
    """Writes the pictures and the page."""
    FOLDER.mkdir(exist_ok=True)
    for name, content in drawn.items():
        (FOLDER / name).write_bytes(content)
        print(f"drew docs/gallery/{name}")  # noqa: T201
    for path in FOLDER.iterdir() if whole else ():
        if path.name not in drawn:
            path.unlink()
    PAGE.write_text(page(), encoding="utf-8")
    return 0


def _run(command: str) -> int:
    """Runs a command of the page with an empty output folder."""
    print(f"$ {command}", flush=True)  # noqa: T201
    words = shlex.split(command)
    out = Path(words[words.index("--out") + 1])
    if out.is_dir():
        shutil.rmtree(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    return run_app(words[1:])


def _out(picture: Picture) -> str:
    words = shlex.split(picture.command)
    return words[words.index("--out") + 1]


def _content(picture: Picture, browser: Browser) -> bytes:
    """The picture as a file."""
    if picture.explore:
        return _small(browser.explore(picture))
    out = Path(_out(picture))
    if picture.table:
        return _swept(out / "results.parquet")
    if picture.figure:
        return _barred(out / "result.json", picture)
    if picture.rate:
        return _over_time(out, picture)
    if picture.file:
        content = (out if out.is_file() else out / picture.file).read_bytes()
        return content if picture.name.endswith(".svg") else _small(Image.open(io.BytesIO(content)))
    shown = browser.timeline(out / picture.view, picture) if picture.view else browser.chart(out, picture)
    return _small(shown)


def chart_of(report: Path, chart: str) -> bytes:
    """A chart of a report that is in a folder, as a PNG."""
    with Browser() as browser:
        return _small(browser.chart(report, Picture(name="", title="", command="", says="", chart=chart)))


def _small(picture: Image.Image) -> bytes:
    """A PNG with few colours."""
    file = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return file.getvalue()


def _barred(result: Path, picture: Picture) -> bytes:
    """A bar of a figure for each case that has it, in the order of the cases."""
    from interpulse.plotting.plots import Plot, to_bytes

    values: dict[str, float] = {}
    for case in json.loads(result.read_text())["cases"]:
        of: Any = case["seeds"][0]
        for key in picture.figure.split("."):
            of = of.get(key) if of else None
        if of is not None:
            values[case["case"]] = of / picture.unit
    [(_, content)] = to_bytes(Plot("bars", lambda: _draw_bars(values, picture.axis)), ["svg"])
    return content


def _draw_bars(values: Mapping[str, float], label: str) -> Figure:
    from interpulse.plotting.plots import COLOURS as INKS
    from interpulse.plotting.plots import panels

    figure, [axis] = panels(1, 1, width=6.4, height=0.9 + 0.32 * len(values))
    bars = axis.barh(list(values), list(values.values()), color=INKS[0], height=0.6)
    axis.bar_label(bars, [f"{value:.3g}" for value in values.values()], padding=3)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    axis.set(xlabel=label)
    return figure


def _over_time(out: Path, picture: Picture) -> bytes:
    """MB/s of each case over time, in the order of the cases."""
    import polars

    from interpulse.plotting.plots import Plot, to_bytes

    names = [case["case"] for case in json.loads((out / "result.json").read_text())["cases"]]
    lines = {}
    for name in names:
        rows = polars.read_parquet(out / f"{name}.series.parquet").filter(polars.col("length_ns") > 0)
        starts = [ns / 1e9 for ns in rows["start_ns"]]
        rates = [1e3 * count / ns for count, ns in zip(rows[picture.rate], rows["length_ns"], strict=True)]
        lines[name] = (starts, rates)
    [(_, content)] = to_bytes(Plot("over-time", lambda: _draw_lines(lines, picture.axis)), ["svg"])
    return content


def _draw_lines(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], label: str) -> Figure:
    from interpulse.plotting.plots import COLOURS as INKS
    from interpulse.plotting.plots import legend_outside, panels

    figure, [axis] = panels(1, 1, width=6.4, height=3.2)
    for ink, (name, (times, values)) in zip(INKS, lines.items(), strict=False):
        axis.step(times, values, where="post", color=ink, linewidth=1.4, label=name)
    axis.set(xlabel="time in the window, s", ylabel=label)
    axis.set_ylim(bottom=0)
    legend_outside(figure, axis)
    return figure


def _swept(table: Path) -> bytes:
    """Plot of read and write percentiles of all points of a sweep, means over seeds."""
    import polars

    from interpulse.plotting.plots import Plot, to_bytes

    means = (
        polars.read_parquet(table)
        .group_by("depth", "read", "suspension")
        .agg(polars.col("read_p99_us", "write_p99_us").mean())
        .sort("read", "suspension", "depth")
    )
    [(_, content)] = to_bytes(Plot("swept", lambda: _draw_swept(means.to_dicts())), ["svg"])
    return content


def _draw_swept(points: Sequence[dict[str, Any]]) -> Figure:
    from interpulse.plotting.plots import COLOURS as INKS
    from interpulse.plotting.plots import legend_outside, logarithmic, panels

    figure, axes = panels(1, 2, height=3.4)
    for axis, kind in zip(axes, ("read", "write"), strict=True):
        for ink, share in enumerate(sorted({each["read"] for each in points})):
            for scheme, line in (("none", "--"), ("loop-boundary", "-")):
                of = [each for each in points if (each["read"], each["suspension"]) == (share, scheme)]
                label = f"{share:.0%} reads" if line == "-" else None
                like: dict[str, Any] = {"color": INKS[ink], "linestyle": line, "marker": "o", "markersize": 3}
                axis.plot([e["depth"] for e in of], [e[f"{kind}_p99_us"] for e in of], label=label, **like)
        axis.set(xlabel="queue depth", ylabel=f"99th percentile of {kind}s, us")
        logarithmic(axis, x=True, y=True)
        axis.set_xticks([1, 4, 16, 64])
    axes[0].plot([], [], color="#555555", linestyle="--", label="without suspension")
    legend_outside(figure, axes[0])
    return figure


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
