"""A way to Postgres on which one COMMIT reaches the server and its answer never comes back."""

import socket
import threading
from contextlib import suppress
from types import TracebackType


class CuttingProxy:
    """Cuts the first connection on which a COMMIT follows `after`, once the server has carried it out."""

    def __init__(self, port: int, *, after: bytes) -> None:
        self.cuts = 0
        self._target, self._after = port, after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> "CuttingProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            cut = threading.Event()
            threading.Thread(target=self._up, args=(client, server, cut), daemon=True).start()
            threading.Thread(target=self._down, args=(client, server, cut), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        armed = False
        while data := _received(client):
            armed = armed or self._after in data
            if armed and b"COMMIT" in data and not self.cuts:
                self.cuts += 1
                cut.set()
            with suppress(OSError):
                server.sendall(data)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _down(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        while (data := _received(server)) and not cut.is_set():
            client.sendall(data)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # close alone says nothing while the other thread still reads
            end.close()


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(65_536)
    except OSError:
        return b""
