# The entry object of the tasks.
# Run by pytest against the built libraries.
"""Tasks belong to a Runtime."""

import threading

import pytest
from openwinml.runtime import ClosedError, WinMLError
from openwinml.tasks import Tasks


def test_cancellation_crosses_threads(runtime):
    with Tasks(runtime) as tasks, tasks.create_cancellation_source() as source:
        assert tasks.runtime is runtime and source.is_canceled is False
        thread = threading.Thread(target=source.cancel)
        thread.start()
        thread.join()
        assert source.is_canceled is True


def test_factories_are_native_objects_or_not_supported(runtime):
    with Tasks(runtime) as tasks:
        for name in ("text_generation", "chat", "automatic_speech_recognition"):
            try:
                with getattr(tasks, f"{name}_factory_interface") as factory:
                    assert factory.address
            except WinMLError as error:
                assert error.hresult == 0x80004002


def test_runtime_must_be_an_open_one(runtime):
    with pytest.raises(TypeError):
        Tasks(None)
    tasks = Tasks(runtime)
    tasks.close()
    with pytest.raises(ClosedError):
        tasks.create_cancellation_source()
