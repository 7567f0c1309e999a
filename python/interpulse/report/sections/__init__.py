"""Sections of a page about runs: one file each, with a function `section` (`report.registry` lists them)."""
