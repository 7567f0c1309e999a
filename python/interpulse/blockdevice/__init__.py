"""Served drives under real programs: server process, loop device, ext4, PostgreSQL and SQLite."""
