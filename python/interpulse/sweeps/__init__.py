"""Sweeps: many configurations, on all cores of this machine or on a cluster, kept so that nothing runs twice."""
