"""A wire between two parties that a plan can cut, hold, slow down or spoil: a TCP proxy on loopback.

Under TCP a lost or repeated packet is mended by the kernel. Here bytes of the stream itself are left
out, sent twice or changed, which is worse: TLS must notice, and the parties must dial again."""

import asyncio
import contextlib
import threading

CHUNK = 1 << 16


class Wires:
    """The thread in which all proxies of a job run."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def close(self):
        self.call(self.cancel_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(60)
        self.loop.close()

    async def cancel_all(self):
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Proxy:
    def __init__(self, wires, target=None):
        self.wires, self.target = wires, target  # a port, or None as long as nobody listens
        self.held, self.delay, self.spoiling = False, 0.0, None
        self.streams = set()
        self.server = wires.call(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]

    def cut(self):
        """Ends every connection."""
        self.wires.call(self.abort_all())

    async def abort_all(self):
        for stream in list(self.streams):
            stream.transport.abort()

    async def serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.CancelledError):
            if self.target is not None:
                there, back = await asyncio.open_connection("127.0.0.1", self.target)
                both = {writer, back}
                self.streams |= both
                try:
                    await self.pump_both(reader, writer, there, back)
                finally:
                    self.streams -= both
                    back.transport.abort()
        writer.transport.abort()

    async def pump_both(self, reader, writer, there, back):
        pumps = [asyncio.ensure_future(self.pump(reader, back)),
                 asyncio.ensure_future(self.pump(there, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait(pumps, timeout=1)  # The other half may have last words.
        finally:
            for pump in pumps:
                pump.cancel()

    async def pump(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                while self.held:
                    await asyncio.sleep(0.02)
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(self.spoiled(data))
                await writer.drain()
            writer.write_eof()

    def spoiled(self, data):
        """The next bytes, once after each order, as the order says."""
        order, self.spoiling = self.spoiling, None
        if order == "lose":
            return b""
        if order == "duplicate":
            return data + data
        if order == "corrupt":
            middle = len(data) // 2
            return data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1:]
        return data
