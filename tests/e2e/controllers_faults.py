#!/usr/bin/env python3
"""controllers_faults.py BERTH - stories of controllers while the server is killed at random moments, while everything that controllers write
is written by somebody else, too, and while the process stands still for moments: what remains is what remains without faults. Nothing is
made twice, nothing is forgotten, nothing is left behind."""
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["BERTH"] = os.path.abspath(sys.argv[1])
os.environ["PEERS_PORT"] = str(12000 + os.getpid() * 17 % 8000)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peers"))
import controllers  # noqa: E402

SEED = os.environ.get("FAULTS_SEED") or str(random.randrange(1 << 31))
STORIES = ("replica_set", "replica_set_adopts", "replication_controller_heals", "deployment_rolls", "deployment_scales", "deployment_stuck",
           "deployment_recreates", "deployment_foreground", "job_completes", "job_indexed", "job_fails", "job_suspends", "cron_succeeds",
           "set_in_order", "set_rolls", "set_claims_go", "service_pod_becomes_ready", "budget_at_most", "quota_counts_again",
           "claim_takes_the_smallest", "volume_in_use_goes_later", "garbage_in_the_background", "garbage_orphaned", "namespace_goes",
           "token_goes_with_its_account", "own_taint_evicts")

failed = 0
for faults in (["--kill", "0.7"], ["--touch", "--freeze"]):
    failed |= controllers.main(["--recorded", "--seed", SEED, *faults, *STORIES])
sys.exit(failed)
