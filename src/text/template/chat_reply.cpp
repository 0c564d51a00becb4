// Incremental parsing. The grammar reads the whole text each time; how often is paid from a credit that grows with the
// text, so that the work is linear in its length. Plain runs of content and reasoning go through without a parse.
// Called through ReplySyntax.
#include "text/template/chat_reply.h"

#include <chat-peg-parser.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/template/render_bounds.h"

namespace owml::text {
namespace {

using Kind = ReplyEvent::Kind;

// Bytes that may be read for nothing, and for each byte of the reply.
constexpr size_t kFirstCredit = size_t{4} << 20;
constexpr size_t kCreditPerByte = 48;

// Content and reasoning as the grammar sees them: text up to a delimiter, and nothing that looks inside.
bool IsPlainText(const common_peg_arena& grammar, common_peg_parser_id id, int depth) {
  if (depth > 16) return false;
  const auto all = [&](const std::vector<common_peg_parser_id>& children) {
    return std::all_of(children.begin(), children.end(),
                       [&](common_peg_parser_id child) { return IsPlainText(grammar, child, depth + 1); });
  };
  const common_peg_parser_variant& parser = grammar.get(id);
  if (std::get_if<common_peg_until_parser>(&parser) || std::get_if<common_peg_epsilon_parser>(&parser) ||
      std::get_if<common_peg_not_parser>(&parser) || std::get_if<common_peg_any_parser>(&parser)) {
    return true;
  }
  if (const auto* sequence = std::get_if<common_peg_sequence_parser>(&parser)) return all(sequence->children);
  if (const auto* rule = std::get_if<common_peg_rule_parser>(&parser))
    return IsPlainText(grammar, rule->child, depth + 1);
  if (const auto* ref = std::get_if<common_peg_ref_parser>(&parser)) {
    return grammar.has_rule(ref->name) && IsPlainText(grammar, grammar.get_rule(ref->name), depth + 1);
  }
  return false;
}

bool IsText(const std::string& tag) {
  return tag == common_chat_peg_builder::CONTENT || tag == common_chat_peg_builder::REASONING;
}

// Bytes at the end of `text` that may begin one of the delimiters, or all of it from the first whole delimiter on.
size_t Unsettled(std::string_view text, const std::vector<std::string>& delimiters) {
  size_t settled = text.size();
  for (const std::string& delimiter : delimiters) {
    if (delimiter.empty()) continue;
    settled = std::min(settled, text.find(delimiter));
    const size_t longest = std::min(text.size(), delimiter.size() - 1);
    for (size_t begin = text.size() - longest; begin < settled; ++begin) {
      if (delimiter.compare(0, text.size() - begin, text.substr(begin)) == 0) settled = begin;
    }
  }
  return text.size() - settled;
}

bool IsJsonObject(const std::string& text) {
  bool deep = false;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    deep |= depth > 256;
    return !deep;
  };
  const auto parsed = nlohmann::json::parse(text, watch, /*allow_exceptions=*/false);
  return !deep && parsed.is_object();
}

class ChatReplyParser final : public ReplyParser {
 public:
  explicit ChatReplyParser(std::shared_ptr<const ChatReplySyntax::Shared> shared) : shared_(std::move(shared)) {
    // What the prompt holds already, such as content to continue, is no news.
    if (Read()) {
      content_ = read_.content;
      reasoning_ = read_.reasoning_content;
    }
    failed_ = false;
    broken_.clear();
    told_ = 0;
  }

  void Append(std::string_view text, std::vector<ReplyEvent>* events) override {
    text_ += text;
    credit_ += text.size() * kCreditPerByte;
    if (failed_) return;
    if (as_content_) return TellAsContent(text, events);
    if (RunOn(text, events)) return;
    const size_t cost = shared_->format.generation_prompt.size() + text_.size();
    if (cost > credit_) return;
    credit_ -= cost;
    if (Read()) Tell(/*at_end=*/false, events);
  }

