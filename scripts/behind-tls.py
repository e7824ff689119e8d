#!/usr/bin/env python3
"""behind-tls.py PROGRAM [ARGUMENT…]: the service over TLS for a client that speaks plain HTTP.

A `serve` listens with TLS on a port of its own, with a certificate made for the run, and stunnel answers on the port of
JACKPOT__HTTP__LISTEN instead. Other commands run as they are. So the black-box checks run over TLS: give them a program that
calls this. Needs stunnel and openssl.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def serve(command):
    plain, port = os.environ["JACKPOT__HTTP__LISTEN"], free_port()
    place = tempfile.mkdtemp(prefix="jackpot-tls-")
    cert, key, conf = (os.path.join(place, name) for name in ("cert.pem", "key.pem", "stunnel.conf"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    os.chmod(key, 0o600)
    with open(conf, "w") as file:
        file.write(f"foreground = yes\nclient = yes\npid =\n[tls]\naccept = {plain}\nconnect = 127.0.0.1:{port}\n"
                   f"CAfile = {cert}\nverifyChain = yes\ncheckHost = localhost\nsni = localhost\nTIMEOUTclose = 0\n")
    environment = {**os.environ, "JACKPOT__HTTP__LISTEN": f"127.0.0.1:{port}",
                   "JACKPOT__HTTP__TLS_CERT_FILE": cert, "JACKPOT__HTTP__TLS_KEY_FILE": key}
    service = subprocess.Popen(command, env=environment)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: service.send_signal(number))
    tunnel = None
    while service.poll() is None:
        # It listens only with the service, so that a client sees neither or both.
        if tunnel is None and reachable(port):
            tunnel = subprocess.Popen([shutil.which("stunnel") or "stunnel4", conf], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        time.sleep(0.02)
    if tunnel is not None:
        tunnel.terminate()
        tunnel.wait()
    shutil.rmtree(place, ignore_errors=True)
    return service.returncode


def reachable(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


if sys.argv[2:3] == ["serve"] and "JACKPOT__HTTP__LISTEN" in os.environ:
    sys.exit(serve(sys.argv[1:]))
os.execv(sys.argv[1], sys.argv[1:])
