"""Compares the answers of two API servers to the same request, but for what each server chooses by itself.

Uids, generated names, addresses, ports and resource versions of one server stand for those of the other: the first answer in which
they meet pairs them, and every later one has to keep to the pairs. Times only have to be times of the same form."""
import json
import re

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
GENERATED = re.compile(r"\b(gen|g)-[a-z0-9]{5}\b")  # names that differ_requests.py lets a server choose
ADDRESS = re.compile(r"\b10\.0\.\d{1,3}\.\d{1,3}\b")  # from the range of services
NODE_PORTS = range(30000, 32768)
TOKEN = re.compile(r"\beyJ2Ijoi[\w-]+")  # to continue with
SCHEME = re.compile(r"pkg/(runtime/scheme.go:111|api/legacyscheme/scheme.go:30)")  # the place of a build, not of a release
VERSION_SHOWN = re.compile(r'(resourceVersion\\*"?: ?\\*"|ParseUint: parsing "|ResourceVersion in record \(|ResourceVersion in object meta: |fields: resourceVersion: )\d+')
AGE = re.compile(r"^(\d+[smhdy]){1,2}$")
CHOSEN_KEYS = ("clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort")
VERSION_TEXT = re.compile(r'(resourceVersion"?: ?"?)\d+')
PROTOBUF_MAGIC = b"k8s\x00"
HEADERS = ("Content-Type", "Warning", "Retry-After", "Allow", "Location", "Cache-Control", "WWW-Authenticate", "X-Content-Type-Options",
           "Content-Encoding", "Vary")


class Differs(Exception):
    def __init__(self, place, real, own):
        super().__init__("%s: real %s, own %s" % (place, short(real), short(own)))
        self.place, self.real, self.own = place, real, own


def short(value):
    text = value if isinstance(value, str) else repr(value) if isinstance(value, bytes) else json.dumps(value)
    return text if len(text) < 600 else text[:600] + "..."


class Pairs:
    """What stands for what, both ways."""

    def __init__(self):
        self.there, self.back = {}, {}

    def same(self, real, own):
        if real == own and real not in self.there:
            return True
        if real in self.there or own in self.back:
            return self.there.get(real) == own and self.back.get(own) == real
        self.there[real], self.back[own] = own, real
        return True

    def translate(self, text):
        for real, own in self.there.items():
            if isinstance(real, str) and len(real) > 4 and real in text:
                text = text.replace(real, own)
        return text


