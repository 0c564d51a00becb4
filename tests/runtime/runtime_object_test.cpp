// IWinMLRuntime and IWinMLOrtCompatibility: loading, targets, devices, provider pins.
// Mirrors src/runtime/runtime.cpp and execution_target.cpp.
#include <WinMLTensorFactory.h>

#include "com/wide.h"
#include "runtime/execution_target.h"
#include "runtime/runtime.h"
#include "runtime_test_support.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

Device Named(DeviceKind kind, const char* id, bool integrated, const char* provider = "") {
  Device device;
  device.kind = kind;
  device.id = id;
  device.name = id;
  device.integrated = integrated;
  device.provider = provider;
  return device;
}

ComPtr<IWinMLRuntime> NewRuntime(std::vector<Device> devices = {}) {
  std::vector<std::shared_ptr<const Backend>> backends = {
      std::make_shared<FakeBackend>(Elementwise({2}, Twice), std::move(devices))};
  return MakeRuntime(std::make_shared<Registry>(std::move(backends)));
}

class RuntimeObject : public testing::Test {
 protected:
  HRESULT Load(const std::filesystem::path& path) {
    ComPtr<IWinMLModel> model;
    const HRESULT result = runtime_->LoadModelFromFile(ToWide(path.string()).c_str(), nullptr, model.GetAddressOf());
    EXPECT_EQ(SUCCEEDED(result), model != nullptr);
    return result;
  }
  HRESULT Target(WINML_EXECUTION_TARGET_KIND kind, WINML_EXECUTION_TARGET_PREFERENCE preference,
                 IWinMLRuntime* runtime) {
    target_.Reset();
    return runtime->CreateExecutionTarget(kind, preference, target_.GetAddressOf());
  }
  HRESULT Pin(LPCWSTR provider, WINML_EXECUTION_TARGET_KIND kind, IWinMLExecutionTarget* hardware,
              IWinMLRuntime* runtime) {
    target_.Reset();
    return Query<IWinMLOrtCompatibility>(runtime)->CreateExecutionTarget(provider, kind, hardware,
                                                                         target_.GetAddressOf());
  }

  ComPtr<IWinMLRuntime> runtime_ = NewRuntime();
  ComPtr<IWinMLExecutionTarget> target_;
  TemporaryFolder folder_;
};

constexpr auto kCpu = WINML_EXECUTION_TARGET_KIND_CPU;
constexpr auto kGpu = WINML_EXECUTION_TARGET_KIND_GPU;
constexpr auto kNpu = WINML_EXECUTION_TARGET_KIND_NPU;
constexpr auto kDefault = WINML_EXECUTION_TARGET_PREFERENCE_DEFAULT;

TEST_F(RuntimeObject, NullPointersAreRefused) {
  ComPtr<IWinMLModel> model;
  const BYTE byte = 1;
  EXPECT_EQ(E_POINTER, runtime_->LoadModelFromFile(nullptr, nullptr, model.GetAddressOf()));
  EXPECT_EQ(E_POINTER, runtime_->LoadModelFromFile(L"x.onnx", nullptr, nullptr));
  EXPECT_EQ(E_POINTER, runtime_->LoadModelFromBuffer(nullptr, 1, nullptr, model.GetAddressOf()));
  EXPECT_EQ(E_POINTER, runtime_->LoadModelFromBuffer(&byte, 1, nullptr, nullptr));
  EXPECT_EQ(E_POINTER, runtime_->CreatePipelineBuilder(nullptr));
  EXPECT_EQ(E_POINTER, runtime_->CreateCpuExecutionTarget(nullptr));
  EXPECT_EQ(E_POINTER, runtime_->CreateExecutionTargetFromAdapter(runtime_.Get(), nullptr));
  EXPECT_EQ(E_POINTER, runtime_->CreateExecutionTargetFromAdapter(nullptr, target_.GetAddressOf()));
  EXPECT_EQ(E_POINTER, runtime_->CreateExecutionTargetFromD3D12(runtime_.Get(), nullptr, nullptr));
  EXPECT_EQ(E_POINTER, runtime_->CreateExecutionTargetFromD3D12(nullptr, nullptr, target_.GetAddressOf()));
  EXPECT_EQ(E_POINTER, runtime_->CreateExecutionTarget(kCpu, kDefault, nullptr));
}

TEST_F(RuntimeObject, LoadsAFileByItsExtensionAndABufferByItsBytes) {
  EXPECT_EQ(S_OK, Load(folder_.Write("m\u00e9 \u4e2d/model.ONNX", std::string("\x08\x07", 2))));
  const std::string gguf = std::string("GGUF") + std::string("\3\0\0\0", 4) + std::string(16, '\0');
  ComPtr<IWinMLModel> model;
  EXPECT_EQ(S_OK, runtime_->LoadModelFromBuffer(reinterpret_cast<const BYTE*>(gguf.data()), gguf.size(), nullptr,
                                                model.GetAddressOf()));
  EXPECT_TRUE(model);
}

