"""flashsim: how many flash pages a token costs when a language model's N-gram memory lives on SSD.

The nouns of the command line, in Python: ``open_tokens``, ``layout``, ``trace_ids``, ``pieces`` and ``Trace``,
``lru_misses``, ``sweep_cache``. Everything is imported on first use.
"""

import importlib

_NAMES = {
    "FlashsimError": "flashsim.errors",
    "TokenStream": "flashsim.tokens.stream",
    "Trace": "flashsim.trace",
    "layout": "flashsim.layouts",
    "lru_misses": "flashsim.cache",
    "open_tokens": "flashsim.tokens",
    "pieces": "flashsim.trace",
    "sweep_cache": "flashsim.studies.cache_sweep",
    "trace_ids": "flashsim.trace",
    "write_trace": "flashsim.trace",
}
__all__ = list(_NAMES)


def __getattr__(name: str):
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_NAMES[name]), name)
