"""Clients that open streams and then read nothing.

`python -m tests.push.sleepers <host> <port> <path> <token> <count>` says `open` when all are,
and stays until it is killed.
"""

import resource
import socket
import sys
import time


def main(host: str, port: int, path: str, token: str, count: int) -> None:
    """Open `count` streams, each with its first bytes read."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    streams = []
    for _ in range(count):
        stream = socket.create_connection((host, port), 30.0)
        stream.sendall(request)
        assert stream.recv(12) == b"HTTP/1.1 200"
        streams.append(stream)
    print("open", flush=True)
    while True:
        time.sleep(1.0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))