TEST_F(RuntimeObject, PathsThatAreNoModelFilesAreRefused) {
  ExpectError(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), Load(folder_.path() / "none.onnx"), "none.onnx");
  EXPECT_EQ(E_INVALIDARG, Load(folder_.path()));
  EXPECT_EQ(kNotSupported, Load(folder_.Write("model.safetensors", "x")));
  EXPECT_EQ(E_INVALIDARG, Load(""));
}

TEST_F(RuntimeObject, BuffersOfNoUsableSizeAreRefused) {
  ComPtr<IWinMLModel> model;
  const BYTE byte = 1;
  EXPECT_EQ(E_INVALIDARG, runtime_->LoadModelFromBuffer(&byte, 0, nullptr, model.GetAddressOf()));
  EXPECT_EQ(E_INVALIDARG, runtime_->LoadModelFromBuffer(&byte, UINT64_MAX, nullptr, model.GetAddressOf()));
}

TEST_F(RuntimeObject, ACpuTargetComesInTwoWays) {
  WINML_EXECUTION_TARGET_KIND kind{};
  EXPECT_EQ(S_OK, runtime_->CreateCpuExecutionTarget(target_.GetAddressOf()));
  EXPECT_EQ(S_OK, target_->GetKind(&kind));
  EXPECT_EQ(kCpu, kind);
  EXPECT_EQ(E_POINTER, target_->GetKind(nullptr));
  EXPECT_EQ(S_OK, Target(kCpu, WINML_EXECUTION_TARGET_PREFERENCE_EFFICIENCY, runtime_.Get()));
  EXPECT_EQ(S_OK, target_->GetKind(&kind));
  EXPECT_EQ(kCpu, kind);
}

TEST_F(RuntimeObject, KindsAndPreferencesOutsideTheirEnumerationsAreRefused) {
  for (const int kind : {0, 4, -1}) {
    EXPECT_EQ(E_INVALIDARG, Target(static_cast<WINML_EXECUTION_TARGET_KIND>(kind), kDefault, runtime_.Get()));
  }
  for (const int preference : {3, -1}) {
    EXPECT_EQ(E_INVALIDARG, Target(kCpu, static_cast<WINML_EXECUTION_TARGET_PREFERENCE>(preference), runtime_.Get()));
  }
}

TEST_F(RuntimeObject, AClassWithoutADeviceIsNotFound) {
  ExpectError(kNotFound, Target(kGpu, kDefault, runtime_.Get()), "GPU");
  EXPECT_EQ(kNotFound, Target(kNpu, kDefault, runtime_.Get()));
  EXPECT_FALSE(target_);
}

TEST_F(RuntimeObject, APreferenceOrdersTheDevicesOfTheClass) {
  const auto runtime = NewRuntime({Named(DeviceKind::kNpu, "npu", true), Named(DeviceKind::kGpu, "small", true),
                                   Named(DeviceKind::kGpu, "big", false)});
  const auto chosen = [&](WINML_EXECUTION_TARGET_KIND kind, WINML_EXECUTION_TARGET_PREFERENCE preference) {
    EXPECT_EQ(S_OK, Target(kind, preference, runtime.Get()));
    WINML_EXECUTION_TARGET_KIND reported{};
    EXPECT_EQ(S_OK, target_->GetKind(&reported));
    EXPECT_EQ(kind, reported);
    return PlacementOf(target_.Get())->device_id;
  };
  EXPECT_EQ("small", chosen(kGpu, kDefault));
  EXPECT_EQ("big", chosen(kGpu, WINML_EXECUTION_TARGET_PREFERENCE_PERFORMANCE));
  EXPECT_EQ("small", chosen(kGpu, WINML_EXECUTION_TARGET_PREFERENCE_EFFICIENCY));
  EXPECT_EQ("npu", chosen(kNpu, WINML_EXECUTION_TARGET_PREFERENCE_PERFORMANCE));
}

TEST_F(RuntimeObject, WindowsObjectsAreNotSupportedHere) {
  EXPECT_EQ(kNotSupported, runtime_->CreateExecutionTargetFromAdapter(runtime_.Get(), target_.GetAddressOf()));
  EXPECT_EQ(kNotSupported, runtime_->CreateExecutionTargetFromD3D12(runtime_.Get(), nullptr, target_.GetAddressOf()));
}