class Comparison:
    def __init__(self):
        self.uids, self.chosen = Pairs(), Pairs()

    # values of JSON

    def values(self, real, own, place=""):
        if isinstance(real, dict) and isinstance(own, dict):
            self.maps(real, own, place)
        elif isinstance(real, list) and isinstance(own, list):
            if len(real) != len(own):
                raise Differs(place, real, own)
            for i, (a, b) in enumerate(zip(real, own)):
                self.values(a, b, "%s[%d]" % (place, i))
        elif isinstance(real, str) and isinstance(own, str):
            self.strings(real, own, place)
        elif type(real) is not type(own) or real != own:
            if not (place.split(".")[-1] in CHOSEN_KEYS and type(real) is type(own) and self.chosen.same(real, own)):
                raise Differs(place, real, own)

    def maps(self, real, own, place):
        if set(real) != set(own):
            raise Differs(place, {k: v for k, v in real.items() if k not in own} or "", {k: v for k, v in own.items() if k not in real} or "")
        if list(real) != list(own):
            raise Differs(place + " (order)", list(real), list(own))
        for key in real:
            self.values(real[key], own[key], place + "." + key)

    def strings(self, real, own, place):
        key = re.sub(r"\[\d+\]$", "", place).split(".")[-1]
        if key == "resourceVersion":
            if real.isdigit() != own.isdigit():
                raise Differs(place, real, own)
            return
        if key == "continue" and bool(real) == bool(own):
            return
        if key in ("token", "remainingItemCount") and len(real) > 100:
            return
        if key in CHOSEN_KEYS and real != own and self.chosen.same(real, own):
            return
        if AGE.match(real) and AGE.match(own):
            return
        self.texts(real, own, place)

    def texts(self, real, own, place):
        """A pair of texts in which uids, times and names occur."""
        a, b = UID.findall(real), UID.findall(own)
        if len(a) == len(b):
            for x, y in zip(a, b):
                if not self.uids.same(x, y):
                    raise Differs(place, real, own)
        if self.plain(real) == self.plain(own):
            return
        if self.plain(self.chosen.translate(real)) != self.plain(own):
            raise Differs(place, real, own)

    @staticmethod
    def plain(text):
        text = TIME.sub(lambda m: "TIME%d%s" % (len(m.group(1) or ""), m.group(2)), UID.sub("UID", text))
        text = ADDRESS.sub("ADDRESS", GENERATED.sub(r"\1-NAME", text))
        text = SCHEME.sub("SCHEME", VERSION_SHOWN.sub(r"\1N", TOKEN.sub("TOKEN", text)))
        return re.sub(r"(requested resource version|Requested revision|resourceVersion:|too old resource version:) ?\(?\d+( \(\d+\))?", r"\1 N", text)

    # bodies

    def bodies(self, media, real, own):
        if media.startswith("application/json"):
            self.json_bodies(real, own)
        elif media.startswith("application/vnd.kubernetes.protobuf") and real[:4] == PROTOBUF_MAGIC == own[:4]:
            self.messages(real[4:], own[4:], "pb")
        elif media.startswith("application/vnd.kubernetes.protobuf"):
            self.frames(real, own)
        else:
            a, b = (self.text_of(x) for x in (real, own))
            for n, (x, y) in enumerate(zip(a.split("\n"), b.split("\n"))):
                self.texts(x, y, "line %d" % n)
            if a.count("\n") != b.count("\n"):
                raise Differs("lines", a, b)

    @staticmethod
    def text_of(body):
        return VERSION_TEXT.sub(r"\1N", body.decode("utf-8", "replace"))

    def json_bodies(self, real, own):
        lines = [[json.loads(line) for line in split_documents(body)] for body in (real, own)]
        if len(lines[0]) > 1 or len(lines[1]) > 1:
            lines = [self.without_bookmarks(x) for x in lines]
            self.values(lines[0], lines[1], "events")
        elif lines[0] or lines[1]:
            self.values(lines[0][0] if lines[0] else None, lines[1][0] if lines[1] else None)
        if (real[-1:] == b"\n") != (own[-1:] == b"\n") or (b'\n  "' in real) != (b'\n  "' in own):
            raise Differs("white space", real[-40:], own[-40:])

    @staticmethod
    def without_bookmarks(events):
        return [e for e in events if not (isinstance(e, dict) and e.get("type") == "BOOKMARK" and "initial-events-end" not in json.dumps(e))]

    def frames(self, real, own):
        a, b = list(split_frames(real)), list(split_frames(own))
        if len(a) != len(b):
            raise Differs("frames", len(a), len(b))
        for i, (x, y) in enumerate(zip(a, b)):
            self.messages(x, y, "frame%d" % i)

    def messages(self, real, own, place):
        """Protobuf without a schema: what parses as a message is one."""
        a, b = parse_message(real), parse_message(own)
        if a is None or b is None or not real or not own:
            if real[:4] == PROTOBUF_MAGIC == own[:4]:
                return self.messages(real[4:], own[4:], place)
            return self.bytes(real, own, place)
        if is_text(real) and is_text(own) and self.alike(real, own):
            return None
        if [f for f, _ in a] != [f for f, _ in b]:
            raise Differs(place, real[:200], own[:200])
        for (field, x), (_, y) in zip(a, b):
            if isinstance(x, int):
                if x != y and not (isinstance(y, int) and x in NODE_PORTS and y in NODE_PORTS) and not (1_600_000_000 < x < 2_200_000_000 and 1_600_000_000 < (y if isinstance(y, int) else 0) < 2_200_000_000):
                    raise Differs("%s.%d" % (place, field), x, y)
            else:
                self.messages(x, y, "%s.%d" % (place, field))
        return None

    def alike(self, real, own):
        try:
            self.bytes(real, own, "")
            return True
        except Differs:
            return False

    def bytes(self, real, own, place):
        if real == own or (real.isdigit() and own.isdigit()):
            return
        try:
            a, b = json.loads(real), json.loads(own)
            if isinstance(a, (dict, list)):
                return self.values(a, b, place)
        except ValueError:
            pass
        self.texts(real.decode("utf-8", "replace"), own.decode("utf-8", "replace"), place)

    # whole answers

    def answers(self, real, own):
        """Both are (code, [(header, value)], body). The first difference as an exception."""
        if real[0] != own[0]:
            raise Differs("code", *("%d %s" % (answer[0], gist(answer[2])) for answer in (real, own)))
        for name in HEADERS:
            a, b = ([v for k, v in answer[1] if k.lower() == name.lower()] for answer in (real, own))
            if name == "Location" and a and b:
                continue
            if a != b:
                raise Differs("header " + name, a, b)
        media = next((v for k, v in real[1] if k.lower() == "content-type"), "")
        try:
            self.bodies(media, real[2], own[2])
        except ValueError:
            raise Differs("body", real[2][:300], own[2][:300]) from None


def gist(body):
    """What an answer says, in short."""
    found = re.search(rb'"message": ?("(?:[^"\\\\]|\\\\.)*")', body)
    return json.loads(found.group(1)) if found else body[:400].decode("utf-8", "replace")


def split_documents(body):
    """The JSON documents in a body: one, or the events of a watch."""
    text, decoder, at, out = body.decode("utf-8", "replace"), json.JSONDecoder(), 0, []
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return out
        _, end = decoder.raw_decode(text, at)
        out.append(text[at:end])
        at = end


def split_frames(body):
    while len(body) >= 4:
        size = int.from_bytes(body[:4], "big")
        yield body[4:4 + size]
        body = body[4 + size:]


def is_text(data):
    return all(32 <= c < 127 or c in (9, 10) for c in data)


def parse_message(data):
    """[(field, number or bytes)], or None if it is no message."""
    out, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while at < len(data) and shift < 64:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
        raise IndexError
    try:
        while at < len(data):
            tag = varint()
            if tag >> 3 == 0 or tag >> 3 > 2000:
                return None
            if tag & 7 == 0:
                out.append((tag >> 3, varint()))
            elif tag & 7 == 2:
                size = varint()
                if at + size > len(data):
                    return None
                out.append((tag >> 3, data[at:at + size]))
                at += size
            elif tag & 7 in (1, 5):
                size = 8 if tag & 7 == 1 else 4
                out.append((tag >> 3, data[at:at + size]))
                at += size
            else:
                return None
        return out
    except IndexError:
        return None
