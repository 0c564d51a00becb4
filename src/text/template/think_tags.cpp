// Reasoning comes first, once, and white space around its tags belongs to nobody.
// Called by formatters that know no tool calls.
#include "text/template/think_tags.h"

#include <algorithm>
#include <array>
#include <utility>

namespace owml::text {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

class PlainParser final : public ReplyParser {
 public:
  PlainParser(std::optional<ThinkTags> tags, bool in_reasoning) : tags_(std::move(tags)) {
    if (tags_) state_ = in_reasoning ? State::kReasoning : State::kStart;
  }

  void Append(std::string_view text, std::vector<ReplyEvent>* events) override {
    held_ += text;
    while (Step(/*at_end=*/false, events)) {
    }
  }

  void Finish(std::vector<ReplyEvent>* events) override {
    while (Step(/*at_end=*/true, events)) {
    }
    events->push_back({ReplyEvent::Kind::kCompleted, {}, 0, {}, {}});
  }

 private:
  enum class State : uint8_t {
    kStart,           // before a tag, if one comes at all
    kReasoningStart,  // behind the opening tag
    kReasoning,
    kContentStart,  // behind the closing tag
    kContent,
  };

  void Emit(ReplyEvent::Kind kind, size_t count, std::vector<ReplyEvent>* events) {
    if (count > 0) events->push_back({kind, held_.substr(0, count), 0, {}, {}});
    held_.erase(0, count);
  }

  // Drops white space at the front; true when something else follows.
  bool SkipSpace() {
    held_.erase(0, std::min(held_.find_first_not_of(kSpace), held_.size()));
    return !held_.empty();
  }

  // True when the state changed.
  bool Step(bool at_end, std::vector<ReplyEvent>* events) {
    switch (state_) {
      case State::kStart: {
        const size_t begin = held_.find_first_not_of(kSpace);
        const std::string_view rest = std::string_view(held_).substr(std::min(begin, held_.size()));
        const std::string_view open = std::string_view(tags_->open);
        if (rest.substr(0, open.size()) == open) {
          held_.erase(0, begin + open.size());
          state_ = State::kReasoningStart;
          return true;
        }
        if (!at_end && open.substr(0, rest.size()) == rest) return false;
        state_ = State::kContent;
        return true;
      }
      case State::kReasoningStart:
        if (!SkipSpace()) return false;
        state_ = State::kReasoning;
        return true;
      case State::kReasoning: {
        const size_t close = held_.find(tags_->close);
        if (close != std::string::npos) {
          const size_t end = held_.find_last_not_of(kSpace, close == 0 ? 0 : close - 1);
          Emit(ReplyEvent::Kind::kReasoning, close == 0 || end == std::string::npos ? 0 : end + 1, events);
          held_.erase(0, held_.find(tags_->close) + tags_->close.size());
          state_ = State::kContentStart;
          return true;
        }
        Emit(ReplyEvent::Kind::kReasoning, at_end ? held_.size() : Certain(tags_->close), events);
        return false;
      }
      case State::kContentStart:
        if (!SkipSpace()) return false;
        state_ = State::kContent;
        return true;
      case State::kContent:
        Emit(ReplyEvent::Kind::kContent, held_.size(), events);
        return false;
    }
    return false;
  }

  // How much of the held text is certainly reasoning: not what may begin the closing tag, nor white space before it.
  size_t Certain(const std::string& close) const {
    size_t certain = held_.size();
    for (size_t begin = held_.size() - std::min(held_.size(), close.size() - 1); begin < held_.size(); ++begin) {
      if (close.compare(0, held_.size() - begin, held_, begin, std::string::npos) == 0) {
        certain = begin;
        break;
      }
    }
    if (certain == 0) return 0;
    const size_t last = held_.find_last_not_of(kSpace, certain - 1);
    return last == std::string::npos ? 0 : last + 1;
  }

  std::optional<ThinkTags> tags_;
  State state_ = State::kContent;
  std::string held_;
};

class PlainReplySyntax final : public ReplySyntax {
 public:
  PlainReplySyntax(std::optional<ThinkTags> tags, bool in_reasoning)
      : tags_(std::move(tags)), in_reasoning_(in_reasoning) {}

  std::unique_ptr<ReplyParser> CreateParser() const override {
    return std::make_unique<PlainParser>(tags_, in_reasoning_);
  }
  const char* name() const override { return tags_ ? "think-tags" : "content"; }
  bool separates_reasoning() const override { return tags_.has_value(); }

 private:
  std::optional<ThinkTags> tags_;
  bool in_reasoning_;
};

}  // namespace

std::optional<ThinkTags> FindThinkTags(const std::string& template_source) {
  static const std::array<ThinkTags, 4> known = {{{"<think>", "</think>"},
                                                  {"[THINK]", "[/THINK]"},
                                                  {"<thinking>", "</thinking>"},
                                                  {"<seed:think>", "</seed:think>"}}};
  for (const ThinkTags& tags : known) {
    if (template_source.find(tags.open) != std::string::npos && template_source.find(tags.close) != std::string::npos) {
      return tags;
    }
  }
  return std::nullopt;
}

std::shared_ptr<const ReplySyntax> PlainSyntax(std::optional<ThinkTags> tags, const std::string& prompt_end) {
  bool in_reasoning = false;
  if (tags) {
    const size_t open = prompt_end.rfind(tags->open);
    const size_t close = prompt_end.rfind(tags->close);
    in_reasoning = open != std::string::npos && (close == std::string::npos || close < open);
  }
  return std::make_shared<PlainReplySyntax>(std::move(tags), in_reasoning);
}

}  // namespace owml::text