TEST_F(RuntimeObject, ATargetIsTheDoorToTheTensorFactories) {
  ASSERT_EQ(S_OK, runtime_->CreateCpuExecutionTarget(target_.GetAddressOf()));
  EXPECT_TRUE(Query<IWinMLRawTensorFactory>(target_.Get()));
  EXPECT_TRUE(Query<IWinMLTextTensorFactory>(target_.Get()));
  EXPECT_TRUE(Query<IWinMLTensorProcessorFactory>(target_.Get()));
}

TEST_F(RuntimeObject, ACpuTargetHasNoD3D12Device) {
  ASSERT_EQ(S_OK, runtime_->CreateCpuExecutionTarget(target_.GetAddressOf()));
  const auto d3d12 = Query<IWinMLD3D12ExecutionTarget>(target_.Get());
  ASSERT_TRUE(d3d12);
  ComPtr<IUnknown> object;
  ComPtr<IWinMLFence> fence;
  EXPECT_EQ(E_POINTER, d3d12->GetDevice(nullptr));
  EXPECT_EQ(E_POINTER, d3d12->GetCommandQueue(nullptr));
  EXPECT_EQ(E_POINTER, d3d12->CreateFence(runtime_.Get(), 1, nullptr));
  EXPECT_EQ(kNotSupported, d3d12->GetDevice(object.GetAddressOf()));
  EXPECT_EQ(kNotSupported, d3d12->GetCommandQueue(object.GetAddressOf()));
  EXPECT_EQ(E_INVALIDARG, d3d12->CreateFence(nullptr, 1, fence.GetAddressOf()));
  EXPECT_EQ(E_NOINTERFACE, d3d12->CreateFence(runtime_.Get(), 1, fence.GetAddressOf()));
}

TEST_F(RuntimeObject, PinsTheBuiltInCpuProvider) {
  ASSERT_EQ(S_OK, Pin(L"CPUExecutionProvider", kCpu, nullptr, runtime_.Get()));
  EXPECT_EQ("CPUExecutionProvider", PlacementOf(target_.Get())->provider);
  ComPtr<IWinMLExecutionTarget> cpu;
  ASSERT_EQ(S_OK, runtime_->CreateCpuExecutionTarget(cpu.GetAddressOf()));
  EXPECT_EQ(S_OK, Pin(L"CPUExecutionProvider", kCpu, cpu.Get(), runtime_.Get()));
}

TEST_F(RuntimeObject, PinsAProviderOnADeviceOfItsOwn) {
  const auto runtime = NewRuntime({Named(DeviceKind::kGpu, "a", false, "P"), Named(DeviceKind::kGpu, "b", false, "Q"),
                                   Named(DeviceKind::kGpu, "c", false, "Q"), Named(DeviceKind::kNpu, "n", true, "Q")});
  ASSERT_EQ(S_OK, Pin(L"Q", kGpu, nullptr, runtime.Get()));
  EXPECT_EQ("b", PlacementOf(target_.Get())->device_id);
  ASSERT_EQ(S_OK, Pin(L"Q", kNpu, nullptr, runtime.Get()));
  EXPECT_EQ("n", PlacementOf(target_.Get())->device_id);
  Placement c;
  c.kind = DeviceKind::kGpu;
  c.device_id = "c";
  ASSERT_EQ(S_OK, Pin(L"Q", kGpu, MakeExecutionTarget(c).Get(), runtime.Get()));
  EXPECT_EQ("c", PlacementOf(target_.Get())->device_id);
  EXPECT_EQ(kNotFound, Pin(L"P", kGpu, MakeExecutionTarget(c).Get(), runtime.Get()));
  EXPECT_EQ(kNotFound, Pin(L"P", kNpu, nullptr, runtime.Get()));
}

TEST_F(RuntimeObject, BadPinsAreRefused) {
  ForeignTarget foreign;
  ComPtr<IWinMLExecutionTarget> cpu;
  ASSERT_EQ(S_OK, runtime_->CreateCpuExecutionTarget(cpu.GetAddressOf()));
  EXPECT_EQ(E_POINTER,
            Query<IWinMLOrtCompatibility>(runtime_.Get())->CreateExecutionTarget(nullptr, kCpu, nullptr, nullptr));
  EXPECT_EQ(E_INVALIDARG, Pin(nullptr, kCpu, nullptr, runtime_.Get()));
  EXPECT_EQ(E_INVALIDARG, Pin(L"", kCpu, nullptr, runtime_.Get()));
  EXPECT_EQ(E_INVALIDARG, Pin(L"P", static_cast<WINML_EXECUTION_TARGET_KIND>(9), nullptr, runtime_.Get()));
  EXPECT_EQ(E_INVALIDARG, Pin(L"CPUExecutionProvider", kCpu, &foreign, runtime_.Get()));
  ExpectError(E_INVALIDARG, Pin(L"P", kGpu, cpu.Get(), runtime_.Get()), "hardwareTarget is a CPU");
  ExpectError(kNotFound, Pin(L"NopeExecutionProvider", kGpu, nullptr, runtime_.Get()), "NopeExecutionProvider");
  EXPECT_EQ(kNotFound, Pin(L"cpuexecutionprovider", kCpu, nullptr, runtime_.Get()));
}

