"""The bodies of the API, generated from its description."""

from .generated.models import *  # noqa: F403
from .generated.models import __all__ as __all__
