# Enums, records and argument checks of the package: what is accepted, what is refused and how.
# Run by pytest; needs no library.
"""Values are checked when they are made."""

import dataclasses
import pickle

import pytest
from openwinml import runtime as r


def test_image_options_default_to_float_planes_of_rgb():
    options = r.ImageTensorOptions()
    assert (options.data_type, options.layout, options.channel_order) == (
        r.TensorDataType.FLOAT32,
        r.TensorLayout.NCHW,
        r.TensorChannelOrder.RGB,
    )
    assert (options.size, options.resize_mode, options.letterbox_value) == (None, r.ImageResizeMode.STRETCH, (0.0,) * 4)
    assert options.normalization == r.TensorNormalization.identity() and options.quantization is None


def test_audio_and_token_options_have_defaults():
    assert dataclasses.astuple(r.AudioTensorOptions()) == (r.TensorDataType.FLOAT32, None, 0, 0, 0)
    assert r.TokenTensorOptions().data_type == r.TensorDataType.INT64


def test_records_take_their_fields_in_the_written_order():
    options = r.ImageTensorOptions(
        r.TensorDataType.UINT8,
        r.TensorLayout.NHWC,
        r.TensorChannelOrder.BGR,
        (640, 480),
        r.ImageResizeMode.LETTERBOX,
        (1, 2, 3, 4),
        r.TensorNormalization.unit(),
        r.TensorQuantization(r.TensorQuantizationMode.RAW, None, None),
    )
    assert options.size == (640, 480) and options.letterbox_value == (1.0, 2.0, 3.0, 4.0)
    message = r.ChatCompletionMessage("user", "Hi", "thought")
    assert (message.role, message.content, message.reasoning_content) == ("user", "Hi", "thought")


def test_records_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        r.TokenTensorOptions().data_type = r.TensorDataType.INT32


def test_normalizations_have_the_published_constants():
    assert r.TensorNormalization.identity() == r.TensorNormalization((1, 1, 1, 1), (0, 0, 0, 0))
    assert r.TensorNormalization.unit().scale[0] == 1 / 255
    imagenet = r.TensorNormalization.imagenet()
    assert imagenet.mean[:3] == (123.675, 116.28, 103.53)
    assert imagenet.scale[:3] == (1 / 58.395, 1 / 57.12, 1 / 57.375)


@pytest.mark.parametrize(
    "make",
    [
        lambda: r.ImageTensorOptions(data_type=99),
        lambda: r.ImageTensorOptions(size=(0, 1)),
        lambda: r.ImageTensorOptions(size=(1, 2, 3)),
        lambda: r.ImageTensorOptions(layout=r.TensorLayout.NT),
        lambda: r.AudioTensorOptions(channels=-1),
        lambda: r.AudioTensorOptions(window_frames=1 << 32),
        lambda: r.AudioTensorOptions(layout=r.TensorLayout.NHWC),
        lambda: r.TensorNormalization((1, 1, 1), (0, 0, 0, 0)),
        lambda: r.TensorNormalization((float("nan"), 1, 1, 1), (0, 0, 0, 0)),
        lambda: r.TensorQuantization(r.TensorQuantizationMode.RAW, scale=0),
        lambda: r.VideoFrameMetadata(-1, 2),
        lambda: r.ChatCompletionMessage("", "Hi"),
        lambda: r.ChatCompletionMessage("user", "a\0b"),
        lambda: r.ChatCompletionMessage("user", "Hi", content_parts=(r.ChatCompletionContentPart("text", "Hi"),)),
        lambda: r.ChatCompletionRequest(timestamp_unix_seconds=1 << 63),
        lambda: r.ChatCompletionRequest(tool_choice=9),
        lambda: r.ChatCompletionTemplateValue("n", r.ChatCompletionTemplateValueType.INTEGER, 1 << 63),
        lambda: r.TokenConstraintCandidate(-1, 0.0),
    ],
)
def test_values_out_of_range_raise_value_error(make):
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: r.ImageTensorOptions(data_type="float32"),
        lambda: r.ImageTensorOptions(data_type=r.TensorLayout.NCHW),
        lambda: r.ImageTensorOptions(size="ab"),
        lambda: r.ImageTensorOptions(normalization=(1, 0)),
        lambda: r.AudioTensorOptions(channels=1.0),
        lambda: r.TokenTensorOptions(None),
        lambda: r.ChatCompletionMessage(b"user"),
        lambda: r.ChatCompletionMessage("user", 5),
        lambda: r.ChatCompletionRequest(messages="user"),
        lambda: r.ChatCompletionRequest(messages=[("user", "Hi")]),
        lambda: r.ChatCompletionRequest(add_generation_prompt=1),
        lambda: r.ChatCompletionTemplateValue("n", r.ChatCompletionTemplateValueType.BOOLEAN, 1),
        lambda: r.ChatCompletionTemplateValue("n", r.ChatCompletionTemplateValueType.INTEGER, True),
        lambda: r.ChatCompletionTemplateValue("n", r.ChatCompletionTemplateValueType.JSON, {}),
    ],
)
def test_wrong_kinds_raise_type_error(make):
    with pytest.raises(TypeError):
        make()


def test_lists_in_records_become_tuples():
    request = r.ChatCompletionRequest([r.ChatCompletionMessage("user", "Hi")])
    assert request.messages == (r.ChatCompletionMessage("user", "Hi"),)
    assert hash(request) == hash(r.ChatCompletionRequest((r.ChatCompletionMessage("user", "Hi"),)))


def test_error_is_an_os_error_with_code_and_sentence():
    error = r.WinMLError(0x80070002, "model.onnx does not exist")
    assert isinstance(error, OSError) and error.hresult == 0x80070002
    assert str(error) == "model.onnx does not exist (0x80070002)"
    assert r.WinMLError(-2147024809).hresult == 0x80070057
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.hresult, copy.native_message) == (r.WinMLError, error.hresult, error.native_message)


def test_error_without_sentence_says_what_the_code_means():
    error = r.WinMLError(0x80070057, None, "IWinMLStage::BindInput")
    assert error.native_message is None
    assert str(error) == "IWinMLStage::BindInput: an argument is not valid (0x80070057)"


def test_not_supported_and_closed_are_kinds_of_winml_error():
    assert issubclass(r.NotSupportedError, r.WinMLError)
    assert issubclass(r.ClosedError, r.WinMLError) and issubclass(r.ClosedError, ValueError)


def test_error_event_raises_and_others_do_not():
    kinds = r.ChatCompletionEventType
    r.ConversationOutputEvent(kinds.CONTENT_DELTA, "Hi").raise_for_error()
    with pytest.raises(r.WinMLError, match="the call was not valid JSON") as caught:
        r.ConversationOutputEvent(
            kinds.ERROR, error_code=0x8007000D, error_message="the call was not valid JSON"
        ).raise_for_error()
    assert caught.value.hresult == 0x8007000D


def test_native_objects_cannot_be_constructed():
    for kind in (
        r.Tensor,
        r.Model,
        r.Stage,
        r.Pipeline,
        r.PipelineBuilder,
        r.ExecutionTarget,
        r.Tokenizer,
        r.Processor,
    ):
        with pytest.raises(TypeError):
            kind()