// The declared schema and the names of a model.
class ModelObject : public testing::Test {
 protected:
  std::shared_ptr<FakeScript> script_ = Elementwise({2, kFreeDimension}, Twice);
};

TEST_F(ModelObject, TellsItsDeclaredSchemaAndRefusesBadIndexes) {
  const ComPtr<IWinMLModel> model = MakeModel(MakeFakeModel(script_));
  const auto schema = Query<IWinMLModelSchema>(model.Get());
  ASSERT_TRUE(schema);
  UINT32 count = 0;
  WINML_TENSOR_SCHEMA_DESC desc{};
  ASSERT_EQ(S_OK, schema->GetInputCount(&count));
  EXPECT_EQ(1u, count);
  ASSERT_EQ(S_OK, schema->GetOutputCount(&count));
  EXPECT_EQ(1u, count);
  ASSERT_EQ(S_OK, schema->GetInputTensorDesc(0, &desc));
  EXPECT_EQ(WINML_TENSOR_DATA_TYPE_FLOAT32, desc.dataType);
  ASSERT_EQ(2u, desc.dimensionCount);
  EXPECT_EQ(2u, desc.dimensions[0]);
  EXPECT_EQ(UINT64_MAX, desc.dimensions[1]);
  EXPECT_EQ(S_OK, schema->GetOutputTensorDesc(0, &desc));
  EXPECT_EQ(E_BOUNDS, schema->GetInputTensorDesc(1, &desc));
  EXPECT_EQ(E_BOUNDS, schema->GetOutputTensorDesc(UINT32_MAX, &desc));
  EXPECT_EQ(E_POINTER, schema->GetInputCount(nullptr));
  EXPECT_EQ(E_POINTER, schema->GetOutputCount(nullptr));
  EXPECT_EQ(E_POINTER, schema->GetInputTensorDesc(9, nullptr));
  EXPECT_EQ(E_POINTER, schema->GetOutputTensorDesc(0, nullptr));
}

TEST_F(ModelObject, FindsNamesExactly) {
  const ComPtr<IWinMLModel> model = MakeModel(MakeFakeModel(script_));
  const auto names = Query<IWinMLOrtModelSchema>(model.Get());
  ASSERT_TRUE(names);
  LPCWSTR name = nullptr;
  UINT32 index = 9;
  ASSERT_EQ(S_OK, names->GetInputName(0, &name));
  EXPECT_STREQ(L"x", name);
  ASSERT_EQ(S_OK, names->GetOutputName(0, &name));
  EXPECT_STREQ(L"y", name);
  EXPECT_EQ(S_OK, names->FindInputIndex(L"x", &index));
  EXPECT_EQ(0u, index);
  EXPECT_EQ(S_OK, names->FindOutputIndex(L"y", &index));
  EXPECT_EQ(kNotFound, names->FindInputIndex(L"X", &index));
  EXPECT_EQ(kNotFound, names->FindOutputIndex(L"", &index));
  EXPECT_EQ(E_BOUNDS, names->GetInputName(1, &name));
  EXPECT_EQ(E_BOUNDS, names->GetOutputName(1, &name));
  EXPECT_EQ(E_POINTER, names->GetInputName(0, nullptr));
  EXPECT_EQ(E_POINTER, names->GetOutputName(0, nullptr));
  EXPECT_EQ(E_POINTER, names->FindInputIndex(nullptr, nullptr));
  EXPECT_EQ(E_INVALIDARG, names->FindInputIndex(nullptr, &index));
  EXPECT_EQ(E_INVALIDARG, names->FindOutputIndex(nullptr, &index));
}

TEST_F(ModelObject, OffersOnlyWhatItsFormatHas) {
  script_->onnx = false;
  const ComPtr<IWinMLModel> other = MakeModel(MakeFakeModel(script_));
  EXPECT_TRUE(Query<IWinMLModelSchema>(other.Get()));
  EXPECT_FALSE(Query<IWinMLOrtModelSchema>(other.Get()));
  script_->declares_schema = false;
  const ComPtr<IWinMLModel> silent = MakeModel(MakeFakeModel(script_));
  EXPECT_FALSE(Query<IWinMLModelSchema>(silent.Get()));
  EXPECT_TRUE(Query<IWinMLModel>(silent.Get()));
}

}  // namespace
}  // namespace owml::test
