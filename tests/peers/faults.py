"""Stories of faults: a scheduler under load while its connections, its API server, etcd, extenders or its clock misbehave."""
import datetime
import glob
import http.server
import json
import signal
import threading
import time

import api as kube
from fault_proxy import ANSWERS, READS, WATCHES, WRITES, is_binding, is_watch
from story import Deck, story
from trio import ELECTION, take_port

FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)


def random_plan(stage, share, watches=WATCHES, reads=READS, writes=WRITES):
    """Something goes wrong with this share of the requests."""
    decks = [Deck(stage.random, cards) if cards else None for cards in (watches, reads, writes)]

    def plan(request):
        deck = decks[0] if is_watch(request) else decks[1] if request.method == "GET" else decks[2]
        return deck.deal() if deck and stage.random.random() < share else None
    return plan


def binding_plan(stage, share, cards):
    """Something goes wrong with this share of the bindings, and with nothing else."""
    deck = Deck(stage.random, cards)
    return lambda request: deck.deal() if is_binding(request) and stage.random.random() < share else None


@story(at_least=15)
def requests(stage):
    """a fifth of all requests over HTTP/1.1 is delayed, cut, lost, spoiled, repeated or refused, watches included"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(50))
    stage.scheduler(kubeconfig)
    proxy.plan = random_plan(stage, 0.2)
    proxy.cut_all()  # the watches that are there were made before the plan
    stage.world.churn(stage.times(50), stage.times(10))
    stage.check()


@story(at_least=10)
def start(stage):
    """the first requests of a scheduler meet a server that refuses, lies and hangs up"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(4, 8 * stage.times(1))
    deck, left = Deck(stage.random, ANSWERS + ("garbage", "garbage-body", "cut-before", "reply-lost", "reply-cut")), [0]

    def plan(_):
        left[0] -= 1
        return deck.deal() if left[0] >= 0 else None
    for k in range(stage.times(1)):
        left[0], proxy.plan = 12, plan
        scheduler = stage.scheduler(kubeconfig)
        stage.world.churn(8, 1)
        waiting, _ = stage.world.settle()
        stage.expect(not waiting, "after start %d: %s" % (k, waiting))
        if k + 1 < stage.times(1):
            scheduler.stop()
            stage.gone(scheduler)
    stage.check()


@story(at_least=10)
def binding_reply_lost(stage):
    """the server binds, the scheduler never hears of it"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(40))
    stage.scheduler(kubeconfig)
    proxy.plan = binding_plan(stage, 0.5, ("reply-lost", "reply-cut"))
    stage.world.churn(stage.times(40), stage.times(6), deleted=0.1)
    stage.check()


@story(at_least=5, skip=lambda command: "kube-scheduler forgets such a pod, and gives its room away until a watch tells" if
       "kube-scheduler" in command else None)
def binding_lost_and_late(stage):
    """the server binds, the scheduler hears nothing or of a conflict with itself, and watches tell seconds later: the room is
    taken all the same"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(40))
    stage.scheduler(kubeconfig)

    def plan(request):
        if not is_binding(request) or stage.random.random() > 0.4:
            return None
        proxy.hold_watches(2.5)
        return deck.deal()
    deck, proxy.plan = Deck(stage.random, ("reply-lost", "sent-twice")), plan
    stage.world.churn(stage.times(40), stage.times(8), deleted=0.1)
    stage.check()


@story(at_least=10)
def binding_sent_twice(stage):
    """something on the way sends a binding again, and the scheduler sees the answer to the second: a conflict"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(40))
    stage.scheduler(kubeconfig)
    proxy.plan = binding_plan(stage, 0.5, ("sent-twice",))
    stage.world.churn(stage.times(40), stage.times(6), deleted=0.1)
    stage.check()


@story(at_least=10)
def binding_refused(stage):
    """bindings are answered with 429, 500, 503, garbage, or nothing, and are not done"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(40))
    stage.scheduler(kubeconfig)
    proxy.plan = binding_plan(stage, 0.5, ANSWERS + ("garbage", "cut-before"))
    stage.world.churn(stage.times(40), stage.times(6), deleted=0.1)
    stage.check()


