"""FastMCP with the tool and the data of the example server's `list_leave_types`.

    fastmcp_server.py PORT
"""

import sys

from fastmcp import FastMCP
from pydantic import BaseModel


class Kind(BaseModel):
    id: str
    name: str
    unit: str


class Kinds(BaseModel):
    types: list[Kind]


kinds = [
    ("annual", "特休", "hour"),
    ("sick", "病假", "hour"),
    ("personal", "事假", "hour"),
    ("marriage", "婚假", "day"),
    ("bereavement", "喪假", "day"),
    ("family_care", "家庭照顧假", "hour"),
    ("maternity", "產假", "day"),
    ("official", "公假", "day"),
]
server = FastMCP("leave types")


@server.tool
def list_leave_types() -> Kinds:
    """Lists the kinds of leave there are."""
    return Kinds(types=[Kind(id=id, name=name, unit=unit) for id, name, unit in kinds])


server.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    stateless_http=True,
    json_response=True,
    show_banner=False,
    log_level="ERROR",
    uvicorn_config={"access_log": False},
)
