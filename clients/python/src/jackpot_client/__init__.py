"""Client of the Jackpot service for game back ends.

>>> from jackpot_client import Jackpot
>>> jackpot = Jackpot("https://jackpot.example", key="...")
>>> entry = jackpot.enter("spring", entry_id="round-8812-p7", player_id="p7", stake=100)
"""

from . import fairness, receipts
from .calls import Page
from .client import AsyncJackpot, Jackpot
from .errors import (
    Conflict,
    CouponRefused,
    FieldError,
    Forbidden,
    IdReused,
    InvalidRequest,
    JackpotError,
    NoAnswer,
    NotFound,
    PassRefused,
    ProblemError,
    RateLimited,
    SeedNotPublished,
    ServiceFault,
    SubjectStopped,
    SubjectSuspended,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    VerificationError,
)
from .receipts import Pass, Receipt
from .retry import Retry
from .version import __version__

__all__ = [
    "AsyncJackpot",
    "Conflict",
    "CouponRefused",
    "FieldError",
    "Forbidden",
    "IdReused",
    "InvalidRequest",
    "Jackpot",
    "JackpotError",
    "NoAnswer",
    "NotFound",
    "Page",
    "Pass",
    "PassRefused",
    "ProblemError",
    "RateLimited",
    "Receipt",
    "Retry",
    "SeedNotPublished",
    "ServiceFault",
    "SubjectStopped",
    "SubjectSuspended",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "VerificationError",
    "__version__",
    "fairness",
    "receipts",
]
