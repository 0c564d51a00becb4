# Ids, decoded text and streamed text are those of Hugging Face's tokenizers: on the published tokenizer.json files that
# tools/bootstrap fetches and on WordPiece out of a GGUF vocabulary, or on tokenizers of other kinds trained here.
# Run by ctest: oracle_test.py PROBE SOURCE_FOLDER published TOKENIZER_FOLDER GGUF | trained | file PATH...
# OWML_TOKENIZER_TEXTS sets the number of texts for each tokenizer.
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import zlib

try:
    from tokenizers import Tokenizer
except ImportError:
    print("skipped: the test Python has no tokenizers")
    sys.exit(77)

import made_tokenizers

BLOCKS = [
    (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x6FF), (0x900, 0xDFF),
    (0xE00, 0xEFF), (0x1000, 0x11FF), (0x1E00, 0x206F), (0x20A0, 0x2BFF), (0x3040, 0x30FF), (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3), (0xF900, 0xFDFF), (0xFF00, 0xFFEF), (0x10000, 0x1FFFF), (0x20000, 0x2FFFF), (0, 0x10FFFF),
]  # fmt: skip
SPACES = [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2029", "\u2028", "\x0b", "\x0c", "\x85", " \n "]
BITS = ["a", "Z", "1", "12", "!", "'s", "'S", "'\u017f", "'LL", "é", "中", "//", "..", "don't", "I'VE", "ß", "İ", "₂"]
FIXED = ["", " ", "a", "\n", "Hello world! Café déjà vu — 123 😊", "\u2029x\u0378", "<0x-1>", "<0x0A>", "  leading", "x<s>y"]


def prose(root):
    """Source code and documents of this tree, and as much text in 17 languages."""
    texts = [path.read_text(errors="ignore") for path in sorted(root.glob("src/**/*.cpp"))[:60] + sorted(root.glob("docs/*.md"))]
    code = "\n".join(texts)
    languages = (root / "tests/text/tokenizer/prose.txt").read_text(encoding="utf-8")
    return code + languages * (len(code) // len(languages))


def make_texts(count, root, special, seed):
    chance = random.Random(seed)
    source = prose(root)

    def character(low, high):
        code = chance.randint(low, high)
        return "x" if 0xD800 <= code < 0xE000 else chr(code)

    texts = list(FIXED)
    while len(texts) < count:
        kind = chance.random()
        if kind < 0.25:
            texts.append("".join(character(*chance.choice(BLOCKS)) for _ in range(chance.randint(1, 40))))
        elif kind < 0.35:
            block = chance.choice(BLOCKS)
            texts.append("".join(character(*block) for _ in range(chance.randint(1, 30))))
        elif kind < 0.5:
            texts.append("".join(chance.choice(SPACES if chance.random() < 0.4 else BITS) for _ in range(chance.randint(1, 30))))
        elif kind < 0.6 and special:
            parts = (chance.choice(special if chance.random() < 0.4 else [*SPACES, "a", "foo", "▁"]) for _ in range(chance.randint(1, 10)))
            texts.append("".join(parts))
        else:
            start = chance.randrange(max(1, len(source) - 400))
            texts.append(source[start : start + chance.randint(1, 300)])
    return texts


def probe(program, path, texts):
    """For each text, with special tokens and without: ids, and four texts decoded from them."""
    data = b"".join(struct.pack("<I", len(text)) + text for text in (text.encode() for text in texts))
    done = subprocess.run([program, path], input=data, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.decode()}")
    output, at = done.stdout, 0
    for _ in range(2 * len(texts)):
        (count,) = struct.unpack_from("<I", output, at)
        ids = list(struct.unpack_from(f"<{count}I", output, at + 4))
        at += 4 + 4 * count
        strings = []
        for _ in range(4):
            (size,) = struct.unpack_from("<I", output, at)
            strings.append(output[at + 4 : at + 4 + size].decode())
            at += 4 + size
        yield ids, strings


def differences(program, path, root, count):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = [token.content for token in list(tokenizer.get_added_tokens_decoder().values())[:40]]
    texts = make_texts(count, root, special, seed=zlib.crc32(path.parent.name.encode() if path.name == "tokenizer.json" else path.name.encode()))
    wanted_texts = [(text, add) for text in texts for add in (True, False)]
    found = []
    for (text, add), (ids, strings) in zip(wanted_texts, probe(program, str(path), texts)):
        expected = tokenizer.encode(text, add_special_tokens=add).ids
        if ids != expected:
            found.append(f"{text[:80]!r}: ids {ids[:12]}, expected {expected[:12]}")
            continue
        for skip in (False, True):
            decoded, streamed = strings[2 * skip], strings[2 * skip + 1]
            wanted = tokenizer.decode(ids, skip_special_tokens=skip)
            if decoded != wanted:
                found.append(f"{text[:80]!r}: text {decoded[:80]!r}, expected {wanted[:80]!r}")
            elif streamed != wanted:
                found.append(f"{text[:80]!r}: stream {streamed[:80]!r}, expected {wanted[:80]!r}")
    return found


def report(program, label, path, root, count):
    began = time.monotonic()
    found = differences(program, path, root, count)
    print(f"{label}: {len(found)} differences in {count} texts, {time.monotonic() - began:.1f} s", flush=True)
    for line in found[:5]:
        print("  " + line)
    return not found


def published(folder):
    """The pinned files; ends the test as skipped when one was not fetched."""
    lock = json.loads((pathlib.Path(sys.argv[2]) / "tools/packages.json").read_text(encoding="utf-8"))
    for key, entry in lock.items():
        if key.startswith("tokenizer_"):
            path = folder / f"{key[len('tokenizer_'):]}-{entry['version']}" / "tokenizer.json"
            if not path.exists():
                print(f"skipped: {path} has not been fetched; run tools/bootstrap --tests")
                sys.exit(77)
            yield path.parent.name, path


def main():
    program, root, what = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    count = int(os.environ.get("OWML_TOKENIZER_TEXTS", "200"))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        if what == "published":
            files = list(published(pathlib.Path(sys.argv[4])))
            path = pathlib.Path(folder) / "bert.json"
            made_tokenizers.word_piece_of_gguf(sys.argv[5]).save(str(path))
            files.append(("WordPiece of " + pathlib.Path(sys.argv[5]).name, path))
            assert len(files) >= 12
        elif what == "trained":
            files = []
            source, chance = prose(root), random.Random(5)
            training = [source[i : i + 120] for i in (chance.randrange(len(source) - 120) for _ in range(1500))]
            for maker in made_tokenizers.MADE:
                path = pathlib.Path(folder) / f"{maker.__name__}.json"
                made_tokenizers.make(maker, training).save(str(path))
                files.append((maker.__name__, path))
        else:
            files = [(path, pathlib.Path(path)) for path in sys.argv[4:]]
        for label, path in files:
            good &= report(program, label, path, root, count)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
