// Runs an ONNX model from C: load, build a pipeline of one stage, bind inputs, run, read outputs.
//
//   c_onnx              runs a little model that is built in: y = Relu(x + x) for x of 2 x 3 floats
//   c_onnx MODEL.onnx   runs that model; its inputs must be floats, free extents become 1
//
// Every input is filled with -2, -1, 0, 1, ... Interface ids such as IID_IWinMLRuntime come with the headers, nothing
// else is linked for them.
#include <WinMLRuntime.h>
#include <WinMLTensorFactory.h>
#include <inttypes.h>
#include <locale.h>
#include <openwinml/diagnostics.h>
#include <openwinml/error.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMaxDimensions = 8, kMaxElements = 1 << 24, kMaxPath = 4096 };

// clang-format off
static const BYTE kModel[] = {
    0x08, 8,                                                                                  // version of the format
    0x3A, 75,                                                                                 // the graph:
    0x0A, 14, 0x0A, 1, 'x', 0x0A, 1, 'x', 0x12, 1, 's', 0x22, 3, 'A', 'd', 'd',               //   s = Add(x, x)
    0x0A, 12, 0x0A, 1, 's', 0x12, 1, 'y', 0x22, 4, 'R', 'e', 'l', 'u',                        //   y = Relu(s)
    0x12, 1, 'g',                                                                             //   its name
    0x5A, 19, 0x0A, 1, 'x', 0x12, 14, 0x0A, 12, 8, 1, 0x12, 8, 0x0A, 2, 8, 2, 0x0A, 2, 8, 3,  //   x is float [2, 3]
    0x62, 19, 0x0A, 1, 'y', 0x12, 14, 0x0A, 12, 8, 1, 0x12, 8, 0x0A, 2, 8, 2, 0x0A, 2, 8, 3,  //   y is float [2, 3]
    0x42, 2, 0x10, 17,                                                                        // operator set 17
};
// clang-format on

// The sentence behind a failure is kept per thread until the next call.
static void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  char sentence[1024] = "";
  OwmlGetLastErrorMessage(sentence, sizeof(sentence));
  fprintf(stderr, "%s failed with 0x%08" PRIX32 ": %s\n", what, (uint32_t)result, sentence);
  exit(1);
}

static void Require(BOOL condition, const char* sentence) {
  if (condition) return;
  fprintf(stderr, "%s\n", sentence);
  exit(1);
}

static IWinMLModel* LoadModel(IWinMLRuntime* runtime, const char* path) {
  IWinMLModel* model = NULL;
  if (path) {
    static WCHAR wide[kMaxPath];
    const size_t length = mbstowcs(wide, path, kMaxPath);
    Require(length < kMaxPath, "the path is too long, or no text of this locale");
    Check(runtime->lpVtbl->LoadModelFromFile(runtime, wide, NULL, &model), "loading the model");
  } else {
    Check(runtime->lpVtbl->LoadModelFromBuffer(runtime, kModel, sizeof(kModel), NULL, &model), "loading the model");
  }
  return model;
}

static IWinMLTensor* MakeInput(IWinMLRawTensorFactory* factory, const WINML_TENSOR_DESC* declared) {
  Require(declared->dataType == WINML_TENSOR_DATA_TYPE_FLOAT32, "an input is no float; this example fills floats only");
  Require(declared->dimensionCount <= kMaxDimensions, "an input has more than 8 dimensions");
  UINT64 dimensions[kMaxDimensions];
  UINT64 count = 1;
  for (UINT32 i = 0; i < declared->dimensionCount; ++i) {
    dimensions[i] = declared->dimensions[i] == UINT64_MAX ? 1 : declared->dimensions[i];
    Require(dimensions[i] <= kMaxElements && count * dimensions[i] <= kMaxElements, "an input is too large");
    count *= dimensions[i];
  }
  float* values = malloc((size_t)count * sizeof(float) + 1);
  Require(values != NULL, "out of memory");
  for (UINT64 i = 0; i < count; ++i) values[i] = (float)i - 2;

  const WINML_TENSOR_DESC desc = {declared->dataType, declared->dimensionCount, dimensions};
  IWinMLTensor* tensor = NULL;
  Check(factory->lpVtbl->CreateTensor(factory, &desc, values, count * sizeof(float), &tensor), "making an input");
  free(values);
  return tensor;
}

