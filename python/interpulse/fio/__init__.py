"""fio's job files: reader, table of options, and the flows that they become."""