  void Finish(std::vector<ReplyEvent>* events) override {
    if (!failed_ && !as_content_) {
      run_ = Run::kNone;
      if (Read()) {
        Tell(/*at_end=*/true, events);
        if (!as_content_) TellRest(events);
      }
    }
    if (failed_ && broken_.empty()) broken_ = "the reply does not have the form that the model's format prescribes";
    // Spec-open: the error comes before the ends that it forces, so that nobody takes a call for whole.
    if (!broken_.empty()) events->push_back({Kind::kError, broken_, 0, {}, {}});
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].started && !calls_[i].told_end) TellEnd(i, events);
    }
    events->push_back({Kind::kCompleted, {}, 0, {}, {}});
  }

 private:
  enum class Run : uint8_t { kNone, kContent, kReasoning };

  struct Call {
    std::string id;
    std::string name;
    std::string arguments;  // told so far
    bool started = false;
    bool ended = false;  // nothing of it can follow
    bool told_end = false;
  };

  // Reads all of the text into `read_`; false when nothing can be taken from it.
  bool Read() {
    const ChatReplyFormat& format = shared_->format;
    common_peg_parse_context context(format.generation_prompt + text_, COMMON_PEG_PARSE_FLAG_LENIENT);
    try {
      RunBoundedHere(context.input.size() * 4, "the reply", [&] {
        const common_peg_parse_result result = format.grammar.parse(context);
        failed_ = result.fail();
        read_ = common_chat_msg();
        Map(context.ast, result);
        FindRun(context, result);
      });
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      failed_ = true;
      broken_ = error.what();
      return false;
    }
    return true;
  }

  void Map(const common_peg_ast_arena& ast, const common_peg_parse_result& result) {
    switch (shared_->format.format) {
      case COMMON_CHAT_FORMAT_PEG_GEMMA4:
        common_chat_peg_gemma4_mapper(read_).from_ast(ast, result);
        break;
      case COMMON_CHAT_FORMAT_PEG_MINIMAX_M3:
        common_chat_peg_minimax_m3_mapper(read_).from_ast(ast, result);
        break;
      default:
        common_chat_peg_mapper(read_).from_ast(ast, result);
    }
  }

  // Whether the text ends inside of content or reasoning, and where that reaches.
  void FindRun(const common_peg_parse_context& context, const common_peg_parse_result& result) {
    run_ = Run::kNone;
    rest_ = 0;
    std::optional<size_t> end;
    bool in_reasoning = false;
    bool call_behind = false;
    context.ast.visit(result, [&](const common_peg_ast_node& node) {
      if (IsText(node.tag)) {
        end = node.end;
        in_reasoning = node.tag == common_chat_peg_builder::REASONING;
        call_behind = false;
      } else if (node.tag.rfind("tool", 0) == 0) {
        call_behind = true;
      }
    });
    const size_t before = shared_->format.generation_prompt.size();
    if (end) text_end_ = *end - std::min(*end, before);
    if (failed_ || !end || call_behind) return;
    rest_ = context.input.size() - *end;
    rest_in_reasoning_ = in_reasoning;
    if (rest_ == 0 && shared_->text_runs_on) run_ = in_reasoning ? Run::kReasoning : Run::kContent;
  }

  // Hands text of a run through; false when a parse must look at it.
  bool RunOn(std::string_view text, std::vector<ReplyEvent>* events) {
    std::string& told = run_ == Run::kReasoning ? reasoning_ : content_;
    // Reasoning of nothing but white space is none, which only a reading knows.
    if (run_ == Run::kNone || told.empty() || Unsettled(text, shared_->delimiters) > 0) {
      run_ = Run::kNone;
      return false;
    }
    told += text;
    told_ = text_.size();
    events->push_back({run_ == Run::kReasoning ? Kind::kReasoning : Kind::kContent, std::string(text), 0, {}, {}});
    return true;
  }

  // The news in a text that grew; false when it did not grow but change.
  bool TellText(Kind kind, const std::string& now, std::string* told, std::vector<ReplyEvent>* events) {
    if (now.size() <= told->size()) return told->compare(0, now.size(), now) == 0;
    if (now.compare(0, told->size(), *told) != 0) return false;
    events->push_back({kind, now.substr(told->size()), 0, {}, {}});
    *told = now;
    return true;
  }

  void Tell(bool at_end, std::vector<ReplyEvent>* events) {
    text_end_ = std::max(text_end_, told_);
    bool good = TellText(Kind::kReasoning, read_.reasoning_content, &reasoning_, events);
    good = TellText(Kind::kContent, read_.content, &content_, events) && good;
    good = good && read_.tool_calls.size() >= calls_.size();
    for (size_t i = 0; good && i < read_.tool_calls.size(); ++i) {
      good = TellCall(i, at_end || i + 1 < read_.tool_calls.size(), events);
    }
    if (!good && !failed_) {
      failed_ = true;
      broken_ = "the reply turned out to be something else than its beginning showed";
    }
    told_ = text_end_;
    if (failed_ && broken_.empty() && calls_.empty()) {
      // Nothing in it looks like a call but perhaps a bracket: it is content that the format did not foresee.
      failed_ = false;
      as_content_ = true;
      const std::string rest = text_.substr(std::min(told_, text_.size()));
      TellAsContent(rest, events);
    }
  }

  // Content as it comes, until a mark of the format shows that it is none.
  void TellAsContent(std::string_view text, std::vector<ReplyEvent>* events) {
    const size_t longest = 64;
    const std::string_view all = text_;
    const std::string_view recent = all.substr(all.size() - std::min(all.size(), text.size() + longest));
    for (const std::string& mark : shared_->marks) {
      if (recent.find(mark) == std::string_view::npos) continue;
      failed_ = true;
      return;
    }
    if (!text.empty()) events->push_back({Kind::kContent, std::string(text), 0, {}, {}});
  }

  bool TellCall(size_t index, bool complete, std::vector<ReplyEvent>* events) {
    const common_chat_tool_call& now = read_.tool_calls[index];
    if (index == calls_.size()) calls_.emplace_back();
    Call& call = calls_[index];
    if (!call.started) {
      // A name may still grow, and an id may come behind the arguments.
      if (!complete && (now.arguments.size() < 2 || (shared_->has_ids && now.id.empty()))) return true;
      call.started = true;
      call.name = now.name;
      call.id = now.id.empty() ? NewId() : now.id;
      events->push_back({Kind::kCallStart, {}, static_cast<uint32_t>(index), call.id, call.name});
    }
    if (now.name != call.name || now.arguments.compare(0, call.arguments.size(), call.arguments) != 0) return false;
    if (now.arguments.size() > call.arguments.size()) {
      events->push_back({Kind::kArguments, now.arguments.substr(call.arguments.size()), static_cast<uint32_t>(index),
                         call.id, call.name});
      call.arguments = now.arguments;
    }
    if (call.ended || !(complete || (!call.arguments.empty() && call.arguments.back() == '}'))) return true;
    if (IsJsonObject(call.arguments)) {
      call.ended = true;
      TellEnd(index, events);
    } else if (complete) {
      call.ended = true;
      failed_ = true;
      broken_ = "the arguments of the call of '" + call.name + "' are no JSON object";
    }
    return true;
  }

  void TellEnd(size_t index, std::vector<ReplyEvent>* events) {
    calls_[index].told_end = true;
    events->push_back({Kind::kCallEnd, {}, static_cast<uint32_t>(index), calls_[index].id, calls_[index].name});
  }

  // Text that looked like the beginning of a delimiter until the reply ended.
  void TellRest(std::vector<ReplyEvent>* events) {
    if (failed_ || rest_ == 0 || rest_ > text_.size() || !shared_->text_runs_on) return;
    const std::string rest = text_.substr(text_.size() - rest_);
    if (Unsettled(rest, shared_->delimiters) != rest.size()) return;
    for (const std::string& delimiter : shared_->delimiters) {
      if (rest.find(delimiter) != std::string::npos) return;
    }
    events->push_back({rest_in_reasoning_ ? Kind::kReasoning : Kind::kContent, rest, 0, {}, {}});
  }

  // Nine letters and digits, as some templates require; unique in the conversation, which is counted through.
  std::string NewId() {
    for (;;) {
      char id[32];
      std::snprintf(id, sizeof(id), "call%05zu", shared_->format.calls_before + ++ids_made_);
      const bool taken = shared_->format.known_ids.count(id) > 0 ||
                         std::any_of(calls_.begin(), calls_.end(), [&](const Call& call) { return call.id == id; });
      if (!taken) return id;
    }
  }

  std::shared_ptr<const ChatReplySyntax::Shared> shared_;
  std::string text_;
  size_t credit_ = kFirstCredit;
  common_chat_msg read_;
  bool failed_ = false;  // more text cannot make it right
  std::string broken_;   // why there will be an error

  bool as_content_ = false;
  size_t text_end_ = 0;  // of content and reasoning in the text, as the last reading saw it
  size_t told_ = 0;      // the same of what was told

  Run run_ = Run::kNone;
  size_t rest_ = 0;  // bytes behind the last content or reasoning
  bool rest_in_reasoning_ = false;

  std::string content_;  // told so far
  std::string reasoning_;
  std::vector<Call> calls_;
  size_t ids_made_ = 0;
};

}  // namespace

