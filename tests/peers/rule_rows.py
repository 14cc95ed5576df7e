"""Rows of tests/golden/rules, described as changes of an object: what record_rules.py plays.

A case file (rules_<area>.py) has a list ROWS, made by objects of Rows:

    deployments = Rows("apps/v1", "deployments", DEPLOYMENT)
    deployments.create("a negative number of replicas", {"spec.replicas": -1})
    deployments.update("the selector changes", {"spec.selector.matchLabels.a": "z"})
    deployments.status("more replicas ready than there are", {"status.readyReplicas": 9})
    ROWS = deployments.rows

A change is {path: value}. A path is names and list indexes with dots between them, or a tuple of them where a name has dots
itself; DROP takes the place away, and a function gets the object and changes it in its own way. An update plays the changes on
`old`, by default the object as it is; changes of the old object are `was`. A status in the old object is written after its
creation, and one with a deletionTimestamp is deleted.
"""
import copy

DROP = object()


def changed(base, changes):
    result = copy.deepcopy(base)
    for path, value in (changes or {}).items():
        if callable(value):
            value(result)
            continue
        names = list(path) if isinstance(path, tuple) else path.split(".")
        at = result
        for i, name in enumerate(names[:-1]):
            empty = [] if str(names[i + 1]).isdigit() else {}
            if isinstance(at, list):
                name = int(name)
                at.extend(copy.deepcopy(empty) for _ in range(name + 1 - len(at)))
                at = at[name]
            else:
                if at.get(name) is None:
                    at[name] = empty
                at = at[name]
        last = int(names[-1]) if isinstance(at, list) else names[-1]
        if value is DROP:
            at.pop(last, None) if isinstance(at, dict) else at.pop(last)
        elif isinstance(at, list) and last >= len(at):
            at.append(copy.deepcopy(value))
        else:
            at[last] = copy.deepcopy(value)
    return result


class Rows:
    def __init__(self, api_version, resource, base):
        group, _, version = api_version.rpartition("/")
        self.place = {"group": group, "version": version, "resource": resource}
        self.base, self.rows = base, []

    def _add(self, name, verb, new, old=None):
        row = {"name": name, **self.place, "verb": verb, "object": new}
        if old is not None:
            row["old"] = old
        self.rows.append(row)

    def create(self, name, changes=None, base=None):
        self._add(name, "create", changed(base or self.base, changes))

    def write(self, verb, name, changes=None, was=None, base=None):
        """`verb` is update, or a subresource."""
        old = changed(base or self.base, was)
        self._add(name, verb, changed(old, changes), old)

    def edit(self, name, changes=None, was=None, verb="update"):
        """The changes are played on the object as it is stored, as `kubectl edit` does."""
        self._add(name, verb, None, changed(self.base, was))
        self.rows[-1]["changes"] = changes

    def update(self, name, changes=None, was=None, base=None):
        self.write("update", name, changes, was, base)

    def status(self, name, changes=None, was=None, base=None):
        self.write("status", name, changes, was, base)
