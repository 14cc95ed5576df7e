#!/usr/bin/env python3
"""plugins.py BERTH PLUGIN.so - a configuration's plugin libraries are loaded only by those who say so."""
import os
import sys
import tempfile

import cli
from cli import berth, check

PLUGIN = os.path.abspath(sys.argv[2])
CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NodeLabelScore, weight: 100}]}}
  pluginConfig: [{name: NodeLabelScore, args: {prefer: "disktype=ssd"}}]
---
apiVersion: berth.dev/v1alpha1
kind: BerthConfiguration
pluginLibraries: [%s]
"""


def commands(folder, config):
    objects = [cli.node("n%d" % i, labels={"disktype": "ssd"} if i == 5 else {}) for i in range(9)] + [cli.pod("p")]
    cluster = ["-f", cli.write_cluster(folder, objects)]
    bench = ["bench", "--engine", "SchedulingBasic/5000Nodes_10000Pods", "--divide", "1000"]
    return [(["simulate", *cluster, "-o", "name", "--config", config], b"default/p n5\n"),
            (["simulate", *cluster, "--compare", config], b"-> n5"),
            (["explain", "p", *cluster, "--config", config], b"default/p goes to n5"),
            (["bench", "--what-if", "--divide", "1000", "--config", config], b"WhatIf/Where"),
            ([*bench, "--config", config], b"SchedulingBasic")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        config = cli.write_text(folder, "config.yaml", CONFIG % PLUGIN)
        for args, want in commands(folder, config):
            code, out, err = berth(*args)
            check(code == 2 and want not in out, "%s: exit code %d" % (args, code), out + err)
            told = "%s: pluginLibraries would load code: %s; --allow-plugins allows it\n" % (config, PLUGIN)
            check(err.decode().count(told) == 1, "%s: what is told" % args, err)
            code, out, err = berth(*args, "--allow-plugins")
            check(code == 0 and want in out, "%s --allow-plugins: exit code %d" % (args, code), out + err)
        loads_nothing(folder)
    cli.finish()


def loads_nothing(folder):
    """A library that is not there is not even looked for."""
    config = cli.write_text(folder, "config.yaml", CONFIG % "/nowhere/x.so")
    for args, _ in commands(folder, config):
        code, _, err = berth(*args)
        check(code == 2 and b"would load code: /nowhere/x.so;" in err, "%s: exit code %d" % (args, code), err)
        code, _, err = berth(*args, "--allow-plugins")
        check(code == 1 and b"/nowhere/x.so" in err, "%s --allow-plugins: exit code %d" % (args, code), err)


main()
