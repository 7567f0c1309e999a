"""Figures of runs in fio's terms, results in fio's JSON, and runs that find when jobs end."""