static void PrintOutput(IWinMLStage* stage, UINT32 index) {
  IWinMLTensor* tensor = NULL;
  IWinMLTensorDataLock* lock = NULL;
  WINML_TENSOR_DESC desc = {0};
  BYTE* data = NULL;
  UINT64 size = 0;
  Check(stage->lpVtbl->GetOutput(stage, index, &tensor), "reading an output");
  Check(tensor->lpVtbl->GetDesc(tensor, &desc), "describing an output");
  Check(tensor->lpVtbl->Lock(tensor, WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, &lock), "locking");
  Check(lock->lpVtbl->GetData(lock, &data, &size), "reading an output");

  printf("output %" PRIu32 ":", index);
  if (desc.dataType == WINML_TENSOR_DATA_TYPE_FLOAT32) {
    const UINT64 count = size / sizeof(float);
    const float* values = (const float*)data;
    for (UINT64 i = 0; i < count && i < 16; ++i) printf(" %g", values[i]);
    printf("%s\n", count > 16 ? " ..." : "");
  } else {
    printf(" %" PRIu64 " bytes of another type than float\n", size);
  }
  lock->lpVtbl->Release(lock);
  tensor->lpVtbl->Release(tensor);
}

int main(int argc, char** argv) {
  setlocale(LC_ALL, "");

  IWinMLRuntime* runtime = NULL;
  Check(WinMLCreateRuntime(&IID_IWinMLRuntime, (void**)&runtime), "creating the runtime");
  IWinMLModel* model = LoadModel(runtime, argc > 1 ? argv[1] : NULL);
  IWinMLExecutionTarget* cpu = NULL;
  Check(runtime->lpVtbl->CreateCpuExecutionTarget(runtime, &cpu), "asking for the CPU");

  IWinMLPipelineBuilder* builder = NULL;
  IWinMLStage* stage = NULL;
  IWinMLPipeline* pipeline = NULL;
  Check(runtime->lpVtbl->CreatePipelineBuilder(runtime, &builder), "creating a builder");
  Check(builder->lpVtbl->AddModelStage(builder, model, cpu, L"model", &stage), "adding the model");
  Check(builder->lpVtbl->Build(builder, &pipeline), "building the pipeline");

  IWinMLStageSchema* schema = NULL;
  IWinMLRawTensorFactory* factory = NULL;
  UINT32 inputs = 0, outputs = 0;
  Check(stage->lpVtbl->QueryInterface(stage, &IID_IWinMLStageSchema, (void**)&schema), "asking for the schema");
  Check(cpu->lpVtbl->QueryInterface(cpu, &IID_IWinMLRawTensorFactory, (void**)&factory), "asking for tensors");
  Check(schema->lpVtbl->GetInputCount(schema, &inputs), "counting inputs");
  Check(schema->lpVtbl->GetOutputCount(schema, &outputs), "counting outputs");
  for (UINT32 i = 0; i < inputs; ++i) {
    WINML_TENSOR_DESC desc = {0};
    Check(schema->lpVtbl->GetInputTensorDesc(schema, i, &desc), "describing an input");
    IWinMLTensor* tensor = MakeInput(factory, &desc);
    Check(stage->lpVtbl->BindInput(stage, i, tensor), "binding an input");
    tensor->lpVtbl->Release(tensor);
  }
  for (UINT32 i = 0; i < outputs; ++i) Check(stage->lpVtbl->RequestOutput(stage, i), "requesting an output");

  Check(pipeline->lpVtbl->Run(pipeline), "running");
  for (UINT32 i = 0; i < outputs; ++i) PrintOutput(stage, i);

  factory->lpVtbl->Release(factory);
  schema->lpVtbl->Release(schema);
  pipeline->lpVtbl->Release(pipeline);
  stage->lpVtbl->Release(stage);
  builder->lpVtbl->Release(builder);
  cpu->lpVtbl->Release(cpu);
  model->lpVtbl->Release(model);
  runtime->lpVtbl->Release(runtime);
  Require(OwmlLiveObjectCount() == 0, "objects are left");
  return 0;
}