@story(at_least=8)
def bound_by_another(stage):
    """somebody else binds a pod while the scheduler's own binding of it is on its way"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(40), rival=True)
    stage.scheduler(kubeconfig)

    def bind_first(request):
        if stage.random.random() < 0.4:
            name = request.path.split("?")[0].split("/")[-2]
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                    "target": {"kind": "Node", "name": stage.world.prefix + "rival"}}
            if stage.world.api.request("POST", "%s/%s/binding" % (kube.PODS, name), body)[0] == 201:
                stage.count("bound-by-another")
    proxy.before_binding = bind_first
    stage.world.churn(stage.times(40), stage.times(6), deleted=0.1)
    stage.check()


@story(at_least=8)
def watches(stage):
    """watches are cut inside a frame, end early, say 410, carry garbage, or stand still"""
    proxy, kubeconfig = stage.request_proxy()
    stage.world.make_nodes(6, stage.times(50))
    proxy.plan = random_plan(stage, 0.6, reads=None, writes=None)
    stage.scheduler(kubeconfig)
    stage.world.churn(stage.times(50), stage.times(12), deleted=0.3)
    stage.check()


@story(at_least=6)
def frames(stage):
    """HTTP/2: streams are reset or refused, connections say goodbye or end inside a frame"""
    proxy, kubeconfig = stage.frame_proxy()
    stage.world.make_nodes(6, stage.times(50))
    stage.scheduler(kubeconfig)
    proxy.rate = 0.1
    stage.world.churn(stage.times(50), stage.times(12))
    stage.check()


@story(at_least=6)
def wire(stage):
    """HTTP/2 through TLS end to end: connections are cut, reset, held and spoiled"""
    proxy, kubeconfig = stage.byte_proxy()
    stage.world.make_nodes(6, stage.times(50))
    stage.scheduler(kubeconfig)
    proxy.seconds = 1.5
    stage.world.churn(stage.times(50), stage.times(12))
    stage.check()


@story(at_least=4)
def server_away(stage):
    """nobody listens for a while, and every connection is cut, again and again"""
    proxy, kubeconfig = stage.byte_proxy()
    stage.world.make_nodes(6, stage.times(40))
    stage.scheduler(kubeconfig)
    load = stage.world.in_background(stage.world.churn, stage.times(40), stage.times(10))
    for _ in range(stage.times(2)):
        stage.wait(0.5, 1.5)
        proxy.cut_all()
        stage.wait(0.5, 1.5)
        proxy.refuse()
        stage.wait(0.5, 2)
        proxy.listen()
    load.result()
    stage.check()


@story(at_least=2)
def server_killed(stage):
    """the API server is killed under load and started again; etcd forgets its past in between, so that watches get 410"""
    stage.world.make_nodes(6, 40 if stage.short else 200)
    stage.scheduler()
    for _ in range(1 if stage.short else 5):
        load = stage.world.in_background(stage.world.churn, 40, 6)
        stage.wait(1, 3)
        stage.trio.compact()
        stage.count("compaction")
        stage.trio.kill_apiserver()
        stage.count("server-killed")
        stage.wait(0, 2)
        stage.trio.start_apiserver()
        load.result()
    stage.check()


@story(at_least=2)
def server_stopped(stage):
    """the API server, and then etcd, stand still for some seconds"""
    stage.world.make_nodes(6, 40 if stage.short else 200)
    stage.scheduler()
    for _ in range(1 if stage.short else 5):
        for name, process in (("server-stopped", stage.trio.apiserver), ("etcd-stopped", stage.trio.etcd)):
            load = stage.world.in_background(stage.world.churn, 20, 4)
            stage.wait(0.5, 1.5)
            process.send_signal(signal.SIGSTOP)
            stage.count(name)
            stage.wait(2, 4)
            process.send_signal(signal.SIGCONT)
            load.result()
    stage.check()


@story(at_least=1)
def etcd_killed(stage):
    """etcd is killed under load and started again"""
    stage.world.make_nodes(6, 30 if stage.short else 120)
    stage.scheduler()
    for _ in range(1 if stage.short else 4):
        load = stage.world.in_background(stage.world.churn, 30, 5)
        stage.wait(1, 2)
        stage.trio.kill_etcd()
        stage.count("etcd-killed")
        stage.wait(0.5, 2)
        stage.trio.start_etcd()
        stage.trio.wait_ready()
        load.result()
    stage.check()


@story(at_least=2)
def scheduler_killed(stage):
    """the scheduler itself is killed in the middle of its work, and started again"""
    stage.world.make_nodes(6, 20 * stage.times(2))
    for _ in range(stage.times(2)):
        scheduler = stage.scheduler()
        stage.world.churn(15, 1)
        stage.wait(0, 0.5)
        scheduler.kill()
        stage.count("scheduler-killed")
        stage.gone(scheduler)
        stage.world.churn(5, 0.2)
    stage.scheduler()
    stage.check()


class Extender(http.server.ThreadingHTTPServer):
    """Lets every node pass, if it answers at all."""
    daemon_threads = True

    def __init__(self, stage):
        super().__init__(("127.0.0.1", take_port()), Extender.Handler)
        self.stage, self.ending = stage, threading.Event()
        self.deck = Deck(stage.random, ("extender-hangs", "extender-500", "extender-garbage", "extender-hangs-up",
                                        "extender-half"))
        self.share = 0.4
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server = self.server
            fault = server.deck.deal() if server.stage.random.random() < server.share else None
            if fault:
                server.stage.count(fault)
                self.close_connection = True
            if fault == "extender-hangs":
                server.ending.wait(5)  # longer than the scheduler's patience
                return
            if fault == "extender-hangs-up":
                return
            if fault == "extender-500":
                return self.answer(500, b"no")
            if fault == "extender-garbage":
                return self.answer(200, b"{\"nodenames\": [7")
            names = json.loads(body)["NodeNames"]
            text = json.dumps({"nodenames": names, "failedNodes": {}, "error": ""}).encode()
            self.answer(200, text, len(text) // 2 if fault == "extender-half" else None)

        def answer(self, code, text, cut=None):
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text[:cut])


@story(at_least=4)
def extender(stage):
    """an extender that cannot be left out hangs, hangs up, or answers nonsense to two of five calls"""
    server = Extender(stage)
    stage.world.make_nodes(4, stage.times(25))
    config = {"extenders": [{"urlPrefix": "http://127.0.0.1:%d" % server.server_address[1], "filterVerb": "filter",
                             "enableHTTPS": False, "httpTimeout": "1s", "nodeCacheCapable": True, "ignorable": False}]}
    stage.scheduler(config=config)
    stage.world.churn(stage.times(25), stage.times(8))
    stage.wait(4, 5)
    server.share = 0
    stage.check()
    server.ending.set()
    server.shutdown()
    server.server_close()


@story(at_least=4, skip=lambda command: "libfaketime is not installed" if not FAKETIME else
       "the clock of a static Go program cannot be set" if "kube-scheduler" in command else None)
def clock(stage):
    """the wall clock jumps by hours, back and forth, while the scheduler leads"""
    stage.world.make_nodes(6, 60)
    offset = stage.trio.write("faketime", "+0s\n")
    scheduler = stage.scheduler(election=ELECTION, env={
        "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": offset, "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"})
    for jump in (7200, -7200, 86400, -1, 0, 400)[:4 if stage.short else 6]:
        stage.world.churn(10, 2)
        stage.trio.write("faketime", "%+ds\n" % jump)
        stage.count("clock-jump")
        stage.expect(renews_at(stage, jump), "the lease is not renewed with a clock that is off by %d s" % jump)
    stage.expect(scheduler.alive(), "the leader ended when the clock jumped, see " + scheduler.log)
    stage.check()


def renews_at(stage, offset, limit=60):
    """Whether the lease gets renewed with a time that is about that far from now."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        text = (stage.world.api.get(kube.LEASE, also=(404,)) or {"spec": {}})["spec"].get("renewTime")
        if text:
            renewed = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
            if abs(renewed.timestamp() - time.time() - offset) < 30:
                return True
        time.sleep(0.2)
    return False
