"""XML reader of parameter files: bounded, without document types and entities of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from interpulse._core import ConfigError
from interpulse.files.paths import read_text, shown

MOST_BYTES = 4 * 2**20
_MOST_DEPTH = 16
_MOST_ELEMENTS = 100_000


@dataclass
class Element:
    """An element with its text and its line."""

    name: str
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)


def read_xml(path: str, what: str) -> Element:
    """The root element of a file.

    Raises:
        ConfigError: the file cannot be read, is no XML, or is larger, deeper or more than a parameter file.
    """
    text = read_text(path, what, MOST_BYTES)
    return parse_xml(text, shown(path))


def parse_xml(text: str, name: str) -> Element:
    """The root element of a text; `name` is what messages call it.

    Raises:
        ConfigError: as `read_xml`.
    """
    if not text.strip("\ufeff \t\r\n"):
        raise ConfigError(f"{name}: seen an empty file; expected XML")
    builder = _Builder(name)
    # MQSim does not look at closing tags; some of its files have a stray bracket there.
    text = re.sub(r"</<(?=[A-Za-z])", "</", text)
    # The text is UTF-8 by now, whatever the declaration says.
    parser = expat.ParserCreate(encoding="utf-8")
    builder.parser = parser
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.buffer_text = True
    try:
        parser.Parse(text.lstrip("\ufeff").encode(), True)
    except expat.ExpatError as error:
        why = expat.errors.messages.get(error.code, "not XML")
        raise ConfigError(f"{name}:{error.lineno}: seen {why}; expected XML whose elements are closed") from None
    if builder.root is None:
        raise ConfigError(f"{name}: seen no element; expected XML")
    return builder.root


class _Builder:
    """Handlers that build elements and refuse what no parameter file has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parser: expat.XMLParserType | None = None
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def _line(self) -> int:
        return self.parser.CurrentLineNumber if self.parser is not None else 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= _MOST_DEPTH or self._count > _MOST_ELEMENTS:
            what = f"{_MOST_DEPTH} levels" if len(self._open) >= _MOST_DEPTH else f"{_MOST_ELEMENTS} elements"
            raise ConfigError(f"{self.name}:{self._line()}: seen more than {what}; expected a parameter file")
        if attributes:
            first = next(iter(attributes))
            raise ConfigError(
                f"{self.name}:{self._line()}: {name[:100]}: seen the attribute {first[:100]!r}; expected the value "
                "between the tags"
            )
        element = Element(name, self._line())
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def data(self, text: str) -> None:
        if self._open:
            self._open[-1].text += text

    def doctype(self, *_: object) -> None:
        raise ConfigError(
            f"{self.name}:{self._line()}: seen a document type; expected none (entities of a file are not read)"
        )
