"""A proxy between a scheduler and its API server that does what networks and servers do on bad days.

Three kinds, each with its own port on loopback, all on one event loop in a thread of its own:

- RequestProxy ends TLS, offers HTTP/1.1 only, and sends each request to the server over a connection of its own: it knows
  requests, answers and watches, and can lose, spoil, repeat or hold each of them.
- FrameProxy ends TLS, speaks HTTP/2 on both sides, and hands frames through without reading them: it can reset streams,
  say goodbye, and cut inside a frame.
- ByteProxy hands bytes through, TLS and all: it can cut, reset, hold and spoil them.

What happens to which request is a plan's choice: a function that gets a Request and returns the name of a fault or None. Every
fault is counted in `faults` by name at the moment it is done.
"""
import asyncio
import collections
import json
import logging
import socket
import ssl
import struct
import threading

logging.getLogger("asyncio").setLevel(logging.ERROR)  # that a peer is gone is no news here

HEAD_MAX = 1 << 20
CHUNK = 1 << 16
GARBAGE = bytes((i * 151 + 89) % 256 for i in range(997))  # looks like nothing

Request = collections.namedtuple("Request", "method path headers body")

# Faults of requests. Those of READS answer with 200 and lies: for a write that would be a server that says it has done what it
# has not, and no client can survive that.
ANSWERS = ("429", "500", "503")
ANY = ("delay", "cut-before", "reply-lost", "reply-cut", "reply-stalled", "reply-dripped", "garbage") + ANSWERS
READS = ANY + ("garbage-body", "reply-twice")
WRITES = ANY + ("sent-twice",)
WATCHES = ("watch-cut", "watch-truncated", "watch-410", "watch-garbage", "watch-stalled", "watch-ended")


def is_watch(request):
    return request.method == "GET" and ("watch=true" in request.path or "watch=1" in request.path)


def is_binding(request):
    return request.method == "POST" and request.path.split("?")[0].endswith("/binding")


def status_json(code, reason, message):
    return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                       "reason": reason, "code": code}).encode()


def _field(number, data):
    """A length-delimited field of protobuf; lengths below 2^14."""
    size = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | 2]) + size + data


def gone_event(protobuf):
    """The watch event with which a server says that it does not know the past from which the client wants to go on."""
    message = "too old resource version: 1 (2)"
    if not protobuf:
        return json.dumps({"type": "ERROR", "object": json.loads(status_json(410, "Expired", message))}).encode() + b"\n"
    status = _field(2, b"Failure") + _field(3, message.encode()) + _field(4, b"Expired") + bytes([6 << 3]) + b"\x9a\x03"
    unknown = b"k8s\0" + _field(1, _field(1, b"v1") + _field(2, b"Status")) + _field(2, status)
    event = _field(1, b"ERROR") + _field(2, _field(1, unknown))
    return struct.pack(">I", len(event)) + event


class Cut(Exception):
    """The connection is to be closed now."""


