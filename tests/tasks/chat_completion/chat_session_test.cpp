// Tasks and sessions: what goes together, states, threads, failures on the way to a stream.
#include <thread>

#include "tasks/chat_completion/chat_fixture.h"
#include "tasks/stranger_runtime.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

class ChatSessionTest : public ChatTest {};

TEST_F(ChatSessionTest, ATaskNeedsATokenizerWithATemplate) {
  ComPtr<StrangerTokenizer> plain;
  plain.Attach(new StrangerTokenizer);
  ComPtr<IWinMLChatCompletionTask> made;
  EXPECT_EQ(chat_factory->CreateChatCompletionTask(plain.Get(), made.GetAddressOf()), E_NOINTERFACE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("template"));
  EXPECT_EQ(chat_factory->CreateChatCompletionTask(nullptr, made.GetAddressOf()), E_POINTER);
  EXPECT_EQ(chat_factory->CreateChatCompletionTask(tokenizer.Get(), nullptr), E_POINTER);
  ASSERT_EQ(chat_factory->CreateChatCompletionTask(tokenizer.Get(), made.GetAddressOf()), S_OK);
  ComPtr<IWinMLTokenizer> its;
  ASSERT_EQ(made->GetTokenizer(its.GetAddressOf()), S_OK);
  EXPECT_TRUE(SameObject(its.Get(), static_cast<IWinMLTokenizer*>(tokenizer.Get())));
}

TEST_F(ChatSessionTest, TheFactoryIsOneObjectWithTheOtherFactories) {
  EXPECT_TRUE(SameObject(chat_factory.Get(), tasks.Get()));
  EXPECT_TRUE(SameObject(chat_factory.Get(), factory.Get()));
}

TEST_F(ChatSessionTest, AnotherTokenizerIsRefused) {
  OpenChat();
  ComPtr<ChatTokenizer> other;
  other.Attach(new ChatTokenizer(conduct));
  ComPtr<IWinMLChatCompletionTask> foreign;
  ASSERT_EQ(chat_factory->CreateChatCompletionTask(other.Get(), foreign.GetAddressOf()), S_OK);
  ComPtr<IWinMLChatCompletionSession> made;
  EXPECT_EQ(foreign->CreateSession(session.Get(), made.GetAddressOf()), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("another tokenizer"));
  EXPECT_EQ(made, nullptr);
}

TEST_F(ChatSessionTest, AnotherRuntimeIsRefused) {
  OpenChat();
  StrangerRuntime stranger;
  ComPtr<IWinMLChatCompletionTaskFactory> its_factory;
  ASSERT_EQ(WinMLCreateTasks(&stranger, __uuidof(IWinMLChatCompletionTaskFactory),
                             reinterpret_cast<void**>(its_factory.GetAddressOf())),
            S_OK);
  ComPtr<IWinMLChatCompletionTask> foreign;
  ASSERT_EQ(its_factory->CreateChatCompletionTask(tokenizer.Get(), foreign.GetAddressOf()), S_OK);
  ComPtr<IWinMLChatCompletionSession> made;
  EXPECT_EQ(foreign->CreateSession(session.Get(), made.GetAddressOf()), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("another runtime"));
}

TEST_F(ChatSessionTest, ASessionIsMadeOnTheTextSessionsThreadFromAnOpenOne) {
  OpenChat();
  std::thread([&] {
    ComPtr<IWinMLChatCompletionSession> made;
    EXPECT_EQ(chat_task->CreateSession(session.Get(), made.GetAddressOf()), RPC_E_WRONG_THREAD);
    ComPtr<IWinMLTokenizer> its;
    EXPECT_EQ(chat_task->GetTokenizer(its.GetAddressOf()), S_OK) << "the task itself is good for any thread";
  }).join();
  ComPtr<IWinMLChatCompletionSession> made;
  EXPECT_EQ(chat_task->CreateSession(nullptr, made.GetAddressOf()), E_POINTER);
  ASSERT_EQ(session->Close(), S_OK);
  EXPECT_EQ(chat_task->CreateSession(session.Get(), made.GetAddressOf()), E_NOT_VALID_STATE);
}

