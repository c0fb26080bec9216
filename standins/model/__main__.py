"""`python -m standins.model --port N`: starts the stand-in model's server."""

import argparse

import uvicorn

from standins.model.server import StandIn
from standins.model.wire import DroppingProtocol


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser("python -m standins.model", description="A model for demos.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1", help="anyone who reaches it can script it")
    parser.add_argument("--think", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--token-delay", type=float, default=0.0, help="seconds between words")
    options = parser.parse_args()
    uvicorn.run(
        StandIn(options.think, options.token_delay),
        host=options.host,
        port=options.port,
        http=DroppingProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        backlog=2048,
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    main()
