"""Ten minutes of pods that come and go through a connection that breaks: does the scheduler grow?"""
import os
import statistics
import time

import faults
from story import Stage
from trio import Trio

SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
PODS = 120              # that are there at a time
WARM_UP = 0.25          # share of the time after which growth counts
RSS_GROWTH_MAX = 1.25   # of resident memory, from the first to the last quarter after that,
RSS_SLACK_KIB = 16 << 10    # and this much on top
DESCRIPTORS_GROWTH_MAX = 16


def growth(samples):
    """Medians of the first and of the last quarter."""
    quarter = max(len(samples) // 4, 1)
    return statistics.median(samples[:quarter]), statistics.median(samples[-quarter:])


def churn(stage, scheduler, proxy):
    """Until the time is over: as many pods leave as come, and now and then all connections are cut. What was measured, as
    (rss, descriptors)."""
    world, samples = stage.world, []
    began, next_sample, next_cut = time.monotonic(), 0, 0
    while time.monotonic() - began < SECONDS and scheduler.alive():
        world.make_pod()
        if len(world.made) > PODS:
            world.delete_one()
        past = time.monotonic() - began
        if past > next_sample:
            next_sample = past + SECONDS / 200
            if past > WARM_UP * SECONDS:
                samples.append((scheduler.rss_kib(), scheduler.descriptors()))
        if past > next_cut:
            next_cut = past + SECONDS / 30
            proxy.cut_all()
        time.sleep(0.05)
    return samples


def run(peers, folder, options, results):
    began = time.monotonic()
    with Trio(peers, os.path.join(folder, "soak")) as trio:
        stage = Stage(trio, "soak", options.seed, options.command, True)
        try:
            proxy, kubeconfig = stage.request_proxy()
            stage.world.make_nodes(20, PODS * 5 // 4)
            scheduler = stage.scheduler(kubeconfig)
            proxy.plan = faults.random_plan(stage, 0.03)
            samples = churn(stage, scheduler, proxy)
            first_rss, last_rss = growth([rss for rss, _ in samples])
            first_fd, last_fd = growth([fd for _, fd in samples])
            print("resident memory %d KiB, then %d KiB; descriptors %d, then %d; %d pods" %
                  (first_rss, last_rss, first_fd, last_fd, stage.world.n_pods))
            stage.expect(last_rss <= first_rss * RSS_GROWTH_MAX + RSS_SLACK_KIB,
                         "resident memory grew by more than %d%% and %d KiB" % (100 * RSS_GROWTH_MAX - 100, RSS_SLACK_KIB))
            stage.expect(last_fd <= first_fd + DESCRIPTORS_GROWTH_MAX,
                         "descriptors grew by more than %d" % DESCRIPTORS_GROWTH_MAX)
            stage.check()
        finally:
            stage.close()
        print("%d faults: %s" % (sum(stage.faults.values()),
                                 ", ".join("%s %d" % pair for pair in sorted(stage.faults.items()))))
        results.note("soak: %d seconds of churn" % SECONDS, stage.wrong, time.monotonic() - began)
