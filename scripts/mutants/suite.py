"""The tests of `make test`, each a process of its own, without cargo between them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Debug builds read it (crates/kernel/src/store/script/mutant.rs).
DIRECTORY = "JACKPOT_TEST_LUA"
# A test may take this much, and this often its own time: the machine runs several at once.
LEAST_LIMIT_S = 20
TIMES = 5
REDIS_READY_S = 30
WHOLE_LIMIT_S = 180  # of a test whose time is not known; that of .config/nextest.toml

PASSED, FAILED, TIMED_OUT = "passed", "failed", "timed out"


@dataclass(frozen=True)
class Test:
    binary: str
    name: str
    path: str
    cwd: str

    @property
    def id(self):
        return f"{self.binary} {self.name}"


def tests_of_gate(root):
    gate = subprocess.run(["scripts/gate.sh", "filter", "test"], cwd=root, check=True, capture_output=True, text=True)
    command = ["cargo", "nextest", "list", "--cargo-quiet", "--workspace", "--message-format", "json"]
    listed = subprocess.run(
        [*command, "--filterset", gate.stdout.strip()], cwd=root, check=True, capture_output=True, text=True
    )
    tests = []
    for suite in json.loads(listed.stdout)["rust-suites"].values():
        for name, case in suite["testcases"].items():
            if case["filter-match"]["status"] == "matches" and not case["ignored"]:
                tests.append(Test(suite["binary-id"], name, suite["binary-path"], suite["cwd"]))
    return tests


@contextmanager
def scratch():
    """A directory in memory where there is one, as the tests' servers have in `make test`."""
    memory = Path("/dev/shm")
    directory = tempfile.mkdtemp(prefix="mutant-", dir=memory if memory.is_dir() else None)
    try:
        yield Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for_redis(port):
    deadline = time.monotonic() + REDIS_READY_S
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as link:
                link.sendall(b"PING\r\n")
                if link.recv(5) == b"+PONG":
                    return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise RuntimeError(f"redis-server on port {port} is not ready")
        time.sleep(0.02)


@contextmanager
def redis():
    """A server with the settings of scripts/servers.sh. A mutant may freeze it, so each has its own."""
    with scratch() as directory:
        port = free_port()
        command = f"redis-server --port {port} --bind 127.0.0.1 --save --appendonly yes --appendfsync always"
        words = [*command.split(), "--maxmemory-policy", "noeviction", "--dir", str(directory)]
        words.insert(words.index("--save") + 1, "")
        server = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_for_redis(port)
            yield f"redis://127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait()


def run(test, redis_url, lua, limit_s, seed):
    """Runs one test with the Lua of a directory. Returns its end and the seconds it took."""
    own = {DIRECTORY: str(lua), "JACKPOT_TEST_REDIS_URL": redis_url, "PROPTEST_RNG_SEED": str(seed), "NEXTEST": "1"}
    begun = time.monotonic()
    process = subprocess.Popen(
        [test.path, test.name, "--exact"],
        cwd=test.cwd,
        env={**os.environ, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = PASSED if process.wait(limit_s) == 0 else FAILED
    except subprocess.TimeoutExpired:
        end = TIMED_OUT
    finally:
        end_group(process)
    return end, time.monotonic() - begun


def end_group(process):
    """Ends the test and what it has left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def limit_of(seconds):
    return LEAST_LIMIT_S + TIMES * seconds
