"""Import report: what became of every parameter, as a page and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from interpulse.importing.draft import Draft
from interpulse.importing.kinds import plain
from interpulse.importing.parameters import Parameter, Values, nearest


@dataclass(frozen=True)
class Imported:
    """An import: configurations, the values they come from, and the program."""

    program: str
    drafts: tuple[Draft, ...]
    sections: tuple[Values, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each parameter and each unknown name of the files."""
        return [row for values in self.sections for row in self._of(values)]

    def unknown(self) -> list[dict[str, Any]]:
        """Rows of names that the program does not have."""
        return [row for row in self.rows() if row["outcome"] == "unknown"]

    def document(self) -> dict[str, Any]:
        """The report as a JSON object."""
        return {
            "program": self.program,
            "configurations": [draft.name for draft in self.drafts],
            "parameters": self.rows(),
            "constants": [
                {"configuration": draft.name, "key": key, "value": plain(draft.settings[key].value), "reason": why}
                for draft in self.drafts
                for key, why in draft.constants
            ],
            "notes": [{"configuration": draft.name, "note": note} for draft in self.drafts for note in draft.notes],
        }

    def _of(self, values: Values) -> list[dict[str, Any]]:
        rows = [self._row(values, parameter) for parameter in values]
        for pair, reason in values.ignored:
            rows.append(_name(values, pair.name, pair.line, pair.text, "ignored", reason))
        for pair in values.unknown:
            like = nearest(pair.name, [name for each in values for name in (each.name, *each.also)])
            reason = f"{self.program} has no such parameter" + (f"; did you mean {like}?" if like else "")
            rows.append(_name(values, pair.name, pair.line, pair.text, "unknown", reason))
        return rows

    def _row(self, values: Values, parameter: Parameter) -> dict[str, Any]:
        source = values.found.get(parameter.name)
        place = (values.section, parameter.name)
        becomes: dict[str, str] = {}
        reasons: list[str] = []
        for draft in self.drafts:
            for key in draft.used.get(place, ()):
                shown = f"{key} = {plain(draft.settings[key].value)}"
                becomes[shown] = shown
            if place in draft.reasons and draft.reasons[place] not in reasons:
                reasons.append(draft.reasons[place])
        outcome = "mapped" if becomes else "without counterpart"
        value = values[parameter.name]
        return {
            "section": values.section,
            "file": values.file,
            "name": source[1].name if source else parameter.name,
            "line": source[1].line if source else None,
            "value": "" if value is None else plain(value),
            "default": source is None,
            "outcome": outcome if source or value is not None or becomes else "absent",
            "becomes": list(becomes),
            "reason": "; ".join(reasons) or ("" if becomes else parameter.text),
        }

    def markdown(self) -> str:
        """The report as a page."""
        document = self.document()
        lines = [f"# Import of {self.program} files", ""]
        lines += [f"Configurations: {', '.join(f'`{name}`' for name in document['configurations'])}.", ""]
        if document["notes"]:
            lines += ["## Notes", ""]
            lines += list(dict.fromkeys(f"- {each['note']}" for each in document["notes"]))
            lines.append("")
        unknown = self.unknown()
        if unknown:
            lines += ["## Names that are not parameters", "", "| name | place | reason |", "|---|---|---|"]
            lines += [f"| `{cell(r['name'])}` | {cell(r['file'])}:{r['line']} | {cell(r['reason'])} |" for r in unknown]
            lines.append("")
        for section in dict.fromkeys(row["section"] for row in document["parameters"]):
            rows = [row for row in document["parameters"] if row["section"] == section and row["outcome"] != "unknown"]
            lines += [f"## {section}", "", "| parameter | line | value | becomes |", "|---|---|---|---|"]
            lines += [_line(row) for row in rows]
            lines.append("")
        lines += ["## Keys that no parameter decides", "", "| key | value | reason |", "|---|---|---|"]
        shown = {f"| `{c['key']}` | {cell(c['value'])} | {cell(c['reason'])} |": None for c in document["constants"]}
        return "\n".join([*lines, *shown]) + "\n"


def cell(text: str) -> str:
    """Text of a table cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def _line(row: dict[str, Any]) -> str:
    became = "; ".join(f"`{cell(each)}`" for each in row["becomes"])
    reason = cell(row["reason"])
    text = f"{became}; {reason}" if became and reason else became or (f"no counterpart: {reason}" if reason else "")
    value = f"{cell(row['value'])} (default)" if row["default"] and row["value"] else cell(row["value"])
    return f"| `{cell(row['name'])}` | {row['line'] or ''} | {value} | {text or 'not given'} |"


def _name(values: Values, name: str, line: int, text: str, outcome: str, reason: str) -> dict[str, Any]:
    return {
        "section": values.section,
        "file": values.file,
        "name": name,
        "line": line,
        "value": text.strip()[:200],
        "default": False,
        "outcome": outcome,
        "becomes": [],
        "reason": reason,
    }
