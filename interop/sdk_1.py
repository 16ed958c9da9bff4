"""The official SDK's client as it was in the older era (1.x), against the example server.

    sdk_1.py URL|PROGRAM
"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

where = sys.argv[1]
answers = {"accept": ("accept", {}), "decline": ("decline", None), "dismiss": ("cancel", None)}
expected = {
    "accept": (False, "LV-1 is cancelled."),
    "decline": (True, "The person said no. Do not ask again."),
    "dismiss": (True, "The person put the question away. Nothing was done."),
    None: (True, "Your client cannot ask. Cancel it on the web page."),
}


def connect():
    if where.startswith("http"):
        return streamable_http_client(where)
    return stdio_client(StdioServerParameters(command=where, args=["stdio"]))


async def one(answer):
    async def asked(context, params):
        assert "three days of annual leave" in params.message, params
        action, content = answers[answer]
        return ElicitResult(action=action, content=content)

    async with connect() as streams:
        async with ClientSession(streams[0], streams[1], elicitation_callback=asked if answer else None) as client:
            greeting = await client.initialize()
            assert greeting.protocolVersion == "2025-11-25", greeting
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert {"list_leave_types", "cancel_leave"} <= set(names), names
            kinds = await client.call_tool("list_leave_types", {})
            assert len(kinds.structuredContent["types"]) == 8, kinds
            wrong = await client.call_tool("cancel_leave", {"leave_id": 7})
            assert wrong.isError and "Correct them" in wrong.content[0].text, wrong
            done = await client.call_tool("cancel_leave", {"leave_id": "LV-1"})
            got = (bool(done.isError), done.content[0].text)
            assert got == expected[answer], (answer, got)


async def main():
    for answer in [*answers, None]:
        await asyncio.wait_for(one(answer), 60)
    print(f"official 1.x {'HTTP' if where.startswith('http') else 'stdio'}: list, call, accept, decline, dismiss, cannot ask")


asyncio.run(main())