TEST_F(ChatSessionTest, BelongsToItsThread) {
  OpenChat();
  const auto stream = StartChat(kAsk);
  std::thread([&] {
    ComPtr<IWinMLChatCompletionPullStream> other;
    EXPECT_EQ(TryStart(kAsk, &other), RPC_E_WRONG_THREAD);
    ComPtr<IWinMLMediaEncoder> encoder;
    ComPtr<IWinMLTextGenerationSession> text;
    EXPECT_EQ(chat->SetMediaEncoder(nullptr), RPC_E_WRONG_THREAD);
    EXPECT_EQ(chat->GetMediaEncoder(encoder.GetAddressOf()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(chat->GetTextGenerationSession(text.GetAddressOf()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(chat->Close(), RPC_E_WRONG_THREAD);
    auto status = WINML_CHAT_COMPLETION_READ_STATUS_EVENT;
    ComPtr<IWinMLConversationOutputEvent> event;
    EXPECT_EQ(stream->ReadNext(&status, event.GetAddressOf()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(status, WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED);
    EXPECT_EQ(stream->Close(), RPC_E_WRONG_THREAD);
  }).join();
}

TEST_F(ChatSessionTest, CloseLeavesStreamsAndTextSessionOpen) {
  OpenChat();
  Says({8, 9, kEnd});
  const auto stream = StartChat(kAsk);
  EXPECT_EQ(chat->Close(), S_OK);
  EXPECT_EQ(chat->Close(), S_OK);
  EXPECT_EQ(ReadAll(stream.Get()).content, L"hi");
  ComPtr<IWinMLChatCompletionPullStream> other;
  EXPECT_EQ(TryStart(kAsk, &other), E_NOT_VALID_STATE);
  ComPtr<IWinMLMediaEncoder> encoder;
  EXPECT_EQ(chat->SetMediaEncoder(nullptr), E_NOT_VALID_STATE);
  EXPECT_EQ(chat->GetMediaEncoder(encoder.GetAddressOf()), E_NOT_VALID_STATE);
  ComPtr<IWinMLTextGenerationSession> text;
  ASSERT_EQ(chat->GetTextGenerationSession(text.GetAddressOf()), S_OK);
  EXPECT_EQ(text->Close(), S_OK);
}

TEST_F(ChatSessionTest, ASecondCompletionWaitsForTheFirst) {
  OpenChat();
  Says({8, 9, kEnd});
  const auto stream = StartChat(kAsk);
  ComPtr<IWinMLChatCompletionPullStream> other;
  EXPECT_EQ(TryStart(kAsk, &other), E_NOT_VALID_STATE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("stream of the session is open"));
  EXPECT_EQ(ReadAll(stream.Get()).content, L"hi") << "the first one is not disturbed";
  EXPECT_EQ(TryStart(kAsk, &other), S_OK);
}

TEST_F(ChatSessionTest, FailuresOnTheWayAreReturnedAsTheyAre) {
  OpenChat();
  ComPtr<IWinMLChatCompletionPullStream> stream;
  for (HRESULT Conduct::*failing : {&Conduct::format_result, &Conduct::parser_result}) {
    (*conduct).*failing = E_ABORT;
    EXPECT_EQ(TryStart(kAsk, &stream), E_ABORT);
    EXPECT_EQ(stream, nullptr);
    (*conduct).*failing = S_OK;
  }
  conduct->empty_prompt = true;
  EXPECT_EQ(TryStart(kAsk, &stream), E_INVALIDARG);
  conduct->empty_prompt = false;
  EXPECT_TRUE(model->runs.empty());
  EXPECT_EQ(chat->Generate(nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
}

TEST_F(ChatSessionTest, APromptPastTheCapacityIsRefusedWithBothNumbersAndCostsNothing) {
  model->capacity = 10;
  OpenChat();
  Says({8, kEnd});
  Complete(kAsk);
  const Tokens retained = Retained();
  ComPtr<IWinMLChatCompletionPullStream> stream;
  EXPECT_EQ(TryStart({{L"user", L"rrrrrrrrr"}}, &stream), kTooLong);
  EXPECT_THAT(openwinml::LastErrorMessage(), testing::AllOf(HasSubstr("12 tokens"), HasSubstr("capacity of 10")));
  EXPECT_EQ(Retained(), retained);
}

TEST_F(ChatSessionTest, DroppedWithAnOpenStreamFreesTheTextSession) {
  OpenChat();
  Says({8, 9, kEnd});
  {
    const auto stream = StartChat(kAsk);
    std::vector<SeenEvent> events;
    ReadOne(stream.Get(), &events);
  }
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  EXPECT_EQ(session->Close(), S_OK);
}

}  // namespace
}  // namespace owml::test
