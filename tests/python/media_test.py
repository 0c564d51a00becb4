# Pictures, sound and tokens: what reaches the factories of a target, seen by factories written in Python.
# Run by pytest; needs numpy, no library.
"""Media become the native descriptions that the interface defines."""

import ctypes
import struct as packing

import pytest
from fakes import FakeTensor, give, target_with
from openwinml import runtime as r
from openwinml._native.com_object import ComObject
from openwinml._native.interfaces import struct
from openwinml.runtime import _audio, _image, _tokens
from openwinml.runtime._tensor import Tensor

np = pytest.importorskip("numpy")


class ImageFactory(ComObject):
    interface_name = "IWinMLImageTensorFactory"

    def CreateTensorFromImageMemory(self, pixels, count, width, height, pitch, kind, desc, tensor):
        self.pixels = ctypes.string_at(pixels, count)
        self.picture = (width, height, pitch, kind)
        self.note(desc)
        give(tensor, FakeTensor(r.TensorDataType.FLOAT32, (1, 3, self.desc.height, self.desc.width)))

    def WriteTensorFromImageMemory(self, pixels, count, width, height, pitch, kind, desc, tensor):
        self.pixels, self.picture = ctypes.string_at(pixels, count), (width, height, pitch, kind)
        self.note(desc)
        self.destination = tensor

    def WriteImageMemoryFromTensor(self, tensor, width, height, pitch, kind, desc, pixels, count):
        self.picture = (width, height, pitch, kind)
        self.note(desc)
        ctypes.memset(pixels, 7, count)

    def note(self, desc):
        source = struct("WINML_IMAGE_TENSOR_DESC").from_address(desc)
        self.desc = struct("WINML_IMAGE_TENSOR_DESC").from_buffer_copy(source)
        if self.desc.quantization:
            found = struct("WINML_TENSOR_QUANTIZATION").from_address(self.desc.quantization)
            floats = ctypes.c_float * 1
            self.quantization = (
                found.mode,
                list(floats.from_address(found.scales)),
                list(floats.from_address(found.zeroPoints)),
            )

    CreateTensorFromMFSampleNV12 = WriteTensorFromMFSampleNV12 = CreateMFSampleFromTensorNV12 = lambda *_: 0x80070032


@pytest.fixture
def images():
    factory = ImageFactory()
    keep = factory.take_reference()
    target, context = target_with(IWinMLImageTensorFactory=factory)
    yield factory, target, context
    target.close()
    del keep


def create(images, image, options=None, **raw):
    factory, target, context = images
    picture = _image.picture_of(image, *(raw.get(name) for name in ("width", "height", "row_pitch", "image_format")))
    return factory, _image.create(context, picture, options, target)


def test_raw_pixels_keep_the_size_of_the_picture_by_default(images):
    factory, tensor = create(images, bytes(range(24)), width=3, height=2)
    assert factory.pixels == bytes(range(24)) and factory.picture == (3, 2, 0, r.ImageFormat.RGBA8)
    desc = factory.desc
    assert (desc.dataType, desc.layout, desc.channelOrder, desc.batchSize, desc.channels) == (1, 1, 1, 1, 3)
    assert (desc.width, desc.height, desc.resizeMode, desc.quantization) == (3, 2, 0, None)
    assert list(desc.normalization.scale) == [1.0] * 4 and list(desc.normalization.mean) == [0.0] * 4
    assert tensor.desc() == (r.TensorDataType.FLOAT32, (1, 3, 2, 3))


def test_options_reach_the_factory(images):
    options = r.ImageTensorOptions(
        r.TensorDataType.INT8,
        r.TensorLayout.NHWC,
        r.TensorChannelOrder.BGRA,
        (8, 4),
        r.ImageResizeMode.LETTERBOX,
        (1, 2, 3, 4),
        r.TensorNormalization((1, 2, 3, 4), (5, 6, 7, 8)),
        r.TensorQuantization(r.TensorQuantizationMode.ZERO_POINT_AFFINE, 0.5, -3),
    )
    factory, _ = create(images, bytes(16), options, width=2, height=2)
    desc = factory.desc
    assert (desc.dataType, desc.layout, desc.channelOrder, desc.channels, desc.width, desc.height) == (4, 2, 5, 4, 8, 4)
    assert desc.resizeMode == 2 and list(desc.letterboxValue) == [1, 2, 3, 4]
    assert list(desc.normalization.scale) == [1, 2, 3, 4] and list(desc.normalization.mean) == [5, 6, 7, 8]
    assert factory.quantization == (2, [0.5], [-3.0])