ChatReplySyntax::ChatReplySyntax(ChatReplyFormat format) {
  auto shared = std::make_shared<Shared>();
  shared->format = std::move(format);
  const common_peg_arena& grammar = shared->format.grammar;
  shared->text_runs_on = true;
  for (size_t id = 0; id < grammar.size(); ++id) {
    const common_peg_parser_variant& parser = grammar.get(id);
    if (const auto* until = std::get_if<common_peg_until_parser>(&parser)) {
      shared->delimiters.insert(shared->delimiters.end(), until->delimiters.begin(), until->delimiters.end());
    } else if (const auto* tag = std::get_if<common_peg_tag_parser>(&parser)) {
      if (IsText(tag->tag) && !IsPlainText(grammar, tag->child, 0)) shared->text_runs_on = false;
      if (tag->tag == common_chat_peg_builder::TOOL_ID) shared->has_ids = true;
      if (tag->tag == common_chat_peg_builder::TOOL_NAME) shared->has_names = true;
    }
  }
  std::sort(shared->delimiters.begin(), shared->delimiters.end());
  // Single brackets end content in some formats, and occur in any content.
  for (std::string mark : shared->delimiters) {
    mark.erase(0, std::min(mark.find_first_not_of(" \n"), mark.size()));
    mark.erase(mark.find_last_not_of(" \n") + 1);
    if (mark.size() > 2) shared->marks.push_back(std::move(mark));
  }
  shared->delimiters.erase(std::unique(shared->delimiters.begin(), shared->delimiters.end()), shared->delimiters.end());
  shared_ = std::move(shared);
}

std::unique_ptr<ReplyParser> ChatReplySyntax::CreateParser() const {
  return std::make_unique<ChatReplyParser>(shared_);
}

}  // namespace owml::text
