"""Cache policies over a trace: one file a policy."""

from flashsim.cache.lru import lru_misses

__all__ = ["lru_misses"]
