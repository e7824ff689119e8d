"""When a request is sent again, and after which time."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import JackpotError, NoAnswer, ProblemError, SubjectStopped, UnexpectedAnswer

# Doubling more often makes no difference: every wait is below `longest_wait_s` by then.
_MOST_DOUBLINGS = 30


@dataclass(frozen=True)
class Retry:
    """Exponential backoff with full jitter, under one deadline for all tries of a call."""

    # Seconds from the first try. No try begins after it.
    deadline_s: float = 30.0
    # Most seconds before the second try; doubled for each try that follows.
    first_wait_s: float = 0.1
    longest_wait_s: float = 5.0

    def wait_s(self, tries: int, retry_after: float | None, chance: float) -> float:
        """Seconds before the next try. `tries` were sent; `chance` is random, 0 to 1.

        `Retry-After` is the least: the jitter comes on top, so that callers who were refused together do not come
        back together.
        """
        most = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(tries - 1, _MOST_DOUBLINGS))
        return (retry_after or 0.0) + chance * most


def may_repeat(error: JackpotError) -> bool:
    """Whether the same request may soon be answered otherwise: 503, 429 with `Retry-After`, or no answer at all."""
    if isinstance(error, SubjectStopped):
        return False
    if isinstance(error, (ProblemError, UnexpectedAnswer)):
        return error.status == 503 or (error.status == 429 and error.retry_after is not None)
    return isinstance(error, NoAnswer)
