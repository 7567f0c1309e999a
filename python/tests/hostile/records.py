"""What is asked, what is answered, and the rules: the answer to a wrong input is a refusal that names what is wrong."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import Any

NEVER = ("Traceback", "panicked", "please report", "stopped on a bug", "RUST_BACKTRACE", "most recent call last")
"""What no message to a user says."""

LONGEST = 4000
"""Characters of the longest message that somebody reads."""

USER_ERROR = 2


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A wrong input, and what the answer has to name: one of `names`."""

    kind: str
    """`config`, `command` or `python`, as the worker tells them apart."""
    about: str
    """What is wrong with it."""
    names: tuple[str, ...]
    text: str = ""
    """The configuration or the Python code."""
    sets: tuple[tuple[str, str], ...] = ()
    argv: tuple[str, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    """Files beside which it runs, by name."""
    every: tuple[str, ...] = ()
    """What the message has to say besides."""
    absent: tuple[str, ...] = ()
    """What the message must not say."""

    def task(self) -> str:
        """The line that the worker reads."""
        files = [(name, content.hex()) for name, content in self.files]
        return json.dumps({"kind": self.kind, "text": self.text, "sets": self.sets, "argv": self.argv, "files": files})

    def shown(self) -> str:
        """The input, so that one can try it by hand."""
        if self.kind == "config":
            sets = " ".join(shlex.quote(f"--set={key}={value}") for key, value in self.sets)
            return f"{self.about}: interpulse show FILE {sets}\nFILE:\n{self.text}"
        what = f"interpulse {shlex.join(self.argv)}" if self.kind == "command" else self.text
        files = "".join(f"\n{name}: {content[:400]!r}" for name, content in self.files)
        return f"{self.about}: {what}{files}"

    def verdict(self, answer: Answer) -> str | None:
        """What is wrong with the answer; None for nothing."""
        message = answer.message
        if answer.outcome != "refused":
            return f"{answer.outcome}: {message[-1500:]}"
        if answer.code not in (None, USER_ERROR):
            return f"exit code {answer.code}: {message}"
        if any(word in message for word in NEVER):
            return f"the message speaks of a bug: {message}"
        if not message.strip() or len(message) > LONGEST + len(self.task()):
            return f"a message of {len(message)} characters: {message[:300]}"
        if any(not c.isprintable() and c != "\n" for c in message):
            return f"the message moves the cursor: {message!r}"
        if not any(name in message for name in self.names):
            return f"the message names none of {self.names}: {message}"
        missing = [word for word in self.every if word not in message]
        if missing:
            return f"the message does not say {missing}: {message}"
        said = [word for word in self.absent if word in message]
        return f"the message says {said}: {message}" if said else None


@dataclass(frozen=True)
class Answer:
    """What became of an input."""

    outcome: str
    """`refused`, `accepted`, `crashed` or `hung`."""
    message: str = ""
    code: int | None = None
    """The exit code, of a command."""


@dataclass
class Report:
    """How many were judged, and what was wrong."""

    judged: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, shown: str, verdict: str | None) -> None:
        """One more, with what is wrong with it."""
        self.judged += 1
        if verdict is not None:
            self.failures.append(f"{verdict}\n    {shown}")

    def check(self) -> None:
        """Fails with everything that was wrong."""
        assert not self.failures, f"{len(self.failures)} of {self.judged}:\n\n" + "\n\n".join(self.failures[:60])


def answer_of(line: str) -> Answer:
    """The answer that a worker's line holds."""
    said: dict[str, Any] = json.loads(line)
    return Answer(**said)