def test_arrays_are_pictures(images):
    factory, _ = create(images, np.full((2, 3, 3), 9, np.uint8))
    assert factory.picture == (3, 2, 0, r.ImageFormat.RGBA8) and factory.pixels == bytes([9, 9, 9, 255]) * 6
    factory, _ = create(images, np.arange(6, dtype=np.uint8).reshape(2, 3))
    assert factory.picture == (3, 2, 0, r.ImageFormat.GRAY8) and factory.pixels == bytes(range(6))


def test_pillow_images_are_pictures(images):
    image_module = pytest.importorskip("PIL.Image")
    factory, _ = create(images, image_module.new("RGB", (3, 2), (1, 2, 3)))
    assert factory.picture == (3, 2, 0, r.ImageFormat.RGBA8) and factory.pixels == bytes([1, 2, 3, 255]) * 6


def test_rows_may_be_padded(images):
    factory, _ = create(images, bytes(16 + 8), width=2, height=2, row_pitch=16, image_format=r.ImageFormat.BGRA8)
    assert factory.picture == (2, 2, 16, r.ImageFormat.BGRA8)


@pytest.mark.parametrize(
    "image, raw, error",
    [
        (bytes(23), {"width": 3, "height": 2}, ValueError),
        (bytes(24), {"width": 3, "height": 2, "row_pitch": 11}, ValueError),
        (bytes(24), {"width": 0, "height": 2}, ValueError),
        (bytes(24), {}, TypeError),
        ("text", {"width": 1, "height": 1}, TypeError),
        (np.zeros((2, 2, 3), np.float32), {}, TypeError),
        (np.zeros((2, 2, 2), np.uint8), {}, ValueError),
    ],
)
def test_pictures_that_cannot_be_are_refused(images, image, raw, error):
    with pytest.raises(error):
        create(images, image, **raw)


def test_tensor_becomes_pixels(images):
    factory, target, context = images
    tensor = Tensor._of(FakeTensor(r.TensorDataType.FLOAT32, (1, 3, 4, 5)).take_reference(), context)
    assert tensor.to_image_bytes(size=(5, 4), target=target) == bytes([7]) * 80
    assert factory.picture == (5, 4, 0, r.ImageFormat.RGBA8) and (factory.desc.width, factory.desc.height) == (5, 4)
    options = r.ImageTensorOptions(layout=r.TensorLayout.NHWC, channel_order=r.TensorChannelOrder.GRAY)
    tensor = Tensor._of(FakeTensor(r.TensorDataType.FLOAT32, (1, 4, 5, 1)).take_reference(), context)
    assert (
        len(tensor.to_image_bytes(size=(5, 4), image_format=r.ImageFormat.GRAY8, options=options, target=target)) == 20
    )
    assert (factory.desc.width, factory.desc.height, factory.desc.channels) == (5, 4, 1)
    flat = Tensor._of(FakeTensor(r.TensorDataType.FLOAT32, (12,)).take_reference(), context)
    with pytest.raises(ValueError, match="holds no picture"):
        flat.to_image_bytes(size=(5, 4), target=target)


def test_picture_is_written_into_a_tensor(images):
    factory, target, context = images
    tensor = Tensor._of(FakeTensor(r.TensorDataType.FLOAT32, (1, 3, 4, 5)).take_reference(), context)
    _image.write(context, tensor, _image.picture_of(bytes(24), 3, 2, None, None), None, target)
    assert factory.picture[:2] == (3, 2) and (factory.desc.width, factory.desc.height) == (5, 4)
    assert factory.destination == tensor._native.address


class AudioFactory(ComObject):
    interface_name = "IWinMLAudioTensorFactory"

    def CreateTensorFromPcm(self, samples, count, wave, wave_size, desc, tensor):
        self.samples = ctypes.string_at(samples, count)
        self.wave = packing.unpack("<HHIIHHH", ctypes.string_at(wave, wave_size))
        self.desc = struct("WINML_AUDIO_TENSOR_DESC").from_buffer_copy(
            struct("WINML_AUDIO_TENSOR_DESC").from_address(desc)
        )
        give(tensor, FakeTensor(r.TensorDataType.FLOAT32, (1, 4)))

    def WriteTensorToPcm(self, tensor, wave, wave_size, samples, count):
        self.wave = packing.unpack("<HHIIHHH", ctypes.string_at(wave, wave_size))
        ctypes.memset(samples, 3, count)


