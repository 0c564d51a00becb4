# The hand-written enums and structs of the package against the generated tables.
# Run by pytest; needs no library.
"""Numbers and layouts of the package are those of the binary interface."""

import enum

import pytest
from openwinml import _abi, _conversation_values
from openwinml._native import interfaces
from openwinml.runtime import _enums
from openwinml.tasks import _enums as _task_enums

NAMES = {
    "ChatCompletionFormatterMode": "CONVERSATION_FORMATTER_MODE",
    "ChatCompletionToolChoice": "CONVERSATION_TOOL_CHOICE",
    "ChatCompletionParallelToolCalls": "CONVERSATION_PARALLEL_TOOL_CALLS",
    "ChatCompletionContinuation": "CONVERSATION_CONTINUATION",
    "ChatCompletionTemplateValueType": "CONVERSATION_TEMPLATE_VALUE_TYPE",
    "ChatCompletionEnableThinking": "CONVERSATION_ENABLE_THINKING",
    "ChatCompletionResponseFormat": "CONVERSATION_RESPONSE_FORMAT",
    "ChatCompletionEventType": "CONVERSATION_OUTPUT_EVENT_TYPE",
    "TensorLayout": "TENSOR_LAYOUT_FORMAT",
    "TextGenerationSegmentKind": "GENERATION_SEGMENT_KIND",
}


def enums():
    for module in (_enums, _task_enums, _conversation_values):
        for name, value in vars(module).items():
            if (
                isinstance(value, type)
                and issubclass(value, (enum.IntEnum, enum.IntFlag))
                and value.__module__ == module.__name__
            ):
                yield pytest.param(value, id=name)


def native_name(name):
    snake = "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in name).lstrip("_")
    return "WINML_" + NAMES.get(name, snake)


@pytest.mark.parametrize("python", [one for one in enums() if one.id != "ImageFormat"])
def test_enum_has_the_names_and_numbers_of_the_interface(python):
    native = _abi.ENUMS[native_name(python.__name__)]
    prefix = len("_".join(shared_words(list(native)))) + 1
    assert {name[prefix:]: value for name, value in native.items()} == {
        name: int(member) for name, member in python.__members__.items()
    }


def shared_words(names):
    words = [name.split("_") for name in names]
    count = 0
    while len({tuple(one[: count + 1]) for one in words}) == 1:
        count += 1
    return words[0][:count]


@pytest.mark.parametrize("name", sorted(_abi.STRUCTS))
def test_struct_has_the_size_and_the_offsets_of_the_interface(name):
    made = interfaces.struct(name)
    assert made.__name__ == name
    for field, _, _, offset, _ in _abi.STRUCTS[name][1]:
        assert getattr(made, field).offset == offset


@pytest.mark.parametrize("name", sorted(_abi.INTERFACES))
def test_interface_numbers_its_methods_without_a_gap(name):
    described = interfaces.interface(name)
    assert sorted(slot for slot, _ in described.methods.values()) == list(range(3, 3 + len(described.methods)))
    assert described.uuid.bytes_le == bytes(described.iid)
