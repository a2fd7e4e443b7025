"""Calls an echoing front with grpcio and prints one JSON line of what it saw: client.py HOST:PORT."""

import concurrent.futures
import json
import sys

import grpc

ADD = "/memory.v1.MemoryService/Add"
WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"


def same(message):
    return message


def refusal(call):
    """Status, message and error code of a call that fails."""
    try:
        call()
        return None
    except grpc.RpcError as error:
        trailers = dict(error.trailing_metadata() or ())
        return [error.code().value[0], error.details(), trailers.get("x-error-code")]


def main(target):
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(target, options) as channel:
        add = channel.unary_unary(ADD, same, same)
        seen = {}
        seen["echo"] = add(b"hello", timeout=60).decode()
        large = bytes(range(256)) * 20_000
        seen["large"] = add(large, timeout=60) == large
        seen["gzip"] = add(b"z" * 100_000, timeout=60, compression=grpc.Compression.Gzip) == b"z" * 100_000
        _, call = add.with_call(b"trailers", metadata=(("x-request-id", "mine"),), timeout=60)
        seen["trailers"] = dict(call.trailing_metadata()).get("x-request-id")
        seen["refused"] = refusal(lambda: add(b"refuse", timeout=60))
        seen["late"] = refusal(lambda: add(b"never", timeout=0.3))[0]
        future = add.future(b"never", timeout=60)
        future.cancel()
        seen["cancelled"] = future.cancelled()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            messages = [str(at).encode() * (at % 50 + 1) for at in range(400)]
            seen["many"] = list(pool.map(lambda message: add(message, timeout=60), messages)) == messages
        watch = channel.unary_stream(WATCH, same, same)(b"", timeout=60)
        seen["watch"] = next(watch).hex()
        watch.cancel()
        asked = iter([bytes([58, 1, 42])] * 3)
        answers = channel.stream_stream(REFLECTION, same, same)(asked, timeout=60)
        seen["reflection"] = [b"memory.v1.MemoryService" in answer for answer in answers]
        unknown = channel.unary_unary("/memory.v1.MemoryService/Dance", same, same)
        seen["unknown"] = refusal(lambda: unknown(b"", timeout=60))[0]
        print(json.dumps(seen))


main(sys.argv[1])
