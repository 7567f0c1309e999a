"""Latency causes: names and colours."""

from __future__ import annotations

from interpulse.report.charts import colour

CAUSES = {
    "host_reads": "behind other reads of the host at its die",
    "programs": "behind programs of the host at its die",
    "erases": "behind erases at its die",
    "gc": "behind garbage collection at its die",
    "stop": "for a program or erase to reach a point where it may stop",
    "suspend": "while a suspension was entered, kept or left",
    "bus": "for the bus and on it",
    "sensing": "sensing the array",
    "decode": "decoding",
    "cache": "in the write cache, for a free slot or its DRAM",
    "link": "for the link to the host and on it",
    "firmware": "in the firmware",
    "queue": "in the submission queue",
    "own_program": "programming its own data",
    "retry": "for read retries",
    "power": "for a share of the power budget",
    "mapping": "for map entries from flash",
    "read_cache": "for a read in flight to the read cache",
    "fault": "for a die, a channel or the firmware that a fault stalls",
}
"""The causes; `engine/account.rs` has them."""

LOOKS = {
    "host_reads": (colour(0), " "),
    "programs": (colour(1), " "),
    "erases": (colour(2), " "),
    "gc": (colour(3), " "),
    "stop": (colour(4), "/"),
    "suspend": (colour(7), "x"),
    "bus": (colour(5), "/"),
    "sensing": (colour(6), " "),
    "decode": (colour(6), "x"),
    "cache": (colour(0), "/"),
    "link": (colour(1), "/"),
    "firmware": (colour(2), "/"),
    "queue": (colour(3), "/"),
    "own_program": (colour(1), "x"),
    "retry": (colour(5), "x"),
    "power": (colour(7), "."),
    "mapping": (colour(4), "x"),
    "read_cache": (colour(0), "x"),
    "fault": (colour(2), "x"),
}
"""The colour and the hatch of each."""

REST = (colour(6), ".")
"""How all others look together."""