class Proxy:
    """What the three have in common: loop, listener, connections."""

    def __init__(self, target, port, certs, rng):
        self.target, self.port, self.certs, self.random = target, port, certs, rng
        self.faults = collections.Counter()
        self.plan = None
        self.tasks = set()
        self.loop = asyncio.new_event_loop()
        self.listener = None
        started = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self.thread.start()
        started.wait()

    def _run(self, started):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        started.set()
        self.loop.run_forever()

    def server_context(self):
        return None

    async def _listen(self):
        self.listener = await asyncio.start_server(self._accept, "127.0.0.1", self.port, ssl=self.server_context(),
                                                   limit=HEAD_MAX)

    async def _accept(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            await self.serve(reader, writer)
        except (Cut, OSError, EOFError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            writer.transport.abort()

    async def serve(self, reader, writer):
        raise NotImplementedError

    def count(self, fault):
        self.faults[fault] += 1

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def cut_all(self):
        """Closes every connection; new ones are taken."""
        self._call(self._cut_all())

    async def _cut_all(self):
        self.count("all-cut")
        for task in list(self.tasks):
            task.cancel()

    def refuse(self):
        """Nobody listens any more, until listen()."""
        self._call(self._refuse())

    async def _refuse(self):
        self.count("refused")
        self.listener.close()
        for task in list(self.tasks):
            task.cancel()

    def listen(self):
        self._call(self._listen())

    def stop(self):
        async def end():
            self.listener.close()
            tasks = list(self.tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.loop.stop()
        asyncio.run_coroutine_threadsafe(end(), self.loop)
        self.thread.join(30)


def tls_server(certs, protocol):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certs.cert, certs.key)
    context.set_alpn_protocols([protocol])
    return context


def tls_client(certs, protocol):
    context = ssl.create_default_context(cafile=certs.ca)
    context.set_alpn_protocols([protocol])
    return context


async def read_head(reader):
    """(first line, [(name, value)]); an empty first line at the end of the connection."""
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return "", []
    lines = text.decode("latin-1").split("\r\n")
    return lines[0], [tuple(line.split(": ", 1)) for line in lines[1:] if ": " in line]


def header(headers, name):
    return next((v for k, v in headers if k.lower() == name), "")


async def read_body(reader, headers):
    if "chunked" in header(headers, "transfer-encoding"):
        parts = []
        while True:
            size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
            parts.append((await reader.readexactly(size + 2))[:-2])
            if not size:
                return b"".join(parts)
    return await reader.readexactly(int(header(headers, "content-length") or 0))


def head_bytes(first, headers):
    return ("\r\n".join([first] + ["%s: %s" % pair for pair in headers]) + "\r\n\r\n").encode("latin-1")


def whole(first, headers, body):
    """A message with its length instead of chunks."""
    kept = [(k, v) for k, v in headers if k.lower() not in ("transfer-encoding", "content-length")]
    return head_bytes(first, kept + [("Content-Length", str(len(body)))]) + body


class RequestProxy(Proxy):
    """`before_binding`, if set, is called (in a thread) with the Request of each binding before it goes to the server."""

    def __init__(self, *args):
        self.before_binding = None
        self.held_until = 0  # in the loop's time: nothing comes through a watch before
        super().__init__(*args)

    def server_context(self):
        return tls_server(self.certs, "http/1.1")

    def hold_watches(self, seconds):
        """From the plan: what watches tell from now on comes that much later."""
        self.held_until = self.loop.time() + seconds

    async def serve(self, reader, writer):
        while True:
            first, headers = await read_head(reader)
            if not first:
                return
            method, path, _ = first.split(" ", 2)
            request = Request(method, path, headers, await read_body(reader, headers))
            fault = self.plan(request) if self.plan else None
            if fault:
                self.count(fault)
            if fault == "cut-before":
                return
            if fault == "garbage":
                writer.write(GARBAGE)
                return await writer.drain()
            if fault in ANSWERS:
                await self.answer(writer, int(fault))
            elif is_watch(request) and fault != "garbage-body":
                await self.watch(request, fault, writer)
            else:
                await self.exchange(request, fault, writer)

    async def answer(self, writer, code):
        text, reason = {429: ("Too Many Requests", "TooManyRequests"), 500: ("Internal Server Error", "InternalError"),
                        503: ("Service Unavailable", "ServiceUnavailable")}[code]
        headers = [("Content-Type", "application/json")] + ([("Retry-After", "1")] if code == 429 else [])
        writer.write(whole("HTTP/1.1 %d %s" % (code, text), headers, status_json(code, reason, "fault")))
        await writer.drain()

    async def send(self, request):
        """A connection to the server on which the request has been sent: it must be closed."""
        reader, writer = await asyncio.open_connection(*self.target, ssl=tls_client(self.certs, "http/1.1"), limit=HEAD_MAX)
        headers = [(k, v) for k, v in request.headers if k.lower() not in ("content-length", "transfer-encoding")]
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            headers.append(("Content-Length", str(len(request.body))))
        writer.write(head_bytes("%s %s HTTP/1.1" % (request.method, request.path), headers) + request.body)
        await writer.drain()
        return reader, writer

    async def ask(self, request):
        """The whole answer."""
        reader, writer = await self.send(request)
        try:
            first, headers = await read_head(reader)
            return first, headers, await read_body(reader, headers)
        finally:
            writer.transport.abort()

    async def exchange(self, request, fault, writer):
        if fault == "garbage-body":
            writer.write(whole("HTTP/1.1 200 OK", [("Content-Type", "application/json")], GARBAGE))
            return await writer.drain()
        if fault == "delay":
            await asyncio.sleep(self.random.uniform(0.1, 1.5))
        if self.before_binding and is_binding(request):
            await self.loop.run_in_executor(None, self.before_binding, request)
        first, headers, body = await self.ask(request)
        if fault == "sent-twice":  # as something between that tries again: the client sees the second answer
            first, headers, body = await self.ask(request)
        if fault == "reply-lost":
            raise Cut
        await self.reply(whole(first, headers, body), len(body), fault, writer)

    async def reply(self, message, n_body, fault, writer):
        if fault == "reply-cut":
            writer.write(message[:len(message) - n_body // 2 - 1])
            await writer.drain()
            raise Cut
        if fault == "reply-stalled":
            half = len(message) - n_body // 2 - 1
            writer.write(message[:half])
            await writer.drain()
            await asyncio.sleep(self.random.uniform(1, 4))
            message = message[half:]
        if fault == "reply-dripped":
            for i in range(0, min(len(message), 400)):
                writer.write(message[i:i + 1])
                await writer.drain()
                await asyncio.sleep(0.002)
            message = message[400:]
        writer.write(message + (message if fault == "reply-twice" else b""))
        await writer.drain()

    async def watch(self, request, fault, writer):
        """Hands a stream through as it comes. Its fault comes after some time, which the plan has counted already."""
        if fault == "delay":
            await asyncio.sleep(self.random.uniform(0.1, 1.5))
        reader, upstream = await self.send(request)
        try:
            first, headers = await read_head(reader)
            if "chunked" not in header(headers, "transfer-encoding"):
                return writer.write(whole(first, headers, await read_body(reader, headers)))
            writer.write(head_bytes(first, headers))
            at = self.loop.time() + self.random.uniform(0.2, 4) if fault else None
            while True:
                rest = None if at is None else max(0, at - self.loop.time())
                try:
                    data = await asyncio.wait_for(reader.read(CHUNK), rest)
                except asyncio.TimeoutError:
                    at = None
                    await self.spoil(fault, headers, writer)
                    continue
                if not data:
                    raise Cut
                while self.loop.time() < self.held_until:
                    await asyncio.sleep(0.05)
                writer.write(data)
                await writer.drain()
        finally:
            upstream.transport.abort()

    async def spoil(self, fault, headers, writer):
        """What happens to a watch: all ends the connection but a stall."""
        protobuf = "protobuf" in header(headers, "content-type")
        if fault == "watch-stalled":
            return await asyncio.sleep(self.random.uniform(1, 4))
        if fault == "watch-410":
            frame = gone_event(protobuf)
            writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(frame), frame))
        elif fault == "watch-truncated":  # half a frame, then an orderly end
            frame = gone_event(protobuf)[:17]
            writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(frame), frame))
        elif fault == "watch-garbage":
            writer.write(b"%x\r\n%s\r\n" % (len(GARBAGE), GARBAGE))
        elif fault == "watch-ended":
            writer.write(b"0\r\n\r\n")
        else:  # cut inside a chunk
            writer.write(b"ffff\r\n{\"type\":")
        await writer.drain()
        await asyncio.sleep(0.05)
        raise Cut


