// One turn of a conversation with a GGUF model, over the interfaces themselves: pipeline, text session, chat session,
// stream.
//
//   cpp_chat MODEL.gguf QUESTION     the answer goes to standard output as it is made
//
// A failed call throws WinML::Error, whose text is the library's sentence.
#include <WinMLRuntimeRAII.h>
#include <WinMLTasks.h>

#include <iostream>
#include <openwinml/strings.hpp>
#include <winml/tasks/text_generation/TextGeneration.hpp>

using Microsoft::WRL::ComPtr;

static void Chat(const std::wstring& path, const std::wstring& question) {
  const WinML::Runtime runtime = WinML::Runtime::Create();
  const WinML::ExecutionTarget cpu = runtime.CreateCpuExecutionTarget();
  const WinML::PipelineBuilder builder = runtime.CreatePipelineBuilder();
  const WinML::Stage stage = builder.AddModelStage(runtime.LoadModelFromFile(path), cpu);
  const WinML::Pipeline pipeline = builder.Build();
  ComPtr<IWinMLTokenizer> tokenizer;  // a GGUF file holds its tokenizer and its chat template
  WinML::Check(WinMLCreateTokenizerFromFile(path.c_str(), &tokenizer), "WinMLCreateTokenizerFromFile");

  winml::tasks::text_generation::TextGenerationArguments arguments;
  arguments.runtime = runtime.Get();
  arguments.pipeline = pipeline.Get();
  arguments.tokenInput = {stage.Get(), 0};
  arguments.output = {stage.Get(), 0, WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS};
  arguments.stateOwnerStage = stage.Get();
  arguments.tokenTarget = cpu.Get();
  arguments.tokenizer = tokenizer.Get();
  winml::tasks::text_generation::TextGeneration text;
  WinML::Check(winml::tasks::text_generation::BuildTextGeneration(arguments, text), "BuildTextGeneration");

  ComPtr<IWinMLChatCompletionTask> task;
  ComPtr<IWinMLChatCompletionSession> chat;
  WinML::Check(winml::tasks::CreateChatCompletionTask(text.tasks.Get(), tokenizer.Get(), task.GetAddressOf()),
               "CreateChatCompletionTask");
  WinML::Check(task->CreateSession(text.session.Get(), chat.GetAddressOf()), "CreateSession");

  WINML_CONVERSATION_MESSAGE message = {};
  message.role = WINML_CHAT_ROLE_USER;
  message.content = question.c_str();
  WINML_CONVERSATION_REQUEST request = {};
  request.messageCount = 1;  // the whole conversation, each time
  request.messages = &message;
  request.addGenerationPrompt = TRUE;
  ComPtr<IWinMLChatCompletionPullStream> stream;
  WinML::Check(chat->Generate(&request, text.options.Get(), nullptr, stream.GetAddressOf()), "Generate");

  auto status = WINML_CHAT_COMPLETION_READ_STATUS_EVENT;
  while (true) {
    ComPtr<IWinMLConversationOutputEvent> event;
    WinML::Check(stream->ReadNext(&status, event.GetAddressOf()), "ReadNext");
    if (status == WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED) break;
    LPCWSTR piece = nullptr;
    auto type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
    WinML::Check(event->GetType(&type), "GetType");
    if (type != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA) continue;
    WinML::Check(event->GetText(&piece), "GetText");
    std::cout << openwinml::ToUtf8(piece) << std::flush;
  }
  std::cout << '\n';
  ComPtr<IWinMLChatCompletionResult> result;
  HRESULT error = S_OK;
  WinML::Check(stream->GetResult(result.GetAddressOf()), "GetResult");
  WinML::Check(result->GetErrorCode(&error), "GetErrorCode");
  WinML::Check(error, "the answer");
  WinML::Check(stream->Close(), "Close");
  WinML::Check(text.session->Close(), "Close");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: cpp_chat MODEL.gguf QUESTION\n";
    return 2;
  }
  try {
    Chat(openwinml::ToWide(argv[1]), openwinml::ToWide(argv[2]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "cpp_chat: " << error.what() << '\n';
    return 1;
  }
}
