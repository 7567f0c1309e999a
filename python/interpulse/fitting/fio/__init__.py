"""fio's JSON output as loads and targets of a fit; where options and measurements differ, measurements count."""