class FrameProxy(Proxy):
    """HTTP/2 frames. `rate` is the share of frames with data from the server at which something happens."""
    DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
    FAULTS = ("stream-reset", "stream-refused", "goaway", "frame-cut", "frame-delayed", "ping-flood", "unknown-frame",
              "bad-frame")

    def __init__(self, *args):
        self.rate = 0.0
        super().__init__(*args)

    def server_context(self):
        return tls_server(self.certs, "h2")

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    async def serve(self, reader, writer):
        tls = tls_client(self.certs, "h2")
        up_reader, up_writer = await asyncio.open_connection(*self.target, ssl=tls, limit=HEAD_MAX)
        try:
            back = asyncio.ensure_future(self.up(reader, up_writer))
            down = asyncio.ensure_future(self.down(up_reader, up_writer, writer))
            try:
                await asyncio.wait((back, down), return_when=asyncio.FIRST_COMPLETED)
            finally:
                back.cancel()
                down.cancel()
                await asyncio.gather(back, down, return_exceptions=True)
        finally:
            up_writer.transport.abort()

    async def up(self, reader, writer):
        while True:
            data = await reader.read(CHUNK)
            if not data:
                return
            writer.write(data)
            await writer.drain()

    async def down(self, reader, up_writer, writer):
        cancelled = set()
        while True:
            head = await reader.readexactly(9)
            size, kind, stream = int.from_bytes(head[:3], "big"), head[3], int.from_bytes(head[5:9], "big") & 0x7fffffff
            payload = await reader.readexactly(size)
            if kind == self.DATA and stream in cancelled:  # on its way when we reset: the room it took is given back
                if size:
                    up_writer.write(self.frame(self.WINDOW_UPDATE, 0, 0, struct.pack(">I", size)))
                continue
            fault = self.random.choice(self.FAULTS) if kind == self.DATA and self.random.random() < self.rate else None
            if fault:
                self.count(fault)
            if fault in ("stream-reset", "stream-refused"):
                code = struct.pack(">I", 2 if fault == "stream-reset" else 7)
                cancelled.add(stream)
                writer.write(self.frame(self.RST_STREAM, 0, stream, code))
                if not head[4] & 1:  # the server still thinks it goes on
                    up_writer.write(self.frame(self.RST_STREAM, 0, stream, struct.pack(">I", 8)))
                if size:
                    up_writer.write(self.frame(self.WINDOW_UPDATE, 0, 0, struct.pack(">I", size)))
                continue
            await self.around(fault, head, payload, writer)

    async def around(self, fault, head, payload, writer):
        """Sends a frame, with what the fault adds."""
        if fault == "frame-cut":
            writer.write(head + payload[:len(payload) // 2])
            await writer.drain()
            await asyncio.sleep(0.05)
            raise Cut
        if fault == "frame-delayed":
            await asyncio.sleep(self.random.uniform(0.2, 2))
        if fault == "ping-flood":
            for i in range(20):
                writer.write(self.frame(self.PING, 0, 0, struct.pack(">Q", i)))
        if fault == "unknown-frame":  # must be ignored
            writer.write(self.frame(0xbe, 0xff, 0, b"whatever"))
        writer.write(head + payload)
        if fault == "goaway":  # streams above 2^31-1 only, so that none is refused: then silence on this connection
            writer.write(self.frame(self.GOAWAY, 0, 0, struct.pack(">II", 0x7fffffff, 0)))
        if fault == "bad-frame":  # a window update of nothing is a connection error
            writer.write(self.frame(self.WINDOW_UPDATE, 0, 0, struct.pack(">I", 0)))
        await writer.drain()


class ByteProxy(Proxy):
    """Bytes. After a time that the rate gives, each connection has one of these."""
    FAULTS = ("bytes-cut", "bytes-reset", "bytes-stalled", "bytes-spoiled", "bytes-delayed", "half-closed", "request-cut")

    def __init__(self, *args):
        self.seconds = None  # between faults of a connection, at most; None: none
        super().__init__(*args)

    async def serve(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection(*self.target)
        state = {"fault": None}
        jobs = [asyncio.ensure_future(self.relay(reader, up_writer, state, True)),
                asyncio.ensure_future(self.relay(up_reader, writer, state, False)),
                asyncio.ensure_future(self.trouble(state, writer))]
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            up_writer.transport.abort()

    async def trouble(self, state, writer):
        """Chooses what happens next to a connection; it is done when the next bytes come, or at once if none are needed."""
        while True:
            while self.seconds is None:
                await asyncio.sleep(0.1)
            await asyncio.sleep(self.random.uniform(0.05, self.seconds))
            if self.seconds is None:
                continue
            fault = self.random.choice(self.FAULTS)
            if fault == "half-closed":
                self.count(fault)
                writer.write_eof()
                await asyncio.sleep(0.5)
                return
            if fault == "bytes-reset":
                self.count(fault)
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            state["fault"] = fault

    async def relay(self, reader, writer, state, upwards):
        while True:
            data = await reader.read(CHUNK)
            if not data:
                return
            fault = state["fault"]
            if fault and upwards == (fault == "request-cut"):
                state["fault"] = None
                self.count(fault)
                if fault in ("bytes-cut", "request-cut"):
                    writer.write(data[:len(data) // 2])
                    await writer.drain()
                    await asyncio.sleep(0.05)
                    return
                if fault == "bytes-spoiled":
                    where = self.random.randrange(len(data))
                    data = data[:where] + bytes([data[where] ^ 1]) + data[where + 1:]
                if fault == "bytes-stalled":
                    await asyncio.sleep(self.random.uniform(1, 4))
                if fault == "bytes-delayed":
                    for i in range(0, len(data), 97):
                        writer.write(data[i:i + 97])
                        await writer.drain()
                        await asyncio.sleep(0.001)
                    continue
            writer.write(data)
            await writer.drain()
