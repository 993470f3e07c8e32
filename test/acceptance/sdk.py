"""The official Python SDK: connects with OAuth, lists the tools, calls one, refreshes its token, and calls again.

Arguments: the address of /mcp. Prints the address for the owner's browser, then the result as JSON.
"""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

answers: list[dict[str, list[str]]] = []


class Callback(BaseHTTPRequestHandler):
    """Where the owner's browser comes back to."""

    def do_GET(self):
        answers.append(parse_qs(urlparse(self.path).query))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"You are back at your program.")

    def log_message(self, *_args):
        pass


class Storage:
    """Keeps tokens in memory."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def show(address: str):
    print(address, flush=True)


async def come_back():
    while not answers:
        await asyncio.sleep(0.05)
    answer = {name: values[0] for name, values in answers[-1].items()}
    return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


async def main(address: str):
    listener = HTTPServer(("127.0.0.1", 0), Callback)
    Thread(target=listener.serve_forever, daemon=True).start()
    metadata = OAuthClientMetadata(
        client_name="Python", redirect_uris=[f"http://127.0.0.1:{listener.server_port}/callback"]
    )
    storage = Storage()
    auth = OAuthClientProvider(address, metadata, storage, redirect_handler=show, callback_handler=come_back)
    async with httpx2.AsyncClient(auth=auth, timeout=60) as http:
        async with streamable_http_client(address, http_client=http) as (read, write, *_rest):
            async with ClientSession(read, write) as session:
                await session.initialize()
                tools = [tool.name for tool in (await session.list_tools()).tools]
                first = storage.tokens.access_token
                auth.context.token_expiry_time = 1  # long ago
                called = await session.call_tool("account_read", {})
                email = json.loads(called.content[0].text)["email"]
                refreshed = storage.tokens.access_token != first
    print(json.dumps({"tools": tools, "email": email, "refreshed": refreshed}), flush=True)


asyncio.run(main(sys.argv[1]))
