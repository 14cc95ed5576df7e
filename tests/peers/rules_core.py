"""Rows for kinds of the core group, and Lease; see rule_rows.py."""
from rule_rows import Rows

configmaps = Rows("v1", "configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}})
configmaps.create("a config map")

ROWS = configmaps.rows
