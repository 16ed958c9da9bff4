"""FastMCP with two tools of the leave system and the same data.

    leave_peer.py PORT TYPES.json LEAVE.db
"""

import json
import sqlite3
import sys
import time

from fastmcp import FastMCP

port, types_file, file = sys.argv[1:]
types = json.load(open(types_file))
names = {kind["type"]: kind["name"] for kind in types["types"]}
database = sqlite3.connect(file, check_same_thread=False)
database.execute("PRAGMA journal_mode = WAL")
# As ours: what was shown is noted without waiting for the disk.
database.execute("PRAGMA synchronous = NORMAL")
server = FastMCP("leaves")
ME = "E001"


@server.tool
def list_leave_types() -> dict:
    """Lists the leave types: days, unit, pay, notice, evidence, and the article of law each comes from."""
    return types


@server.tool
def search_leaves(keyword: str, status: str | None = None) -> dict:
    """Finds leaves that the person may see, by words in title, reason, type or owner's name."""
    rows = database.execute(
        """SELECT l.id, l.title, l.reason, l.kind, l.status, l.starts, l.ends, l.version, l.has_consent, l.deputy,
                  l.days, e.id, e.name, d.name
             FROM leaves l JOIN employees e ON e.id = l.applicant LEFT JOIN employees d ON d.id = l.deputy
            WHERE (l.applicant = ?1 OR (l.status <> 'draft' AND (l.deputy = ?1 OR e.manager = ?1)))
              AND (?2 IS NULL OR l.status = ?2)
            ORDER BY l.starts DESC""",
        (ME, status),
    ).fetchall()
    words = keyword.casefold().split()
    found = []
    for row in rows:
        text = " ".join([row[0], row[1], row[2], row[3], names[row[3]], row[12]]).casefold()
        if all(word in text for word in words):
            found.append({
                "leave_id": row[0], "title": row[1], "reason": row[2], "type": row[3], "type_name": names[row[3]],
                "status": row[4], "start": row[5], "end": row[6], "version": row[7], "deputy_agreed": bool(row[8]),
                "deputy": row[9], "minutes": sum(part["minutes"] for part in json.loads(row[10])),
                "applicant": row[11], "applicant_name": row[12], "deputy_name": row[13],
            })
    now = time.time_ns() // 1_000_000
    database.executemany(
        """INSERT INTO shown (employee, leave, version, at) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET version = excluded.version, at = excluded.at""",
        [(ME, leave["leave_id"], leave["version"], now) for leave in found],
    )
    database.commit()
    return {"leaves": found, "total": len(found)}


server.run(
    transport="http", host="127.0.0.1", port=int(port), stateless_http=True, json_response=True, show_banner=False,
    log_level="ERROR", uvicorn_config={"access_log": False},
)
