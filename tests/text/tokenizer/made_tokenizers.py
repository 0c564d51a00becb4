# Trains small tokenizers with other models, normalizers, pre-tokenizers and decoders than the published ones have.
# Called by oracle_test.py.
import base64
import struct

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>"]


def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False)


def word_piece_of_gguf(path):
    """The BERT vocabulary of a GGUF file, where word starts have a mark, in the spelling of tokenizer.json."""
    import gguf

    field = gguf.GGUFReader(path).fields["tokenizer.ggml.tokens"]
    vocabulary = {}
    for index, part in enumerate(field.data):
        token = bytes(field.parts[part]).decode()
        special = token.startswith("[") and token.endswith("]")
        vocabulary[token if special else token[1:] if token.startswith("\u2581") else "##" + token] = index
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def unigram(**arguments):
    return trainers.UnigramTrainer(
        vocab_size=12000, special_tokens=["<unk>", *SPECIAL], unk_token="<unk>", show_progress=False, **arguments
    )


def t5_like():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, unigram()


def xlm_like():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    return tokenizer, unigram()


def unigram_by_scripts():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.Digits(individual_digits=True)])
    return tokenizer, unigram()


def bpe(tokenizer, **arguments):
    return tokenizer, trainers.BpeTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False, **arguments)


def falcon_like():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation(behavior="contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), behavior="isolated"),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    return bpe(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def roberta_like():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    return bpe(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def byte_level_normalizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("Ġ[^Ġ]*"), behavior="merged_with_next")
    tokenizer.decoder = decoders.ByteLevel()
    return bpe(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def clip_like():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder()
    return bpe(tokenizer, end_of_word_suffix="</w>")


def bpe_with_prefix():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Punctuation(behavior="removed")])
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    return bpe(tokenizer, continuing_subword_prefix="##", limit_alphabet=200)


def bpe_with_unknown():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=False))
    tokenizer.normalizer = normalizers.Strip(left=True, right=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Split("e", behavior="merged_with_previous")
    return bpe(tokenizer, limit_alphabet=100)


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation(behavior="merged_with_next")])
    tokenizer.decoder = decoders.CTC(pad_token="[MASK]", word_delimiter_token="|")
    return tokenizer, trainers.WordLevelTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False)


def fixed_length():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(4)
    return bpe(tokenizer)


MADE = [word_piece, t5_like, xlm_like, unigram_by_scripts, falcon_like, roberta_like, byte_level_normalizer, clip_like,
        bpe_with_prefix, bpe_with_unknown, word_level, fixed_length]


def make(maker, texts):
    tokenizer, trainer = maker()
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.add_special_tokens([AddedToken("<|strip|>", lstrip=True, rstrip=True, special=True, normalized=False)])
    tokenizer.add_tokens([
        AddedToken("<|right|>", rstrip=True, normalized=False), AddedToken("word", single_word=True, normalized=False),
        AddedToken("Naïve Name", normalized=True), AddedToken("ab"), AddedToken("abc"),
    ])
    return tokenizer
