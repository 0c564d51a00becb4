# The package itself: its version and the compatibility switch. Importing it loads no native library.
# Applications import openwinml.runtime and openwinml.tasks.
"""OpenWinML: local AI models through the Windows ML Runtime interfaces, on any platform."""

from __future__ import annotations

from ._version import VERSION as __version__

__all__ = ["__version__", "install_as_windowsml"]


def install_as_windowsml() -> None:
    """Lets `import windowsml.runtime` and `import windowsml.tasks` find this package.

    Raises ImportError when another package of that name is already imported.
    """
    import sys
    import types

    from . import runtime, tasks

    present = sys.modules.get("windowsml")
    if present is not None:
        if getattr(present, "__openwinml__", False):
            return
        origin = getattr(present, "__file__", None) or "an unknown place"
        raise ImportError(
            f"windowsml is already imported from {origin}; call install_as_windowsml() before importing it"
        )
    module = types.ModuleType("windowsml", __doc__)
    module.__path__ = []
    module.__dict__.update(__openwinml__=True, __version__=__version__, runtime=runtime, tasks=tasks)
    sys.modules.update({"windowsml": module, "windowsml.runtime": runtime, "windowsml.tasks": tasks})
