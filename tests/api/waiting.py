"""Waits for what comes soon, with a deadline."""

import threading
import time

PATIENCE_S = 20
LOOK_EVERY_S = 0.05
PAUSE = threading.Event()


def eventually(what, look):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := look():
            return found
        PAUSE.wait(LOOK_EVERY_S)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")
