"""An asyncio consumer: a server, and two that take rows from it at their own pace.

python examples/asyncio_consumer.py
"""

import asyncio

from eller_stream import AsyncRemoteStream, MazeServer, MazeSpec


async def consume(name: str, port: int, seed: int, pause: float) -> None:
    async with AsyncRemoteStream("127.0.0.1", port, MazeSpec(width=64, seed=seed, height=5)) as stream:
        async for row in stream:
            print(f"{name}: row {row.index} has {row.south.sum()} passages south")
            await asyncio.sleep(pause)  # the server waits: nothing piles up


async def main() -> None:
    async with MazeServer(port=0) as server:
        await asyncio.gather(consume("quick", server.port, 1, 0.01), consume("slow", server.port, 2, 0.03))


asyncio.run(main())
