# Ahead-of-time compilation of a model for a target, and the extents that stand for ONNX's named dimensions.
# Reached from ExecutionTarget; the overrides also from Stage.
"""ModelCompiler, ModelCompileOptions, SymbolicDimensionOverrides."""

from __future__ import annotations

import ctypes
from typing import Any, Iterator, MutableMapping, Optional

from .. import _arguments as check
from .._native.errors import ERROR_INSUFFICIENT_BUFFER, ERROR_NOT_SUPPORTED, NotSupportedError, failure
from .._native.library import take_error_message
from .._native.reference import Reference
from .._native.wrapper import NativeObject, reference_of
from ._enums import CompiledModelForm
from ._model import Model


class SymbolicDimensionOverrides(MutableMapping[str, int]):
    """The extents that ONNX's named dimensions take; `overrides["batch"] = 1` fixes one."""

    def __init__(self, reference: Reference) -> None:
        self._native = reference

    def __getitem__(self, name: str) -> int:
        extent = ctypes.c_int64()
        if self._native.call("TryGetOverride", check.text(name, "name", empty=False), ctypes.byref(extent)) != 0:
            raise KeyError(name)
        return extent.value

    def __setitem__(self, name: str, extent: int) -> None:
        number = check.integer(extent, "extent", 1, (1 << 63) - 1)
        self._native.call("SetOverride", check.text(name, "name", empty=False), number)

    def __delitem__(self, name: str) -> None:
        if self._native.call("RemoveOverride", check.text(name, "name", empty=False)) != 0:
            raise KeyError(name)

    def __len__(self) -> int:
        return int(self._native.get("GetOverrideCount", ctypes.c_uint32))

    def __iter__(self) -> Iterator[str]:
        return iter([self._name(index) for index in range(len(self))])

    def clear(self) -> None:
        self._native.call("ClearOverrides")

    def _name(self, index: int) -> str:
        length, extent = ctypes.c_uint32(), ctypes.c_int64()
        out = (ctypes.byref(length), ctypes.byref(extent))
        code = self._native.result("GetOverrideAt", index, 0, None, *out)
        while code == ERROR_INSUFFICIENT_BUFFER:
            name = ctypes.create_unicode_buffer(length.value)
            code = self._native.result("GetOverrideAt", index, len(name), name, *out)
            if code == 0:
                return name.value
        raise failure(code, take_error_message(), "IWinMLOnnxSymbolicDimensionOverrides::GetOverrideAt")

    def __repr__(self) -> str:
        return f"SymbolicDimensionOverrides({dict(self)!r})"


class ModelCompileOptions(NativeObject):
    @property
    def form(self) -> CompiledModelForm:
        return CompiledModelForm(self._native.get("GetCompiledModelForm", ctypes.c_int32))

    @form.setter
    def form(self, value: CompiledModelForm) -> None:
        self._native.call("SetCompiledModelForm", check.member(CompiledModelForm, value, "form"))

    @property
    def supports_device_lowering_options(self) -> bool:
        # Spec-open: the published interfaces have no device-lowering options
        self._native
        return False

    @property
    def supports_symbolic_dimensions(self) -> bool:
        return self._native.try_query("IWinMLOnnxSymbolicDimensionOverrides") is not None

    @property
    def symbolic_dimensions(self) -> SymbolicDimensionOverrides:
        return SymbolicDimensionOverrides(self._interface("IWinMLOnnxSymbolicDimensionOverrides"))


class ModelCompiler(NativeObject):
    def create_options(self) -> ModelCompileOptions:
        return ModelCompileOptions._adopt(self._native.create("CreateCompileOptions", "IWinMLModelCompileOptions"))

    def supports_form(self, form: CompiledModelForm) -> bool:
        kind = check.member(CompiledModelForm, form, "form")
        return bool(self._native.get("IsCompiledModelFormSupported", ctypes.c_int32, kind))

    def compile_to_file(
        self,
        model: Model,
        artifact_path: str,
        external_weights_path: Optional[str] = None,
        form: Optional[CompiledModelForm] = None,
        options: Optional[ModelCompileOptions] = None,
        **device_lowering: Any,
    ) -> None:
        """Writes the compiled artifact; `form` without `options` is short for options with that form."""
        native = reference_of(model, Model, "model")
        artifact = check.path(artifact_path, "artifact_path")
        weights = None if external_weights_path is None else check.path(external_weights_path, "external_weights_path")
        if device_lowering:
            names = ", ".join(sorted(device_lowering))
            raise NotSupportedError(ERROR_NOT_SUPPORTED, f"no target takes device-lowering options ({names})")
        chosen: Optional[Reference] = None
        if options is not None:
            chosen = reference_of(options, ModelCompileOptions, "options")
        if form is not None:
            kind = check.member(CompiledModelForm, form, "form")
            if options is None:
                chosen = self._native.create("CreateCompileOptions", "IWinMLModelCompileOptions")
                chosen.call("SetCompiledModelForm", kind)
            elif options.form != kind:
                raise ValueError(f"form is {kind.name} and options.form is {options.form.name}")
        if chosen is None:
            self._native.call_back("CompileToFile", native, artifact, weights)
        else:
            self._native.call_back("CompileToFileWithOptions", native, artifact, weights, chosen)