@pytest.fixture
def sounds():
    factory = AudioFactory()
    keep = factory.take_reference()
    target, context = target_with(IWinMLAudioTensorFactory=factory)
    yield factory, target, context
    target.close()
    del keep


def test_samples_of_one_channel_become_batch_and_time(sounds):
    factory, target, context = sounds
    _audio.create(context, bytes(16), 16000, None, None, None, target)
    assert factory.wave == (3, 1, 16000, 64000, 4, 32, 0)
    desc = factory.desc
    assert (desc.dataType, desc.layout, desc.sampleRate, desc.channels) == (1, r.TensorLayout.NT, 16000, 1)
    assert (desc.windowFrames, desc.hopFrames) == (0, 0)


def test_arrays_tell_channels_and_format(sounds):
    factory, target, context = sounds
    options = r.AudioTensorOptions(r.TensorDataType.FLOAT16, None, 0, 400, 160)
    _audio.create(context, np.zeros((4, 2), np.int16), 48000, None, None, options, target)
    assert factory.wave == (1, 2, 48000, 192000, 4, 16, 0) and len(factory.samples) == 16
    desc = factory.desc
    assert (desc.dataType, desc.layout, desc.channels, desc.windowFrames, desc.hopFrames) == (
        2,
        r.TensorLayout.NCT,
        2,
        400,
        160,
    )


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((bytes(16), 0, None, None), ValueError),
        ((bytes(16), 16000, 0, None), ValueError),
        ((bytes(16), 16000, 1, "int24"), ValueError),
        ((bytes(16), 16000, 1, 5), TypeError),
        (("text", 16000, 1, None), TypeError),
        ((np.zeros(4), 16000, 1, None), TypeError),
        ((np.zeros((4, 2), np.int16), 16000, 3, None), ValueError),
        ((np.zeros((4, 2), np.int16), 16000, None, "float32"), TypeError),
        ((bytes(16), 1 << 31, 2, None), ValueError),
    ],
)
def test_sounds_that_cannot_be_are_refused(sounds, arguments, error):
    with pytest.raises(error):
        _audio.create(sounds[2], *arguments, None, sounds[1])


def test_tensor_becomes_samples(sounds):
    factory, target, context = sounds
    tensor = Tensor._of(FakeTensor(r.TensorDataType.FLOAT32, (1, 2, 4)).take_reference(), context)
    assert tensor.to_audio_bytes(sample_rate=8000, channels=2, sample_format="int16", target=target) == bytes([3]) * 16
    assert factory.wave == (1, 2, 8000, 32000, 4, 16, 0)
    with pytest.raises(ValueError, match="whole number of frames"):
        tensor.to_audio_bytes(sample_rate=8000, channels=3, target=target)


class TextFactory(ComObject):
    interface_name = "IWinMLTextTensorFactory"

    def CreateTokenTensor(self, ids, count, desc, tensor):
        self.ids = list((ctypes.c_uint32 * count).from_address(ids))
        found = struct("WINML_TOKEN_TENSOR_DESC").from_address(desc)
        self.desc = (found.dataType, found.batchSize)
        give(tensor, FakeTensor(r.TensorDataType.INT64, (1, count)))

    def ReadTokenIdsFromTensor(self, tensor, count, ids):
        return 0x80070032


def test_tokens_become_one_row():
    factory = TextFactory()
    keep = factory.take_reference()
    target, context = target_with(IWinMLTextTensorFactory=factory)
    tensor = _tokens.create(context, np.array([1, 2, 3]), None, target)
    assert factory.ids == [1, 2, 3] and factory.desc == (r.TensorDataType.INT64, 1)
    assert tensor.desc() == (r.TensorDataType.INT64, (1, 3))
    _tokens.create(context, [4], r.TokenTensorOptions(r.TensorDataType.INT32), target)
    assert factory.desc == (r.TensorDataType.INT32, 1)
    for wrong, error in (
        ([-1], ValueError),
        ([1 << 32], ValueError),
        ([1.5], TypeError),
        ("12", TypeError),
        (b"12", TypeError),
    ):
        with pytest.raises(error):
            _tokens.create(context, wrong, None, target)
    del keep
