// The table of kinds. The patterns are those of the models' own tokenizer.json wherever these are known.
// Called by the reader of GGUF vocabularies.
#include "text/tokenizer/gguf_pre_tokenizers.h"

#include <algorithm>
#include <string>

namespace owml::text {
namespace {

#define OWML_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define OWML_SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define OWML_WORD_START "[^\\r\\n\\p{L}\\p{N}]?"
#define OWML_SIGNS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"

constexpr char kGpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
constexpr char kDigit[] = "\\p{N}";
constexpr char kThreeDigits[] = "\\p{N}{1,3}";
constexpr char kLlama3[] = OWML_CONTRACTIONS "|" OWML_WORD_START "\\p{L}+|\\p{N}{1,3}|" OWML_SIGNS OWML_SPACES;
constexpr char kQwen2[] = OWML_CONTRACTIONS "|" OWML_WORD_START "\\p{L}+|\\p{N}|" OWML_SIGNS OWML_SPACES;
constexpr char kQwen35[] =
    OWML_CONTRACTIONS "|" OWML_WORD_START "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" OWML_SPACES;

#define OWML_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define OWML_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define OWML_SIGNS_SLASH " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|"
constexpr char kGpt4o[] =
    OWML_WORD_START OWML_UPPER "*" OWML_LOWER "+" OWML_CONTRACTIONS "?|" OWML_WORD_START OWML_UPPER "+" OWML_LOWER
                               "*" OWML_CONTRACTIONS "?|\\p{N}{1,3}|" OWML_SIGNS_SLASH OWML_SPACES;
constexpr char kTekken[] = OWML_WORD_START OWML_UPPER "*" OWML_LOWER "+|" OWML_WORD_START OWML_UPPER "+" OWML_LOWER
                                                      "*|\\p{N}|" OWML_SIGNS_SLASH OWML_SPACES;

constexpr char kCjk[] = "[一-龥぀-ゟ゠-ヿ]+";
#define OWML_SIGN_WORDS \
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
constexpr char kDeepSeek3[] = OWML_SIGN_WORDS " ?[\\p{P}\\p{S}]+[\\r\\n]*|" OWML_SPACES;
constexpr char kLineEnd[] = "[\\r\\n]";
constexpr char kDeepSeekLetters[] =
    "\\s?[A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}\\x{295}-"
    "\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{38E}-"
    "\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}\\x{13A0}-"
    "\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}"
    "\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-"
    "\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}"
    "\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-"
    "\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}"
    "\\x{2126}\\x{2128}\\x{212A}-\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}"
    "\\x{214E}\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}"
    "\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-"
    "\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}"
    "\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}"
    "\\x{1E900}-\\x{1E943}]+";
constexpr char kDeepSeekSigns[] = "\\s?[!-/:-~！-／：-～‘-‟　-。]+";
constexpr char kTrailingSpace[] = "\\s+$";
constexpr char kDeepSeekCjk[] = "[一-龥ࠀ-一가-퟿]+";
constexpr char kBloom[] = " ?[^(\\s|.,!?…。，、।۔،)]+";
constexpr char kLines[] = "[^\\n]+|[\\n]+";

GgufPreTokenizer Cut(std::vector<const char*> patterns) {
  GgufPreTokenizer kind;
  kind.patterns = std::move(patterns);
  return kind;
}
GgufPreTokenizer IgnoringMerges(GgufPreTokenizer kind) {
  kind.ignore_merges = true;
  return kind;
}
GgufPreTokenizer WithBos(GgufPreTokenizer kind) {
  kind.add_bos = true;
  return kind;
}
GgufPreTokenizer WithSep(GgufPreTokenizer kind) {
  kind.add_sep = true;
  return kind;
}
GgufPreTokenizer InBlocks(GgufPreTokenizer kind) {
  kind.spaces_as_blocks = true;
  return kind;
}

struct Kind {
  std::vector<std::string_view> names;
  GgufPreTokenizer value;
};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {{"", "default"}, Cut({"[\\p{P}\\$\\+<=>\\^~\\|]+", kGpt2, "\\p{N}+", "[0-9][0-9][0-9]"})},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
       WithBos(IgnoringMerges(Cut({kLlama3})))},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"}, Cut({kLlama3})},
      {{"glm4", "glm5"}, IgnoringMerges(Cut({kLlama3}))},
      {{"gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum",
        "modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4"},
       Cut({kGpt2})},
      {{"jina-v1-en", "jina-v2-code", "roberta-bpe"}, WithSep(Cut({kGpt2}))},
      {{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"},
       Cut({kDigit, kGpt2})},
      {{"falcon"}, Cut({"[\\p{P}\\$\\+<=>\\^~\\|`]+", kGpt2, "[0-9][0-9][0-9]"})},
      {{"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"},
       Cut({kQwen2})},
      {{"qwen35"}, Cut({kQwen35})},
      {{"ufakzeka"}, Cut({OWML_WORD_START "\\p{L}+|\\p{N}|" OWML_SIGNS OWML_SPACES})},
      {{"laguna"}, Cut({kLines, kQwen2})},
      {{"seed-coder"},
       Cut({OWML_CONTRACTIONS "|" OWML_WORD_START "\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" OWML_SPACES})},
      {{"bailingmoe", "bailingmoe2", "llada-moe"},
       Cut({"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| "
            "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!"
            "\\S)|\\s+"})},
      {{"exaone-moe"},
       Cut({OWML_CONTRACTIONS "|" OWML_WORD_START
                              "(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|"
                              "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"})},
      {{"minicpm5"},
       IgnoringMerges(
           Cut({kThreeDigits, OWML_CONTRACTIONS "|" OWML_WORD_START "\\p{L}+|\\p{N}+|" OWML_SIGNS OWML_SPACES}))},
      {{"jais-2"},
       Cut({OWML_CONTRACTIONS "|" OWML_WORD_START "\\p{L}+|\\p{N}{1,3}|" OWML_SIGNS
                              "\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|"
                              "\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)"
                              "|\\s{1,2}(?!\\S)|\\s{1}"})},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, Cut({kGpt4o})},
      {{"granite-embed-multi-97m"}, IgnoringMerges(Cut({kGpt4o}))},
      {{"tiny_aya", "cohere2moe"}, Cut({"\\d{1,3}(?=(?:\\d{3})*\\b)", kGpt4o})},
      {{"tekken"}, WithBos(IgnoringMerges(Cut({kTekken})))},
      {{"deepseek-llm"}, Cut({kLineEnd, kDeepSeekLetters, kDeepSeekSigns, kTrailingSpace, kDeepSeekCjk, "\\p{N}+"})},
      {{"deepseek-coder"}, Cut({kLineEnd, "\\s?\\p{L}+", "\\s?\\p{P}+", kDeepSeekCjk, kDigit})},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, Cut({kThreeDigits, kCjk, kDeepSeek3})},
      {{"spark2_5"}, Cut({kThreeDigits, kCjk, OWML_SIGN_WORDS " ?[\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+", kDigit})},
      {{"youtu"},
       IgnoringMerges(
           Cut({"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
                OWML_WORD_START OWML_UPPER "*" OWML_LOWER "+" OWML_CONTRACTIONS "?|" OWML_WORD_START OWML_UPPER
                                           "+" OWML_LOWER "*" OWML_CONTRACTIONS
                                           "?|\\p{N}|" OWML_SIGNS_SLASH OWML_SPACES}))},
      {{"poro-chat", "bloom", "gpt3-finnish"}, Cut({kBloom})},
      {{"viking"}, Cut({kBloom, kDigit})},
      {{"superbpe"}, Cut({"\\p{N}+", "(?=(\\d{3})+(?!\\d))"})},
      {{"chameleon"},
       WithBos(Cut({"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", kDigit,
                    "[\\p{P}!-/:-@\\[-`{-~]", kGpt2}))},
      {{"kimi-k2"},
       Cut({"[\\p{Han}]+|" OWML_WORD_START
            "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^"
            "\\p{Han}]]+" OWML_CONTRACTIONS "?|" OWML_WORD_START
            "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}"
            "\\p{Lo}\\p{M}&&[^\\p{Han}]]*" OWML_CONTRACTIONS "?|\\p{N}{1,3}|" OWML_SIGNS OWML_SPACES})},
      {{"afmoe"},
       Cut({"\\d{1,3}(?=(?:\\d{3})*(?!\\d))",
            "[一-鿿㐀-䶿豈-\\x{FAFF}぀-ゟ゠-ヿ･-ﾟ⼀-\\x{2FDF}เ-\\x{0E7F}\\x{0E80}-\\x{0EFF}ក-\\x{17FF}က-႟ꩠ-"
            "ꩿꧠ-"
            "\\x{A9FF}가-\\x{D7AF}ᄀ-ᇿ]+",
            kDeepSeek3})},
      {{"gemma4", "granite-embed-multi-311m", "sarvam-moe"}, InBlocks(Cut({kLines}))},
  };
  return kinds;
}

}  // namespace

const GgufPreTokenizer* FindGgufPreTokenizer(std::string_view pre) {
  for (const Kind& kind : Kinds()) {
    if (std::find(kind.names.begin(), kind.names.end(), pre) != kind.names.end()) return &kind.value;
  }
  return nullptr;
}

}  // namespace owml::text
