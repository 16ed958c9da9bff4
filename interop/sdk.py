"""The official SDK's client (2.x), or FastMCP's, with the leave system.

    sdk.py official|fastmcp auto|legacy|2026-07-28 http|stdio PROGRAM
"""

import asyncio
import sys

import leave

which, mode, door, program = sys.argv[1:]


def official(where, answer, asked):
    import httpx2
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import ElicitResult

    async def put(context, params):
        asked.append(params.message)
        action, content = leave.ANSWERS[answer]
        return ElicitResult(action=action, content=content)

    if door == "http":
        url, key = where
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60)
        server = streamable_http_client(url, http_client=http)
    else:
        server = StdioServerParameters(command=where[0], args=where[1])
    return Client(server, mode=mode, elicitation_callback=put if answer else None)


def fastmcp(where, answer, asked):
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport

    async def put(message, response_type, params, context):
        asked.append(message)
        action, content = leave.ANSWERS[answer]
        return ElicitResult(action=action, content=content)

    if door == "http":
        server, options = where[0], {"auth": where[1]}
    else:
        server, options = StdioTransport(command=where[0], args=where[1], keep_alive=False), {}
    return Client(server, mode=mode, elicitation_handler=put if answer else None, **options)


async def one(answer):
    make, options = (official, {}) if which == "official" else (fastmcp, {"raise_on_error": False})
    with leave.opened(program, door) as where:
        asked, told = [], {}
        async with make(where, answer, asked) as client:
            listed = await client.list_tools()
            told["tools"] = [tool.name for tool in getattr(listed, "tools", listed)]
            for name, tool, arguments in leave.CALLS:
                done = await client.call_tool(tool, arguments, **options)
                told[name] = (bool(done.is_error), done.structured_content or {}, done.content[0].text)
    leave.check(answer, told, asked)
    for message in asked:
        leave.asked_rightly(message)


async def main():
    for answer in [*leave.ANSWERS, None]:
        await asyncio.wait_for(one(answer), 60)
    print(f"{which} {mode} {door}: list, call, accept, decline, dismiss, cannot ask")


asyncio.run(main())
