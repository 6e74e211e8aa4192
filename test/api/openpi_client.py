"""A robot as OpenPI has it: msgpack with array markers over a WebSocket, on the standard library and msgpack alone."""

import base64
import json
import os
import socket
import struct
import sys

import msgpack


class Socket:
    """A WebSocket client, as far as RFC 6455 asks of one."""

    def __init__(self, host, port, path, headers=()):
        self.socket = socket.create_connection((host, port), timeout=120)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise SystemExit(head.decode())

    def send(self, data, opcode=2):
        size = len(data)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        self.socket.sendall(head + b"\0\0\0\0" + data)

    def take(self, count):
        while len(self.rest) < count:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError
            self.rest += piece
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def receive(self):
        opcode, size = self.take(2)
        size &= 127
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return opcode & 15, self.take(size)


def array(form, kind, shape, data):
    if form == "openpi":
        return {b"__ndarray__": True, b"data": data, b"dtype": kind, b"shape": list(shape)}
    return {b"nd": True, b"type": kind, b"kind": b"", b"shape": list(shape), b"data": data}


def observation(form, side=(36, 64)):
    height, width = side
    picture = bytes((x * 3 + y * 5) % 256 for y in range(height) for x in range(width) for _ in range(3))
    views = ["wrist_image_left", "exterior_image_1_left", "exterior_image_2_left"]
    return {
        "prompt": "pick up the banana",
        "session_id": "robot-1",
        "seed": 3,
        "resolution": "256",
        **{f"observation/{view}": array(form, "|u1", (height, width, 3), picture) for view in views},
        "observation/joint_position": array(form, "<f8", (7,), struct.pack("<7d", *[i / 10 for i in range(7)])),
        "observation/gripper_position": array(form, "<f4", (1,), struct.pack("<f", 0.25)),
    }


def main():
    host, port, form = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    robot = Socket(host, port, "/v1/realtime/robot/openpi")
    _, hello = robot.receive()
    results = [{"config": msgpack.unpackb(hello)}]
    for message in (observation(form), observation(form), {"endpoint": "reset"}, {"prompt": "nothing seen"}):
        robot.send(msgpack.packb(message))
        opcode, reply = robot.receive()
        value = msgpack.unpackb(reply, strict_map_key=False)
        results.append({"opcode": opcode, "hex": reply[:64].hex(), "again": msgpack.packb(value) == reply, **describe(value)})
    robot.send(b"text is ignored", opcode=1)
    robot.send(b"\xc1")
    results.append(describe(msgpack.unpackb(robot.receive()[1], strict_map_key=False)))
    json.dump(results, sys.stdout)


def describe(value):
    if b"data" not in value:
        return {"map": {str(key): item for key, item in value.items()}}
    shape = value[b"shape"]
    numbers = struct.unpack(f"<{shape[0] * shape[1]}f", value[b"data"])
    kind = value.get(b"dtype", value.get(b"type"))
    return {"keys": [key.decode() for key in value], "dtype": kind, "shape": shape, "numbers": numbers}


main()
