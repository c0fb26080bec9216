"""`python -m standins.payments --port N`: starts the test payment provider's server."""

import argparse
import os
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

from standins.payments.books import Books
from standins.payments.reporter import report_forever
from standins.payments.server import Handler


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser("python -m standins.payments", description="A payment provider for demos.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--webhook", default="", help="where Placet takes reports; signed with PLACET_PAYMENTS_SECRET")
    parser.add_argument("--settle", type=float, default=0.0, help="seconds until what was taken succeeds")
    parser.add_argument("--file", type=Path, help="keeps what was taken between starts")
    options = parser.parse_args()
    Handler.books = Books(options.settle, options.file)
    if options.webhook:
        target = (Handler.books, options.webhook, os.environ["PLACET_PAYMENTS_SECRET"])
        threading.Thread(target=report_forever, args=target, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.serve_forever()


if __name__ == "__main__":
    main()
