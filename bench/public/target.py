# SPDX-License-Identifier: Apache-2.0
"""The local target: GET /work/MS/CREATED/… answers after MS. CREATED is the wall clock of the INSERT in ns."""

import asyncio
import time
from typing import cast

from public.latencies import Latencies

ANSWER = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
          b'{"done": true}')
REFUSAL = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
HEAD_BYTES = 65_536


class Target:
    """Listens on loopback. Counts calls that arrived and calls that were answered."""

    def __init__(self, port: int, latencies: Latencies):
        self.url = f"http://127.0.0.1:{port}/work"
        self.answered = 0
        self._port, self._latencies = port, latencies

    async def start(self) -> asyncio.Server:
        """Replicas share the port. The kernel gives a new connection to one of the living replicas."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: _Connection(self), "127.0.0.1", self._port, reuse_port=True)

    def begin(self, created_ns: int) -> None:
        """A call has arrived."""
        self._latencies.add(time.time_ns() - created_ns)

    def end(self, transport: asyncio.Transport) -> None:
        """The work of a call is done."""
        self.answered += 1
        if not transport.is_closing():
            transport.write(ANSWER)


class _Connection(asyncio.Protocol):
    """Reads GET requests, which have no body. The client sends the next request after the answer."""

    def __init__(self, target: Target):
        self._target, self._head = target, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports have another base class

    def data_received(self, data: bytes) -> None:
        self._head += data
        if not self._head.endswith(b"\r\n\r\n"):
            if len(self._head) > HEAD_BYTES:
                self._transport.abort()
            return
        head, self._head = self._head, b""
        try:
            _, work, milliseconds, created, *_ = head.split(b" ", 2)[1].split(b"/")
            wait_s, created_ns = int(milliseconds) / 1000, int(created)
        except (IndexError, ValueError):
            work, wait_s, created_ns = b"", 0.0, 0
        if work != b"work":
            self._transport.write(REFUSAL)
            self._transport.close()
            return
        self._target.begin(created_ns)
        if wait_s > 0:
            asyncio.get_running_loop().call_later(wait_s, self._target.end, self._transport)
        else:
            self._target.end(self._transport)
