"""Asks a server of ratlas with the Python SDK, in both eras of the protocol, over stdio and HTTP.

`python3 python_client.py RATLAS REPOSITORY`, in an environment with `mcp` (2 or newer). Prints a
line a transport and era; ends with 1 at the first answer that is none.
"""

import asyncio
import os
import subprocess
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

MODES = ("legacy", "auto", "2026-07-28")
TOKEN = "a-token-of-the-test"
TOOLS = {
    "get_context": {"task": "what adds an item to the cart", "budget": 800},
    "repo_map": {"budget": 600},
    "find_symbol": {"query": "cart", "limit": 3},
    "get_symbol": {"qualname": "Cart", "include_body": True},
    "callers_of": {"qualname": "Cart"},
    "callees_of": {"qualname": "Cart"},
    "impact_of": {"target": "Cart"},
    "index_status": {},
}


def check(what, holds):
    if not holds:
        sys.exit(f"failed: {what}")


async def ask(client):
    listed = {tool.name for tool in (await client.list_tools()).tools}
    check(f"the tools are {sorted(listed)}", listed == set(TOOLS))
    for name, arguments in TOOLS.items():
        result = await client.call_tool(name, arguments)
        check(f"{name} answers: {result.content}", not result.is_error and result.content[0].text)
    wrong = await client.call_tool("get_symbol", {"qualname": "NoSuchThing"})
    check("an unknown name is a tool's error", wrong.is_error and "help: " in wrong.content[0].text)
    resources = (await client.list_resources()).resources
    check("the map is a resource", any(str(resource.uri) == "ratlas://map" for resource in resources))
    check("the map is read", (await client.read_resource("ratlas://map")).contents[0].text)
    check("there is a prompt", (await client.list_prompts()).prompts[0].name == "ratlas-onboard")
    prompt = await client.get_prompt("ratlas-onboard", {})
    check("the prompt holds the map", "<map>" in prompt.messages[0].content.text)


async def main():
    ratlas, repository = sys.argv[1:3]
    command = [ratlas, "-C", repository, "serve"]
    environment = {name: value for name, value in os.environ.items() if name.startswith("RATLAS_")}
    for mode in MODES:
        server = StdioServerParameters(command=command[0], args=command[1:], env=environment)
        async with Client(server, mode=mode) as client:
            await ask(client)
        print(f"Python SDK, stdio, {mode}: ok", flush=True)
    environment = {**os.environ, "RATLAS_HTTP_TOKEN": TOKEN}
    serving = subprocess.Popen([*command, "--http", "127.0.0.1:0"], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        url = serving.stderr.readline().split()[-1]
        for mode in MODES:
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
                async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                    await ask(client)
            print(f"Python SDK, HTTP, {mode}: ok", flush=True)
    finally:
        serving.kill()
        serving.wait()


asyncio.run(main())
