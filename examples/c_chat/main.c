// One turn of a conversation with a GGUF model from C: pipeline, text session, chat session, stream.
//
//   c_chat MODEL.gguf QUESTION     the answer goes to standard output as it is made
#include <WinMLTasks.h>
#include <inttypes.h>
#include <locale.h>
#include <openwinml/diagnostics.h>
#include <openwinml/error.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMaxText = 4096 };

#define PHASE WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED
#define RELEASE(object) (object)->lpVtbl->Release(object)

// The sentence behind a failure is kept per thread until the next call.
static void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  char sentence[1024] = "";
  OwmlGetLastErrorMessage(sentence, sizeof(sentence));
  fprintf(stderr, "%s failed with 0x%08" PRIX32 ": %s\n", what, (uint32_t)result, sentence);
  exit(1);
}

static void Widen(const char* text, WCHAR* wide) {
  if (mbstowcs(wide, text, kMaxText) < kMaxText) return;
  fprintf(stderr, "an argument is too long, or no text of this locale\n");
  exit(1);
}

int main(int argc, char** argv) {
  static WCHAR path[kMaxText], question[kMaxText];
  setlocale(LC_ALL, "");
  if (argc != 3) {
    fprintf(stderr, "usage: c_chat MODEL.gguf QUESTION\n");
    return 2;
  }
  Widen(argv[1], path);
  Widen(argv[2], question);

  // A pipeline of one stage; a GGUF file holds its tokenizer and its chat template.
  IWinMLRuntime* runtime = NULL;
  IWinMLTokenizer* tokenizer = NULL;
  IWinMLModel* model = NULL;
  IWinMLExecutionTarget* cpu = NULL;
  IWinMLPipelineBuilder* builder = NULL;
  IWinMLStage* stage = NULL;
  IWinMLPipeline* pipeline = NULL;
  Check(WinMLCreateRuntime(&IID_IWinMLRuntime, (void**)&runtime), "creating the runtime");
  Check(WinMLCreateTokenizerFromFile(path, &tokenizer), "opening the tokenizer");
  Check(runtime->lpVtbl->LoadModelFromFile(runtime, path, NULL, &model), "loading the model");
  Check(runtime->lpVtbl->CreateCpuExecutionTarget(runtime, &cpu), "asking for the CPU");
  Check(runtime->lpVtbl->CreatePipelineBuilder(runtime, &builder), "creating a builder");
  Check(builder->lpVtbl->AddModelStage(builder, model, cpu, L"model", &stage), "adding the model");
  Check(builder->lpVtbl->Build(builder, &pipeline), "building the pipeline");

  // A text session over it.
  IWinMLTextGenerationTaskFactory* texts = NULL;
  IWinMLTextGenerationConfiguration* configuration = NULL;
  IWinMLTextGenerationOptions* options = NULL;
  IWinMLTextGenerationTask* text = NULL;
  IWinMLTextGenerationSession* session = NULL;
  WINML_TEXT_GENERATION_OPTIONS values = {0};
  values.presentFields = WINML_TEXT_GENERATION_OPTION_FIELD_MAX_NEW_TOKENS;
  values.maxNewTokens = 256;
  Check(WinMLCreateTasks(runtime, &IID_IWinMLTextGenerationTaskFactory, (void**)&texts), "creating the tasks");
  Check(texts->lpVtbl->CreateTextGenerationConfiguration(texts, &configuration), "creating a configuration");
  Check(configuration->lpVtbl->SetMode(configuration, WINML_TEXT_GENERATION_CONFIGURATION_MODE_UNIFIED), "configuring");
  Check(configuration->lpVtbl->SetPipeline(configuration, PHASE, pipeline), "configuring");
  Check(configuration->lpVtbl->SetTokenInput(configuration, PHASE, stage, 0), "configuring");
  Check(configuration->lpVtbl->SetOutput(configuration, PHASE, stage, 0, WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS),
        "configuring");
  Check(configuration->lpVtbl->SetStateOwnerStage(configuration, stage), "configuring");
  Check(configuration->lpVtbl->SetTokenTarget(configuration, cpu), "configuring");
  Check(configuration->lpVtbl->SetTokenizer(configuration, tokenizer), "configuring");
  Check(texts->lpVtbl->CreateTextGenerationOptions(texts, &values, 0, NULL, &options), "creating options");
  Check(texts->lpVtbl->CreateTextGenerationTask(texts, tokenizer, WINML_TEXT_GENERATION_EOS_POLICY_TOKENIZER_DEFAULT, 0,
                                                NULL, &text),
        "creating the text task");
  Check(text->lpVtbl->CreateSession(text, configuration, &session), "creating the text session");

  // A chat session over that; the whole conversation goes in each time.
  IWinMLChatCompletionTaskFactory* chats = NULL;
  IWinMLChatCompletionTask* task = NULL;
  IWinMLChatCompletionSession* chat = NULL;
  IWinMLChatCompletionPullStream* stream = NULL;
  WINML_CONVERSATION_MESSAGE message = {0};
  WINML_CONVERSATION_REQUEST request = {0};
  message.role = WINML_CHAT_ROLE_USER;
  message.content = question;
  request.messageCount = 1;
  request.messages = &message;
  request.addGenerationPrompt = TRUE;
  Check(texts->lpVtbl->QueryInterface(texts, &IID_IWinMLChatCompletionTaskFactory, (void**)&chats), "asking for chats");
  Check(chats->lpVtbl->CreateChatCompletionTask(chats, tokenizer, &task), "creating the chat task");
  Check(task->lpVtbl->CreateSession(task, session, &chat), "creating the chat session");
  Check(chat->lpVtbl->Generate(chat, &request, options, NULL, &stream), "starting the answer");

  while (1) {
    WINML_CHAT_COMPLETION_READ_STATUS status = WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED;
    WINML_CONVERSATION_OUTPUT_EVENT_TYPE type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
    IWinMLConversationOutputEvent* event = NULL;
    Check(stream->lpVtbl->ReadNext(stream, &status, &event), "reading the answer");
    if (status == WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED) break;
    Check(event->lpVtbl->GetType(event, &type), "reading the answer");
    if (type == WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA) {
      LPCWSTR piece = NULL;
      Check(event->lpVtbl->GetText(event, &piece), "reading the answer");
      printf("%ls", piece);
      fflush(stdout);
    }
    RELEASE(event);
  }
  printf("\n");
  IWinMLChatCompletionResult* result = NULL;
  HRESULT error = S_OK;
  Check(stream->lpVtbl->GetResult(stream, &result), "reading the result");
  Check(result->lpVtbl->GetErrorCode(result, &error), "reading the result");
  Check(error, "the answer");
  Check(stream->lpVtbl->Close(stream), "closing the stream");
  Check(session->lpVtbl->Close(session), "closing the session");

  RELEASE(result);
  RELEASE(stream);
  RELEASE(chat);
  RELEASE(task);
  RELEASE(chats);
  RELEASE(session);
  RELEASE(text);
  RELEASE(options);
  RELEASE(configuration);
  RELEASE(texts);
  RELEASE(pipeline);
  RELEASE(stage);
  RELEASE(builder);
  RELEASE(cpu);
  RELEASE(model);
  RELEASE(tokenizer);
  RELEASE(runtime);
  if (OwmlLiveObjectCount() == 0) return 0;
  fprintf(stderr, "objects are left\n");
  return 1;
}
