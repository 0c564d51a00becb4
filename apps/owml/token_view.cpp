// Encoding and decoding through the public interfaces; the table and the shaded text.
// Offsets come from the stream decoder, since the API hands out none.
#include "token_view.h"

#include <fmt/format.h>
#include <objbase.h>

#include <cstdio>
#include <openwinml/strings.hpp>
#include <unordered_map>
#include <utility>

#include "failure.h"
#include "terminal.h"

namespace owml::cli {

using Microsoft::WRL::ComPtr;

TokenizerView::TokenizerView(const std::string& path) {
  Check(WinMLCreateTokenizerFromFile(openwinml::ToWide(path).c_str(), tokenizer_.GetAddressOf()),
        "loading the tokenizer");
}

std::vector<uint32_t> TokenizerView::Encode(const std::string& text, bool add_special) const {
  if (const size_t at = text.find('\0'); at != std::string::npos) {
    throw Failure(fmt::format("the text has a NUL at byte {}; the tokenizer API takes text up to the first one", at),
                  E_INVALIDARG);
  }
  const auto flags = add_special ? WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS : WINML_TOKENIZER_ENCODE_FLAG_NONE;
  UINT32 count = 0;
  UINT32* ids = nullptr;
  Check(tokenizer_->Encode(openwinml::ToWide(text).c_str(), flags, &count, &ids), "encoding the text");
  std::vector<uint32_t> tokens(ids, ids + count);
  CoTaskMemFree(ids);
  return tokens;
}

std::string TokenizerView::Decode(const std::vector<uint32_t>& ids, bool skip_special) const {
  const auto flags = skip_special ? WINML_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS : WINML_TOKENIZER_DECODE_FLAG_NONE;
  LPWSTR wide = nullptr;
  const uint32_t none = 0;
  Check(tokenizer_->Decode(ids.empty() ? &none : ids.data(), static_cast<UINT32>(ids.size()), flags, &wide),
        "decoding the tokens");
  std::string text = openwinml::ToUtf8(wide);
  CoTaskMemFree(wide);
  return text;
}

std::vector<SeenToken> TokenizerView::Look(const std::vector<uint32_t>& ids) const {
  ComPtr<IWinMLTokenizerDecoder> decoder;
  Check(tokenizer_->CreateDecoder(decoder.GetAddressOf()), "creating a decoder");
  std::unordered_map<uint32_t, std::pair<bool, std::string>> special;  // with its text
  std::vector<SeenToken> tokens;
  tokens.reserve(ids.size());
  size_t at = 0;
  for (const uint32_t id : ids) {
    SeenToken token;
    token.id = id;
    LPCWSTR released = nullptr;
    Check(decoder->DecodeToken(id, &released), "decoding a token");
    token.text = openwinml::ToUtf8(released);
    const auto [known, added] = special.try_emplace(id);
    if (added) {
      const std::string whole = Decode({id}, false);
      known->second = {!whole.empty() && Decode({id}, true).empty(), whole};
    }
    token.special = known->second.first;
    if (token.special && token.text.empty()) token.text = known->second.second;
    token.begin = at;
    at += token.text.size();
    token.end = at;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

void PrintTokenTable(const std::vector<SeenToken>& tokens) {
  constexpr size_t kLongestPiece = 60;
  Table table({"id", "bytes", "text"});
  table.AlignRight(0).AlignRight(1);
  for (const SeenToken& token : tokens) {
    const std::string text = "'" + OneLine(token.text, kLongestPiece) + "'";
    table.Add({std::to_string(token.id), fmt::format("{}-{}", token.begin, token.end),
               token.special ? Styled(stdout, Style::kYellow, text + " special") : text});
  }
  table.Print(stdout);
}

void PrintShadedText(const std::vector<SeenToken>& tokens) {
  if (!UseColor(stdout)) {
    for (const SeenToken& token : tokens) WriteText(stdout, token.text);
    return;
  }
  // Backgrounds that both dark and light letters can be read on are few.
  constexpr const char* kShades[] = {"\x1b[48;5;24m\x1b[97m", "\x1b[48;5;22m\x1b[97m", "\x1b[48;5;54m\x1b[97m"};
  constexpr const char* kSpecial = "\x1b[48;5;220m\x1b[30m";
  constexpr const char* kPlain = "\x1b[0m";
  size_t number = 0;
  for (const SeenToken& token : tokens) {
    if (token.text.empty()) continue;
    const char* shade = token.special ? kSpecial : kShades[number++ % std::size(kShades)];
    for (size_t start = 0; start < token.text.size();) {
      size_t end = token.text.find('\n', start);
      const bool broken = end != std::string::npos;
      if (!broken) end = token.text.size();
      std::fputs(shade, stdout);
      WriteText(stdout, token.text.substr(start, end - start) + (broken ? "\u21B5" : ""));
      std::fputs(kPlain, stdout);
      if (broken) std::fputc('\n', stdout);
      start = end + (broken ? 1 : 0);
    }
  }
}

Json TokensAsJson(const std::vector<SeenToken>& tokens) {
  Json list = Json::array();
  for (const SeenToken& token : tokens) {
    list.push_back({{"id", token.id},
                    {"text", token.text},
                    {"begin", token.begin},
                    {"end", token.end},
                    {"special", token.special}});
  }
  return list;
}

void NoteCount(size_t count) {
  Note(Style::kDim, fmt::format("{} {}", Grouped(count), count == 1 ? "token" : "tokens"));
}

}  // namespace owml::cli
