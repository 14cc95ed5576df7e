"""What the tests of http with foreign peers share: certificates, programs that listen, running things."""
import contextlib
import os
import re
import socket
import subprocess
import time


def make_cert(folder, name="server", names="DNS:localhost,IP:127.0.0.1", common_name="localhost"):
    cert, key = os.path.join(folder, name + ".crt"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=" + common_name, "-addext", "subjectAltName=" + names],
                   check=True, stderr=subprocess.DEVNULL)
    return cert, key


@contextlib.contextmanager
def serving(tool, *options, told_to_end=False):
    """http_tool as a server; gives its port. It must end by itself, in order, when it is asked to: by a signal, or by a
    request of whoever uses it."""
    child = subprocess.Popen([tool, "serve", "127.0.0.1:0", *options], stdout=subprocess.PIPE, text=True)
    try:
        port = int(child.stdout.readline().split()[1])
        yield port
        if not told_to_end:
            child.terminate()
        assert child.wait(30) == 0, child.returncode
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        child.stdout.close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_port(port):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("nobody listens on %d" % port)


def run(*args, ok=True, **options):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **options)
    if ok:
        assert done.returncode == 0, (args, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def h2load(*args):
    """Requests that succeeded, of how many."""
    text = run("h2load", *args).stdout.decode()
    found = re.search(r"requests: (\d+) total, \d+ started, \d+ done, (\d+) succeeded", text)
    return int(found.group(2)), int(found.group(1))
