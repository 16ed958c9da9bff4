"""The official SDK's client as it was in the older era (1.x), with the leave system.

    sdk_1.py http|stdio PROGRAM
"""

import asyncio
import sys

import httpx
import leave
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

door, program = sys.argv[1:]


def connect(where):
    if door == "http":
        client = httpx.AsyncClient(headers={"authorization": f"Bearer {where[1]}"}, timeout=60)
        return streamable_http_client(where[0], http_client=client)
    return stdio_client(StdioServerParameters(command=where[0], args=where[1]))


async def one(answer):
    asked, told = [], {}

    async def put(context, params):
        asked.append(params.message)
        action, content = leave.ANSWERS[answer]
        return ElicitResult(action=action, content=content)

    with leave.opened(program, door) as where:
        async with connect(where) as streams:
            async with ClientSession(streams[0], streams[1], elicitation_callback=put if answer else None) as client:
                greeting = await client.initialize()
                assert greeting.protocolVersion == "2025-11-25", greeting
                told["tools"] = [tool.name for tool in (await client.list_tools()).tools]
                for name, tool, arguments in leave.CALLS:
                    done = await client.call_tool(tool, arguments)
                    told[name] = (bool(done.isError), done.structuredContent or {}, done.content[0].text)
    leave.check(answer, told, asked)
    for message in asked:
        leave.asked_rightly(message)


async def main():
    for answer in [*leave.ANSWERS, None]:
        await asyncio.wait_for(one(answer), 60)
    print(f"official 1.x {door}: list, call, accept, decline, dismiss, cannot ask")


asyncio.run(main())
