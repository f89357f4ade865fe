"""`netloom` as scripts of pages find it in the PATH: a fork of the test's server becomes the command.

`python fork_client.py SOCKET WORD…` hands the server its own streams, folder and environment (`fork_server`
has the protocol), and ends as the command does. It imports as little as it can: that is its purpose.
"""

import array
import os
import pickle
import socket
import struct
import sys

LENGTH = struct.Struct("<q")


def main(where: str, words: list[str]) -> int:
    mask = os.umask(0)
    os.umask(mask)
    request = pickle.dumps((words, os.getcwd(), dict(os.environ), mask))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(where)
        connection.sendmsg(
            [LENGTH.pack(len(request))],
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))],
        )
        # The fork has them: who reads what it writes sees the end when it ends.
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        connection.sendall(request)
        told = b""
        while len(told) < 2 * LENGTH.size:
            piece = connection.recv(2 * LENGTH.size - len(told))
            if not piece:
                return 70
            told += piece
    (status,) = LENGTH.unpack(told[LENGTH.size :])  # The fork's process id is before it.
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2:]))
