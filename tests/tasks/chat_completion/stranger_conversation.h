// A formatter and a parser as an application might write them, over the letters of StrangerTokenizer: each message is
// the first letter of its role, its content and an end token; a test says what comes with it.
// Used by the tests of chat completion.
#pragma once

#include <WinMLConversation.h>

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "com/com_ptr.h"
#include "tasks/text_generation/stranger_constraint.h"

namespace owml::test {

// Reference counts of objects that offer one or two interfaces.
template <class Derived, class... Interfaces>
class StrangerObject : public Interfaces... {
 public:
  virtual ~StrangerObject() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    (void)((iid == __uuidof(Interfaces) ? (*object = static_cast<Interfaces*>(this), true) : false) || ...);
    if (!*object) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

 private:
  std::atomic<ULONG> references_{1};
};

struct EventData {
  WINML_CONVERSATION_OUTPUT_EVENT_TYPE type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA;
  std::wstring text;
  UINT32 index = 0;
  std::wstring call_id;
  std::wstring tool_name;
  HRESULT error = S_OK;
};

class StrangerEvent final : public StrangerObject<StrangerEvent, IWinMLConversationOutputEvent> {
 public:
  explicit StrangerEvent(EventData data) : data_(std::move(data)) {}
  HRESULT STDMETHODCALLTYPE GetType(WINML_CONVERSATION_OUTPUT_EVENT_TYPE* type) override {
    *type = data_.type;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetToolCallIndex(UINT32* index) override {
    *index = data_.index;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetCallId(LPCWSTR* id) override {
    *id = data_.call_id.c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetToolName(LPCWSTR* name) override {
    *name = data_.tool_name.c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetText(LPCWSTR* text) override {
    *text = data_.text.c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetError(HRESULT* error, LPCWSTR* message) override {
    *error = data_.error;
    *message = data_.text.c_str();
    return S_OK;
  }

 private:
  const EventData data_;
};

// What the formatter and its parsers do, and what they saw. Shared by them and the test.
struct Conduct {
  std::vector<std::wstring> stops;
  std::vector<std::pair<UINT32, std::wstring>> preserved;
  ComPtr<IWinMLTokenConstraint> constraint;  // asked for when set
  // Instead of one content event for each piece of text.
  std::function<std::vector<EventData>(const std::wstring& text)> parse;
  std::vector<EventData> at_flush = {{WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED, L"", 0, L"", L"", S_OK}};
  HRESULT format_result = S_OK;
  HRESULT parser_result = S_OK;
  HRESULT append_result = S_OK;
  HRESULT flush_result = S_OK;
  HRESULT read_result = S_OK;
  HRESULT constraint_result = S_OK;
  bool empty_prompt = false;
  bool forgets_event = false;

  std::vector<std::wstring> appended;
  int flushes = 0;
  int formats = 0;
};

class StrangerParser final : public StrangerObject<StrangerParser, IWinMLConversationOutputParser> {
 public:
  explicit StrangerParser(std::shared_ptr<Conduct> conduct) : conduct_(std::move(conduct)) {}
  HRESULT STDMETHODCALLTYPE Append(LPCWSTR text) override {
    conduct_->appended.push_back(text);
    if (conduct_->parse) {
      for (EventData& event : conduct_->parse(text)) events_.push_back(std::move(event));
    } else {
      EventData event;
      event.text = text;
      events_.push_back(std::move(event));
    }
    return conduct_->append_result;
  }
  HRESULT STDMETHODCALLTYPE Flush() override {
    ++conduct_->flushes;
    events_.insert(events_.end(), conduct_->at_flush.begin(), conduct_->at_flush.end());
    return conduct_->flush_result;
  }
  HRESULT STDMETHODCALLTYPE ReadEvent(WINML_CONVERSATION_OUTPUT_READ_STATUS* status,
                                      IWinMLConversationOutputEvent** event) override {
    *event = nullptr;
    *status =
        events_.empty() ? WINML_CONVERSATION_OUTPUT_READ_STATUS_EMPTY : WINML_CONVERSATION_OUTPUT_READ_STATUS_EVENT;
    if (FAILED(conduct_->read_result) || events_.empty() || conduct_->forgets_event) return conduct_->read_result;
    *event = new StrangerEvent(std::move(events_.front()));
    events_.pop_front();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Reset() override { return E_NOTIMPL; }

 private:
  const std::shared_ptr<Conduct> conduct_;
  std::deque<EventData> events_;
};

class StrangerFormatResult final : public StrangerObject<StrangerFormatResult, IWinMLConversationFormatResult> {
 public:
  StrangerFormatResult(std::shared_ptr<Conduct> conduct, std::vector<UINT32> prompt)
      : conduct_(std::move(conduct)), prompt_(std::move(prompt)) {}
  HRESULT STDMETHODCALLTYPE GetTokenIds(UINT32* count, UINT32** ids) override {
    *count = static_cast<UINT32>(prompt_.size());
    *ids = prompt_.empty() ? nullptr : static_cast<UINT32*>(CoTaskMemAlloc(prompt_.size() * sizeof(UINT32)));
    std::copy(prompt_.begin(), prompt_.end(), *ids);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetImplementationIdentity(LPCWSTR*, UINT32*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetGenerationPrompt(LPCWSTR*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetGenerationPromptMetadata(BOOL*, WINML_CONVERSATION_CONTINUATION*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetAdditionalStopCount(UINT32* count) override {
    *count = static_cast<UINT32>(conduct_->stops.size());
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetAdditionalStop(UINT32 index, LPCWSTR* stop) override {
    *stop = conduct_->stops.at(index).c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetParserCapabilities(WINML_CONVERSATION_PARSER_CAPABILITIES*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetConstraint(WINML_CONVERSATION_CONSTRAINT_PRESENCE* presence, LPCWSTR*, UINT32*, BOOL*,
                                          LPCWSTR*) override {
    *presence = conduct_->constraint || FAILED(conduct_->constraint_result)
                    ? WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT
                    : WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetConstraintTriggerCount(UINT32*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetConstraintTrigger(UINT32, WINML_CONVERSATION_CONSTRAINT_TRIGGER_TYPE*, BOOL*, UINT32*,
                                                 LPCWSTR*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetPreservedTokenCount(UINT32* count) override {
    *count = static_cast<UINT32>(conduct_->preserved.size());
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetPreservedToken(UINT32 index, BOOL* has_id, UINT32* id, LPCWSTR* text) override {
    *has_id = TRUE;
    *id = conduct_->preserved.at(index).first;
    *text = conduct_->preserved.at(index).second.c_str();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateOutputParser(IWinMLConversationOutputParser** parser) override {
    *parser = FAILED(conduct_->parser_result) ? nullptr : new StrangerParser(conduct_);
    return conduct_->parser_result;
  }

 private:
  const std::shared_ptr<Conduct> conduct_;
  const std::vector<UINT32> prompt_;
};

class ChatTokenizer final : public ConstrainingTokenizer, public IWinMLStructuredConversationFormatter {
 public:
  explicit ChatTokenizer(std::shared_ptr<Conduct> conduct) : conduct_(std::move(conduct)) {}

  bool constrains = true;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    if (iid == __uuidof(IWinMLTokenizerConstraintFactory) && !constrains) return E_NOINTERFACE;
    if (iid != __uuidof(IWinMLStructuredConversationFormatter))
      return ConstrainingTokenizer::QueryInterface(iid, object);
    *object = static_cast<IWinMLStructuredConversationFormatter*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return StrangerTokenizer::AddRef(); }
  ULONG STDMETHODCALLTYPE Release() override { return StrangerTokenizer::Release(); }

  HRESULT STDMETHODCALLTYPE FormatConversation(const WINML_CONVERSATION_REQUEST* request,
                                               IWinMLConversationFormatResult** result) override {
    ++conduct_->formats;
    *result = nullptr;
    if (FAILED(conduct_->format_result)) return conduct_->format_result;
    std::vector<UINT32> prompt;
    const auto letter = [&](wchar_t one) { prompt.push_back(static_cast<UINT32>(one - L'a' + 1)); };
    for (UINT32 i = 0; i < request->messageCount; ++i) {
      letter(request->messages[i].role[0]);
      for (const wchar_t one : std::wstring(request->messages[i].content)) letter(one);
      prompt.push_back(kEnd);
    }
    if (request->addGenerationPrompt) letter(L'a');
    if (conduct_->empty_prompt) prompt.clear();
    *result = new StrangerFormatResult(conduct_, std::move(prompt));
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE CreateConstraint(IWinMLConversationFormatResult*, IWinMLTokenConstraint** made) override {
    *made = AddedRef(conduct_->constraint.Get());
    return conduct_->constraint_result;
  }

 private:
  const std::shared_ptr<Conduct> conduct_;
};

}  // namespace owml::test
