"""What the stories of faults.py and handover.py share: a story is a function with `@story` that gets a Stage, plays, and lets
the stage check whether all is well."""
import collections
import random
import time

from fault_proxy import ByteProxy, FrameProxy, RequestProxy
from load import World
from trio import Scheduler, take_port

STORIES = []  # in the order in which they run


def story(at_least=0, skip=None):
    """`at_least` faults must have been injected, or nothing was tested; `skip` tells why not to play it with a command."""
    def register(play):
        STORIES.append(Story(play.__name__.replace("_", "-"), " ".join(play.__doc__.split()), play, at_least, skip))
        return play
    return register


Story = collections.namedtuple("Story", "name doc play at_least skip")


class Deck:
    """Deals faults so that every kind comes up, in an order that the seed gives."""

    def __init__(self, rng, cards):
        self.random, self.cards, self.left = rng, list(cards), []

    def deal(self):
        if not self.left:
            self.left = self.random.sample(self.cards, len(self.cards))
        return self.left.pop()


class Stage:
    """`command` is the scheduler under test."""

    def __init__(self, trio, name, seed, command, short):
        self.trio, self.command, self.short = trio, command, short
        self.world = World(trio, name, seed)
        self.random = random.Random("%s %s stage" % (seed, name))
        self.faults = collections.Counter()
        self.proxies, self.schedulers, self.wrong = [], [], []
        self.checked = False

    def times(self, n):
        """How much of something: the full form does four times as much."""
        return n if self.short else 4 * n

    def count(self, fault, n=1):
        self.faults[fault] += n

    def proxy(self, kind):
        """A proxy of this kind before the API server, and the kubeconfig that leads through it."""
        made = kind(("127.0.0.1", self.trio.port), take_port(), self.trio.certs, random.Random(self.random.random()))
        self.proxies.append(made)
        return made, self.trio.write_kubeconfig("proxy-%d.kubeconfig" % made.port, made.port)

    def request_proxy(self):
        return self.proxy(RequestProxy)

    def frame_proxy(self):
        return self.proxy(FrameProxy)

    def byte_proxy(self):
        return self.proxy(ByteProxy)

    def scheduler(self, kubeconfig=None, command=None, ready=True, **more):
        made = Scheduler(self.trio, command or self.command, kubeconfig, **more)
        self.schedulers.append(made)
        return made.ready() if ready else made

    def gone(self, scheduler):
        """It has been ended on purpose: nothing is asked of it any more."""
        self.schedulers.remove(scheduler)

    def wait(self, low, high):
        time.sleep(self.random.uniform(low, high))

    def expect(self, holds, sentence):
        if not holds:
            self.wrong.append(sentence)

    def calm(self):
        """From now on nothing is broken any more."""
        for proxy in self.proxies:
            proxy.plan, proxy.rate, proxy.seconds = None, 0.0, None

    def check(self):
        self.calm()
        self.wrong += self.world.check(self.schedulers)
        self.checked = True

    def close(self):
        self.world.over.set()
        for scheduler in self.schedulers:
            scheduler.stop()
        for proxy in self.proxies:
            proxy.stop()
            self.faults.update(proxy.faults)
