"""Stories of leader election: who leads when the leader is killed, stands still, or ends, and is the work done once?"""
import signal
import time

import api as kube
from story import story
from trio import ELECTION, REAL

TAKE_OVER_LIMIT = 120  # seconds; the lease is short, machines are slow


def holder(stage):
    lease = stage.world.api.get(kube.LEASE, also=(404,))
    return (lease or {}).get("spec", {}).get("holderIdentity") or ""


def transitions(stage):
    return stage.world.api.get(kube.LEASE)["spec"].get("leaseTransitions", 0)


def wait_holder(stage, other_than):
    """Waits until somebody else holds the lease; who."""
    until = time.monotonic() + TAKE_OVER_LIMIT
    while time.monotonic() < until:
        now = holder(stage)
        if now and now != other_than:
            return now
        time.sleep(0.1)
    raise AssertionError("nobody took the lease over from %r in %d s" % (other_than, TAKE_OVER_LIMIT))


def contender(stage, command=None):
    return stage.scheduler(command=command, election=ELECTION)


@story(at_least=1)
def leader_killed(stage):
    """the leader is killed under load: the one that waited takes over"""
    stage.world.make_nodes(6, stage.times(30))
    leader = contender(stage)
    name = wait_holder(stage, "")
    for _ in range(stage.times(1)):
        standby = contender(stage)
        load = stage.world.in_background(stage.world.churn, 30, 4)
        stage.wait(0.5, 2)
        leader.kill()
        stage.gone(leader)
        stage.count("leader-killed")
        name = wait_holder(stage, name)
        load.result()
        leader = standby
    stage.check()


@story(at_least=1)
def leader_stopped(stage):
    """the leader stands still until another leads; when it goes on, it must end and do no harm"""
    stage.world.make_nodes(6, stage.times(30))
    leader = contender(stage)
    name = wait_holder(stage, "")
    for _ in range(stage.times(1)):
        standby = contender(stage)
        load = stage.world.in_background(stage.world.churn, 30, 4)
        stage.wait(0.5, 2)
        leader.signal(signal.SIGSTOP)
        stage.count("leader-stopped")
        name = wait_holder(stage, name)
        stage.wait(0, 1)
        leader.signal(signal.SIGCONT)
        try:
            stage.expect(leader.child.wait(30) != 0, "a leader that lost its lease ended with code 0")
        except Exception:
            stage.expect(False, "a leader that lost its lease goes on")
            leader.kill()
        stage.gone(leader)
        load.result()
        stage.expect(holder(stage) == name, "the lease changed hands again")
        leader = standby
    stage.check()


@story(at_least=1)
def leader_cut_off(stage):
    """the leader cannot reach the API server any more: it must end when its lease has run out, and another leads"""
    proxy, kubeconfig = stage.byte_proxy()
    stage.world.make_nodes(6, 30)
    leader = stage.scheduler(kubeconfig, election=ELECTION)
    name = wait_holder(stage, "")
    contender(stage)
    load = stage.world.in_background(stage.world.churn, 30, 4)
    stage.wait(0.5, 2)
    proxy.refuse()
    wait_holder(stage, name)
    try:
        stage.expect(leader.child.wait(60) != 0, "a leader that lost its lease ended with code 0")
    except Exception:
        stage.expect(False, "a leader that is cut off goes on")
    stage.gone(leader)
    proxy.listen()
    load.result()
    stage.check()


@story(at_least=2)
def handed_over(stage):
    """the real kube-scheduler hands over to the one under test and back, on the same lease: once in order, once killed"""
    stage.world.make_nodes(6, 60 if stage.short else 180)
    leader = contender(stage, REAL)
    name = wait_holder(stage, "")
    for k, command in enumerate((None, REAL) * (1 if stage.short else 3)):
        standby = contender(stage, command)
        before = transitions(stage)
        load = stage.world.in_background(stage.world.churn, 30, 4)
        stage.wait(0.5, 1.5)
        if k % 2 == 0:
            leader.stop()
            stage.count("leader-ended")
        else:
            leader.kill()
            stage.count("leader-killed")
        stage.gone(leader)
        name = wait_holder(stage, name)
        stage.expect(transitions(stage) > before, "leaseTransitions did not grow at hand-over %d" % k)
        load.result()
        left, _ = stage.world.settle()
        stage.expect(not left, "after hand-over %d: %s" % (k, left))
        leader = standby
    stage.check()
