"""The sections of a page about runs, one in each file."""
