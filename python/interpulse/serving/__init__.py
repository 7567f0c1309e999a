"""Clients of a served drive."""
