#!/usr/bin/env python3
"""Stories of CertificateSigningRequests. Alone: controllers_certificates.py [OPTIONS] [STORY...], as controllers.py.

What a certificate says is written into a ConfigMap, which is then compared: the certificate itself is never twice the same."""
import base64
import email.utils
import subprocess
import sys

from controller_story import story

CLIENT, KUBELET, SERVING, LEGACY = ("kubernetes.io/" + name for name in (
    "kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving", "legacy-unknown"))


def openssl(*arguments, text=None):
    return subprocess.run(("openssl",) + arguments, input=text, capture_output=True, check=True, timeout=60).stdout


def request(subject, *names):
    more = ("-addext", "subjectAltName=" + ",".join(names)) if names else ()
    return openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "/dev/null", "-subj", subject,
                   *more)


def ask(w, signer, subject, usages, *names, **spec):
    w.make("certificatesigningrequests", w.own("csr"), dict({
        "request": base64.b64encode(request(subject, *names)).decode(), "signerName": signer, "usages": list(usages)}, **spec))


def approve(w, condition="Approved"):
    csr = w.get("certificatesigningrequests", w.own("csr"))
    csr["status"]["conditions"] = [{"type": condition, "status": "True", "reason": "Me", "message": "m"}]
    w.api.call("PUT", w.path("certificatesigningrequests", w.own("csr") + "/approval"), csr)


def seconds(text, field):
    line = next(x for x in text.splitlines() if x.startswith(field))
    month, day, clock, year, _ = line.partition("=")[2].split()
    return email.utils.parsedate_to_datetime("Mon, %s %s %s %s +0000" % (day, month, year, clock)).timestamp()


def told(w):
    """Waits for a certificate, and keeps what it says: who, what for, how long."""
    pem = w.until("signed", lambda: w.status("certificatesigningrequests", w.own("csr")).get("certificate"))
    text = openssl("x509", "-noout", "-subject", "-issuer", "-ext", "subjectAltName,keyUsage,extendedKeyUsage,basicConstraints", "-startdate",
                   "-enddate", text=base64.b64decode(pem)).decode()
    lifetime = seconds(text, "notAfter") - seconds(text, "notBefore")
    if lifetime > 86400:  # it ends with the authority, which was made some seconds ago
        lifetime = round(lifetime / 86400) * 86400
    kept = [line for line in text.splitlines() if not line.startswith("not")]
    w.make("configmaps", "certificate", data={"text": "\n".join(kept), "lifetime": "%d" % lifetime})
    keep_status(w)


def keep_status(w):
    status = w.status("certificatesigningrequests", w.own("csr"))
    shown = [" ".join("%s=%s" % (k, v) for k, v in sorted(c.items()) if not k.startswith("last")) for c in status.get("conditions", [])]
    w.make("configmaps", "status", data={"conditions": "\n".join(shown), "signed": str("certificate" in status)})


CLIENT_USAGES, SERVER_USAGES = ("digital signature", "key encipherment", "client auth"), ("digital signature", "server auth")


@story()
def certificate_of_a_client(w):
    ask(w, CLIENT, "/O=team/CN=ann", CLIENT_USAGES)
    approve(w)
    told(w)


@story()
def certificate_that_is_short(w):
    ask(w, CLIENT, "/O=team/CN=ann", ["client auth"], expirationSeconds=3600)
    approve(w)
    told(w)


@story()
def certificate_that_is_long(w):
    ask(w, CLIENT, "/CN=ann", ["client auth"], expirationSeconds=36000)
    approve(w)
    told(w)


@story()
def certificate_that_is_too_long(w):
    ask(w, CLIENT, "/CN=ann", ["client auth"], expirationSeconds=10 * 365 * 86400)
    approve(w)
    told(w)


@story()
def certificate_of_wrong_usages(w):
    ask(w, CLIENT, "/CN=ann", ["server auth", "client auth"])
    approve(w)
    w.until("failed", lambda: w.condition("certificatesigningrequests", w.own("csr"), "Failed"))
    keep_status(w)


@story()
def certificate_of_a_kubelet(w):
    """Nobody has to approve it."""
    ask(w, KUBELET, "/O=system:nodes/CN=system:node:n", CLIENT_USAGES)
    told(w)


@story()
def certificate_of_itself(w):
    """Of who asks: the name is that of the administrator."""
    ask(w, KUBELET, "/O=system:nodes/CN=admin", CLIENT_USAGES)
    w.stays("nobody's", lambda: not w.status("certificatesigningrequests", w.own("csr")).get("conditions"))
    keep_status(w)


@story()
def certificate_of_a_kubelet_with_names(w):
    ask(w, KUBELET, "/O=system:nodes/CN=system:node:n", CLIENT_USAGES, "DNS:x.example")
    approve(w)
    w.until("failed", lambda: w.condition("certificatesigningrequests", w.own("csr"), "Failed"))
    keep_status(w)


@story()
def certificate_of_a_server(w):
    """It has to be approved."""
    ask(w, SERVING, "/O=system:nodes/CN=system:node:n", SERVER_USAGES, "DNS:n.example", "IP:10.0.0.1")
    w.stays("open", lambda: not w.status("certificatesigningrequests", w.own("csr")).get("conditions"))
    approve(w)
    told(w)


@story()
def certificate_of_a_server_without_names(w):
    ask(w, SERVING, "/O=system:nodes/CN=system:node:n", SERVER_USAGES)
    approve(w)
    w.until("failed", lambda: w.condition("certificatesigningrequests", w.own("csr"), "Failed"))
    keep_status(w)


@story()
def certificate_of_another_signer(w):
    ask(w, "example.com/mine", "/CN=ann", ["client auth"])
    approve(w)
    w.stays("unsigned", lambda: "certificate" not in w.status("certificatesigningrequests", w.own("csr")))
    keep_status(w)


@story()
def certificate_that_is_denied(w):
    ask(w, CLIENT, "/CN=ann", ["client auth"])
    approve(w, "Denied")
    w.stays("unsigned", lambda: "certificate" not in w.status("certificatesigningrequests", w.own("csr")))
    keep_status(w)


if __name__ == "__main__":
    import controllers
    sys.exit(controllers.main(sys.argv[1:] or [name for name in controllers.STORIES if name.startswith("certificate_")]))
