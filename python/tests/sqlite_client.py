"""A program that makes transfers between accounts of an SQLite database, and prints each once it is committed.

Arguments: the database, its journal mode, and the first number. It ends with an error when the device does.
"""

from __future__ import annotations

import random
import sqlite3
import sys
from itertools import count

ACCOUNTS = 2000
START = 1000


def transfers(path: str, journal: str, first: int) -> None:
    """Makes transfers until an error."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"pragma journal_mode = {journal}")
    # Durable when it is acknowledged: `full` leaves the removal of a rollback journal to a later flush.
    database.execute("pragma synchronous = extra")
    database.execute("create table if not exists account (id integer primary key, balance integer, filler text)")
    database.execute("create table if not exists transfer (id integer primary key, giver, taker, amount)")
    if not database.execute("select count(*) from account").fetchone()[0]:
        rows = ((number, START, "x" * 80) for number in range(ACCOUNTS))
        database.execute("begin")
        database.executemany("insert into account values (?, ?, ?)", rows)
        database.execute("commit")
    draw = random.Random(first)
    for number in count(first):
        giver, taker, amount = draw.randrange(ACCOUNTS), draw.randrange(ACCOUNTS), draw.randrange(100)
        database.execute("begin immediate")
        database.execute("update account set balance = balance - ? where id = ?", (amount, giver))
        database.execute("update account set balance = balance + ? where id = ?", (amount, taker))
        database.execute("insert into transfer values (?, ?, ?, ?)", (number, giver, taker, amount))
        database.execute("commit")
        print(number, flush=True)  # noqa: T201 - its output


def problems(path: str, committed: int) -> list[str]:
    """What is wrong with the database after `committed` transfers; one more may be there whose answer was lost."""
    database = sqlite3.connect(path)
    found = [row[0] for row in database.execute("pragma integrity_check") if row[0] != "ok"]
    total = database.execute("select sum(balance) from account").fetchone()[0]
    if total != ACCOUNTS * START:
        found.append(f"balances sum to {total}")
    last, rows = database.execute("select max(id), count(*) from transfer").fetchone()
    if not (rows == last and last in (committed, committed + 1)):
        found.append(f"{rows} transfers up to {last} of {committed}")
    balances: dict[int, int] = dict.fromkeys(range(ACCOUNTS), START)
    for giver, taker, amount in database.execute("select giver, taker, amount from transfer"):
        balances[giver] -= amount
        balances[taker] += amount
    if dict(database.execute("select id, balance from account")) != balances:
        found.append("balances are not those of the transfers")
    database.close()
    return found


if __name__ == "__main__":
    transfers(sys.argv[1], sys.argv[2], int(sys.argv[3]))
