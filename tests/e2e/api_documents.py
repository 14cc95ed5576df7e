#!/usr/bin/env python3
"""The real kubectl with discovery and OpenAPI documents of berth: api_documents.py API_TOOL

Answers come from tests/api_tool.c. Expected outputs are those of kubectl v1.36 with kube-apiserver v1.36.4, in
tests/golden/apiserver/kubectl.txt; `--record KUBECONFIG` makes that file anew. Skipped where there is no kubectl: one in
the folder that BERTH_PEERS names (tests/peers/build makes it), or in the path."""
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "apiserver" / "kubectl.txt"
COMMANDS = [
    "api-versions", "api-resources", "api-resources -o wide --sort-by name",
        "api-resources --namespaced=false --verbs=patch",
    "explain pods", "explain pod.spec.containers.resources", "explain pods.spec.containers.ports --recursive",
    "explain deployments --recursive", "explain deployment.spec.strategy",
        "explain hpa --api-version=autoscaling/v2 --recursive",
    "explain cm", "explain ingresses.spec.rules.http.paths", "explain pods.nope", "explain nopes",
    "explain csr.spec.usages", "explain services.spec.ports.targetPort", "explain crd.spec.versions",
    "get --raw /apis/nope", "get pods x", "get deployments.v1.apps x", "get nope", "get pods.v2 x",
]
APPLIES = [  # (arguments, standard input)
    ("create --dry-run=client -o name -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"),
    ("create --dry-run=client --validate=true -o name -f -",
     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {}\n"),
    ("create --dry-run=client -o name -f -", "apiVersion: nope/v1\nkind: Nope\nmetadata: {name: a}\n"),
    ("apply --dry-run=client -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"),
]


def kubectl_path():
    for folder in (os.environ.get("BERTH_PEERS"), os.path.expanduser("~/.cache/berth-peers")):
        if folder and os.access(os.path.join(folder, "kubectl"), os.X_OK):
            return os.path.join(folder, "kubectl")
    return shutil.which("kubectl")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        accept = ",".join(self.headers.get_all("Accept", []))
        out = subprocess.run([self.server.tool, self.command, self.path, accept], capture_output=True,
                             check=True).stdout
        head, body = out.split(b"\n\n", 1)
        code, content_type, etag = head.decode().split("\n")
        self.send_response(int(code))
        self.send_header("Content-Type", content_type)
        if etag != "-":
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *args):
        pass


def shown(output, explain):
    """Without what only descriptions bring: explain shows fields, types, requirement and enumerations."""
    lines = output.splitlines()
    if not explain:
        return lines
    kept, in_description = [], False
    for line in lines:
        if line.startswith("DESCRIPTION:"):
            in_description = True
        elif line and not line.startswith(" "):
            in_description = False
        field = line.startswith(" ") and "\t<" in line
        enum = line.strip().startswith("enum: ")
        if not in_description and line and (not line.startswith(" ") or field or enum):
            kept.append(line)
    return kept


def run(kubectl, kubeconfig, home, arguments, stdin=""):
    env = {"HOME": home, "PATH": os.environ["PATH"], "TZ": "UTC"}
    done = subprocess.run([kubectl, "--kubeconfig", kubeconfig, *arguments.split()], input=stdin, capture_output=True,
                          text=True, env=env)
    out = [f"$ kubectl {arguments}"] + [f"| {l}" for l in shown(done.stdout, arguments.startswith("explain"))]
    return out + [f"! {l}" for l in done.stderr.splitlines()] + [f"? {done.returncode}"]


def transcript(kubectl, kubeconfig):
    lines = []
    with tempfile.TemporaryDirectory() as home:
        for arguments in COMMANDS:
            lines += run(kubectl, kubeconfig, home, arguments)
        for arguments, stdin in APPLIES:
            lines += run(kubectl, kubeconfig, home, arguments, stdin)
    return lines


def main():
    kubectl = kubectl_path()
    if not kubectl:
        print("skipped: no kubectl (tests/peers/build makes one)")
        return 77
    if sys.argv[1] == "--record":
        GOLDEN.write_text("\n".join(transcript(kubectl, sys.argv[2])) + "\n")
        return 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.tool = sys.argv[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "kubeconfig"
        config.write_text(f"apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{server.server_port}'}}}}]\n"
                          "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: c\n")
        got = transcript(kubectl, str(config))
    server.shutdown()
    want = GOLDEN.read_text().splitlines()
    if got != want:
        import difflib
        print("\n".join(difflib.unified_diff(want, got, "recorded", "berth", lineterm="", n=2)))
        return 1
    print(f"{len(COMMANDS) + len(APPLIES)} commands print what they print with the real server")
    return 0


if __name__ == "__main__":
    sys.exit(main())
