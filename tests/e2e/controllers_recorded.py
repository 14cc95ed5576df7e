#!/usr/bin/env python3
"""controllers_recorded.py BERTH [STORY...] - stories of controllers, as tests/peers/controllers.py plays them, compared with what the real
kube-controller-manager made of them: tests/peers/recordings/controllers_*.json.gz."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["BERTH"] = os.path.abspath(sys.argv[1])
# Below the ports that the system gives to connections: nobody else has it when the server starts.
os.environ["PEERS_PORT"] = str(12000 + os.getpid() * 17 % 8000)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peers"))
import controllers  # noqa: E402

sys.exit(controllers.main(["--recorded", *sys.argv[2:]]))
