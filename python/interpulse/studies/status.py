"""Status of a row: what its agreement with the published figure is worth as evidence."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Every row has one; those that compare with a published figure say why in `why`."""

    CALIBRATED = "calibrated"
    """A choice was made so that this figure comes out; `why` says which, and on what."""
    FITTED = "fitted"
    """It follows from the model, but a choice was made with it in view."""
    BY_CONSTRUCTION = "by-construction"
    """What was given or calibrated leaves it hardly any other value."""
    BLIND = "blind"
    """Its set-up was recorded before its published figure was looked up (`studies/blind.py`)."""
    UNTUNED = "untuned"
    """Nothing was chosen with it in view, and no free choice is known that moves it far; no history proves it."""
    ASSUMED = "assumed"
    """Free choices that the paper does not print move it; `why` names them."""
    PAPER_INCONSISTENT = "paper-inconsistent"
    """The paper's own figures contradict it; `why` says which."""
    SENSITIVITY = "sensitivity"
    """One choice changed, beside the figure that it may explain; no row of the published figures."""
    OURS = "ours"
    """It compares with no published figure."""


WRITTEN = tuple(status for status in Status if status is not Status.SENSITIVITY)
"""What a row of published figures may be."""

SILENT = (Status.BLIND, Status.UNTUNED, Status.OURS)
"""What needs no reason."""
