#!/usr/bin/env python3
"""progress.py BERTH - progress of `berth simulate` is told on a terminal, after a while, and nowhere else."""
import json
import os
import pty
import subprocess
import sys
import tempfile

BERTH = sys.argv[1]
N_PODS = 300


def cluster():
    """A node and pods for it, large enough that reading them is told."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
            "status": {"allocatable": {"cpu": "1000", "memory": "1Ti", "pods": "1000"}}}
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d" % i, "annotations": {"a": "x" * 10000}},
             "spec": {"containers": [{"name": "c"}]}} for i in range(N_PODS)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [node] + pods})


def on_terminal(path, after_ms):
    """What a terminal as standard error gets."""
    master, slave = pty.openpty()
    child = subprocess.Popen([BERTH, "simulate", "-f", path], stdout=subprocess.DEVNULL, stderr=slave,
                             env=dict(os.environ, BERTH_PROGRESS_AFTER_MS=str(after_ms)))
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # what Linux says at the end
            break
        if not piece:
            break
        text += piece
    os.close(master)
    assert child.wait() == 0, child.returncode
    return text.decode()


def on_pipe(path):
    done = subprocess.run([BERTH, "simulate", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, BERTH_PROGRESS_AFTER_MS="0"))
    return done.stderr


def main():
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "cluster.json")
        with open(path, "w") as f:
            f.write(cluster())
        shown = on_terminal(path, 0)
        assert "reading: " in shown, repr(shown)
        assert shown.endswith("\r\033[K"), repr(shown)
        assert "\n" not in shown, repr(shown)
        assert on_terminal(path, 1000000) == ""
        assert on_pipe(path) == ""


main()
