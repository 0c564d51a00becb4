# Ids, decoded text and streamed text are those of Hugging Face's tokenizers, on tokenizers trained here and on the
# tokenizer.json files named in OWML_TOKENIZER_FILES (separated by ':').
# Run by ctest: oracle_test.py <tokenizer_probe> <source folder>. OWML_TOKENIZER_TEXTS sets the number of texts.
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

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
    """Source code and documents of this tree, and what the system has in other languages."""
    texts = [path.read_text(errors="ignore") for path in sorted(root.glob("src/**/*.cpp"))[:60] + sorted(root.glob("docs/*.md"))]
    for path in sorted(pathlib.Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo"))[:200]:
        texts.append(path.read_bytes().decode("utf-8", "ignore").replace("\0", " ")[-20000:])
    return "\n".join(texts)


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


def probe(program, path, texts, mode):
    data = b"".join(struct.pack("<I", len(text)) + text for text in (text.encode() for text in texts))
    done = subprocess.run([program, path, mode], input=data, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.decode()}")
    output, at = done.stdout, 0
    for _ in texts:
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
    texts = make_texts(count, root, special, seed=len(str(path.name)))
    found = []
    for mode in ("special", "plain"):
        for text, (ids, strings) in zip(texts, probe(program, str(path), texts, mode)):
            expected = tokenizer.encode(text, add_special_tokens=mode == "special").ids
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


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    count = int(os.environ.get("OWML_TOKENIZER_TEXTS", "2000"))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(path) for path in os.environ.get("OWML_TOKENIZER_FILES", "").split(":") if path]
        source = prose(root)
        chance = random.Random(5)
        training = [source[i : i + 300] for i in (chance.randrange(len(source) - 300) for _ in range(4000))]
        for maker in made_tokenizers.MADE:
            path = pathlib.Path(folder) / f"{maker.__name__}.json"
            made_tokenizers.make(maker, training).save(str(path))
            paths.append(path)
        for path in paths:
            found = differences(program, path, root, count)
            print(f"{path}: {len(found)} differences in {count} texts")
            for line in found[:5]:
                print("  " + line)
            failed |= bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
