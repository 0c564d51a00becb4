# The bridge to the shared libraries: loading, calls by vtable slot, ownership, buffers, objects written in Python.
# Used by the public modules of this package; nothing here is public.
"""Internal: ctypes over the binary interface."""
