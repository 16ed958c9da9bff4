"""The official SDK's client (2.x), or FastMCP's, against the example server.

    sdk.py official|fastmcp auto|legacy|2026-07-28 URL|PROGRAM
"""

import asyncio
import sys

which, mode, where = sys.argv[1:]
answers = {"accept": ("accept", {}), "decline": ("decline", None), "dismiss": ("cancel", None)}
expected = {
    "accept": (False, "LV-1 is cancelled."),
    "decline": (True, "The person said no. Do not ask again."),
    "dismiss": (True, "The person put the question away. Nothing was done."),
    None: (True, "Your client cannot ask. Cancel it on the web page."),
}


def official(answer):
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp_types import ElicitResult

    async def asked(context, params):
        assert "three days of annual leave" in params.message, params
        action, content = answers[answer]
        return ElicitResult(action=action, content=content)

    server = where if where.startswith("http") else StdioServerParameters(command=where, args=["stdio"])
    return Client(server, mode=mode, elicitation_callback=asked if answer else None)


def fastmcp(answer):
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport

    async def asked(message, response_type, params, context):
        assert "three days of annual leave" in message, message
        action, content = answers[answer]
        return ElicitResult(action=action, content=content)

    server = where if where.startswith("http") else StdioTransport(command=where, args=["stdio"], keep_alive=False)
    return Client(server, mode=mode, elicitation_handler=asked if answer else None)


async def one(answer):
    make, options = (official, {}) if which == "official" else (fastmcp, {"raise_on_error": False})
    async with make(answer) as client:
        listed = await client.list_tools()
        names = [tool.name for tool in getattr(listed, "tools", listed)]
        assert {"list_leave_types", "cancel_leave"} <= set(names), names
        kinds = await client.call_tool("list_leave_types", {}, **options)
        structured = getattr(kinds, "structured_content", None)
        assert len(structured["types"]) == 8, kinds
        wrong = await client.call_tool("cancel_leave", {"leave_id": 7}, **options)
        assert wrong.is_error and "Correct them" in wrong.content[0].text, wrong
        done = await client.call_tool("cancel_leave", {"leave_id": "LV-1"}, **options)
        got = (bool(done.is_error), done.content[0].text)
        assert got == expected[answer], (answer, got)


async def main():
    for answer in [*answers, None]:
        await asyncio.wait_for(one(answer), 60)
    print(f"{which} {mode} {'HTTP' if where.startswith('http') else 'stdio'}: list, call, accept, decline, dismiss, cannot ask")


asyncio.run(main())
