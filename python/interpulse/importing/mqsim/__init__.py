"""MQSim: import and export of its two files."""
