"""Flash parts and single dies.

- `parts`: parts by preset or file, and the drive of one die that each check needs.
- `datasheet`: a part file from the lines of a data sheet.
- `die`: one die under a suspension scheme, without a drive.
"""
