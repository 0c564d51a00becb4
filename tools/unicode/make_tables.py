#!/usr/bin/env python3
"""Writes the character tables under src/text/unicode/.

Vocabularies were made by Hugging Face's tokenizers, whose parts follow different versions of Unicode. So the sets are
asked of tokenizers itself, one code point at a time, and not taken from one version of the Unicode database; only names
and combining classes come from there. Needs tokenizers==0.23.3, unicodedata2==16.0.0,
uniseg==0.10.1 (grapheme clusters) and fonttools (names of scripts).

    python3 tools/unicode/make_tables.py src/text/unicode
"""
import pathlib
import sys
import unicodedata

import unicodedata2
from fontTools.unicodedata import Scripts
from uniseg import graphemecluster
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cs".split()
HEAD = """// Written by tools/unicode/make_tables.py; not to be edited. %s
// Included by text/unicode/%s only.
"""


def matched_by(pattern):
    """The code points that Oniguruma's `pattern` matches."""
    replace = normalizers.Replace(Regex(pattern), "")
    found = set()
    for start in range(0, len(CODE_POINTS), 512):
        block = CODE_POINTS[start : start + 512]
        left = set(replace.normalize_str("".join(map(chr, block))))
        found.update(c for c in block if chr(c) not in left)
    return found


def split_off_by(pre_tokenizer):
    """The code points that stand alone between letters."""
    return {c for c in CODE_POINTS if len(pre_tokenizer.pre_tokenize_str("a" + chr(c) + "a")) > 1}


def changed_by(normalizer):
    """Code point -> text, for those that a normalizer changes."""
    found = {}
    for c in CODE_POINTS:
        text = normalizer.normalize_str(chr(c))
        if text != chr(c):
            found[c] = text
    return found


def ranges(value_of):
    """(start, value) wherever the value changes."""
    result, last = [], None
    for c in range(0x110000):
        value = value_of(c)
        if value != last:
            result.append((c, value))
            last = value
    return result


def write(folder, name, about, reader, lines):
    text = HEAD % (about, reader)
    row = ""
    for item in lines:
        if item.startswith(("static", "}", "const", "struct", "constexpr")):
            text += row + "\n" if row else ""
            row = ""
            text += item + "\n"
        elif len(row) + len(item) > 118:
            text += row + "\n"
            row = "    " + item
        else:
            row = (row or "    ") + item
    (pathlib.Path(folder) / name).write_text(text + row)


def hex_of(c):
    return f"0x{c:X}"


def write_classes(folder):
    space = matched_by(r"\s")
    categories = {}
    for name in CATEGORIES[1:]:
        if name != "Cs":
            for c in matched_by(r"\p{%s}" % name):
                categories[c] = name
    for c in space:
        if categories[c] == "Cc":
            categories[c] = "CcSpace"

    def category(c):
        return "Cs" if 0xD800 <= c < 0xE000 else categories.get(c, "Cn")

    lines = ["constexpr CategoryRange kCategoryRanges[] = {"]
    lines += [f"{{{hex_of(c)}, k{value}}}," for c, value in ranges(category)] + ["};"]

    flags = [
        ("kWord", matched_by(r"\w")),
        ("kAlphabetic", matched_by(r"[[:alpha:]]")),
        ("kPlainWord", set(CODE_POINTS) - split_off_by(pre_tokenizers.Whitespace())),
        ("kPunctuation", split_off_by(pre_tokenizers.Punctuation())),
        ("kNumeric", split_off_by(pre_tokenizers.Digits())),
        ("kCombining", set(changed_by(normalizers.StripAccents()))),
        ("kNonspacing", {c for c in CODE_POINTS if strips_as_nonspacing(c)}),
        ("kControl", {c for c, text in changed_by(normalizers.BertNormalizer(True, False, False, False)).items() if not text}),
    ]

    def flag_bits(c):
        return sum(1 << bit for bit, (_, members) in enumerate(flags) if c in members)

    lines += [f"constexpr uint8_t {name} = {1 << bit};" for bit, (name, _) in enumerate(flags)]
    lines.append("constexpr FlagRange kFlagRanges[] = {")
    lines += [f"{{{hex_of(c)}, {value}}}," for c, value in ranges(flag_bits)] + ["};"]
    write(folder, "classes.inc", "Categories and sets of characters.", "classes.cpp", lines)


def strips_as_nonspacing(c):
    normalizer = normalizers.BertNormalizer(False, False, True, False)
    return normalizer.normalize_str(chr(c)) == "" and c not in (0,)


def write_cases(folder):
    lower = changed_by(normalizers.Lowercase())
    lines = ["constexpr CasePair kLower[] = {"]
    lines += [f"{{{hex_of(c)}, {hex_of(ord(t))}}}," for c, t in sorted(lower.items()) if len(t) == 1] + ["};"]
    assert {c: t for c, t in lower.items() if len(t) > 1} == {0x130: "i\u0307"}
    fold = {}
    for c in CODE_POINTS:
        folded = chr(c).casefold()
        if len(folded) == 1 and folded != chr(c):
            fold[c] = ord(folded)
        elif c not in fold and c in lower and len(lower[c]) == 1 and unicodedata.category(chr(c)) == "Cn":
            fold[c] = ord(lower[c])  # younger than Python's own tables
    lines.append("constexpr CasePair kFold[] = {")
    lines += [f"{{{hex_of(c)}, {hex_of(t)}}}," for c, t in sorted(fold.items())] + ["};"]
    write(folder, "cases.inc", "Lower case and simple case folding.", "cases.cpp", lines)


def write_normalization(folder):
    nfd, nfkd = changed_by(normalizers.NFD()), changed_by(normalizers.NFKD())
    nfc = normalizers.NFC()
    # Hangul is computed.
    canonical = {c: t for c, t in nfd.items() if not 0xAC00 <= c <= 0xD7A3}
    compatible = {c: t for c, t in nfkd.items() if not 0xAC00 <= c <= 0xD7A3 and nfd.get(c) != t}
    reorder = normalizers.NFD()
    classes = {}
    for c in CODE_POINTS:
        value = unicodedata2.combining(chr(c))
        if value and (c == 0x345 or reorder.normalize_str("\u0345" + chr(c)) != "\u0345" + nfd.get(c, chr(c))):
            classes[c] = value
    pairs = {}
    for c in canonical:
        text = unicodedata2.decomposition(chr(c)).split()
        if len(text) == 2 and "<" not in text[0] and nfc.normalize_str(nfd[c]) == chr(c):
            pairs[tuple(int(x, 16) for x in text)] = c
    # Compositions that came after the decompositions of these tables.
    for c in CODE_POINTS:
        text = unicodedata2.decomposition(chr(c)).split()
        if c not in canonical and len(text) == 2 and "<" not in text[0] and not 0xAC00 <= c <= 0xD7A3:
            joined = "".join(chr(int(x, 16)) for x in text)
            if nfc.normalize_str(joined) == chr(c):
                pairs[tuple(int(x, 16) for x in text)] = c
    lines = []
    for name, table in (("kCanonical", canonical), ("kCompatible", compatible)):
        lines.append(f"constexpr Decomposition {name}[] = {{")
        pool, index = [], []
        for c, text in sorted(table.items()):
            index.append(f"{{{hex_of(c)}, {len(pool)}, {len(text)}}},")
            pool += [ord(x) for x in text]
        lines += index + ["};", f"constexpr char32_t {name}Text[] = {{"]
        lines += [hex_of(x) + "," for x in pool] + ["};"]
    lines.append("constexpr ClassRange kCombiningClasses[] = {")
    lines += [f"{{{hex_of(c)}, {value}}}," for c, value in ranges(lambda c: classes.get(c, 0))] + ["};"]
    lines.append("constexpr Composition kCompositions[] = {")
    lines += [f"{{{hex_of(a)}, {hex_of(b)}, {hex_of(c)}}}," for (a, b), c in sorted(pairs.items())] + ["};"]
    write(folder, "normalization.inc", "Decompositions, combining classes, compositions.", "normalization.cpp", lines)


def write_scripts(folder):
    names = sorted(set(Scripts.NAMES.values()))
    of_regex, known = {}, []
    for name in names:
        try:
            members = matched_by(r"\p{%s}" % name)
        except Exception:  # younger than the regular expression library
            continue
        known.append(name)
        for c in members:
            of_regex[c] = name
    known = [name for name in known if name != "Unknown"]
    lines = ["constexpr const char* kScriptNames[] = {", '"Unknown",'] + [f'"{name}",' for name in known] + ["};"]
    number = {name: i + 1 for i, name in enumerate(known)}
    lines.append("constexpr ScriptRange kScripts[] = {")
    lines += [f"{{{hex_of(c)}, {v}}}," for c, v in ranges(lambda c: number.get(of_regex.get(c), 0))] + ["};"]

    # The scripts that the UnicodeScripts pre-tokenizer tells apart: numbers of groups, 0 for what goes with anything.
    pre = pre_tokenizers.UnicodeScripts()
    groups, group_of, last = [], {}, None

    def differ(a, b):
        return len(pre.pre_tokenize_str(chr(a) + chr(b))) > 1

    for c in CODE_POINTS:
        if not differ(0x61, c) and not differ(0x3B1, c):
            group_of[c] = 0
            continue
        if last is not None and not differ(groups[last], c):
            group_of[c] = last + 1
            continue
        for i, representative in enumerate(groups):
            if not differ(representative, c):
                last = i
                break
        else:
            groups.append(c)
            last = len(groups) - 1
        group_of[c] = last + 1
    lines.append("constexpr ScriptRange kSplitScripts[] = {")
    lines += [f"{{{hex_of(c)}, {v}}}," for c, v in ranges(lambda c: group_of.get(c, 0))] + ["};"]
    write(folder, "scripts.inc", "Scripts.", "scripts.cpp", lines)


def write_graphemes(folder):
    def value(c):
        broken = str(graphemecluster.grapheme_cluster_break(chr(c)).name)
        conjunct = str(graphemecluster.indic_conjunct_break(chr(c)).name)
        if broken == "OTHER" and conjunct == "CONSONANT":
            return "kConsonant"
        if broken == "OTHER" and graphemecluster.extended_pictographic(chr(c)):
            return "kPictographic"
        if broken == "EXTEND" and conjunct == "LINKER":
            return "kLinker"
        if broken == "EXTEND" and conjunct == "NONE":
            return "kPlainExtend"
        return GRAPHEME_BREAKS[broken]

    lines = ["constexpr BreakRange kBreakRanges[] = {"]
    lines += [f"{{{hex_of(c)}, Break::{v}}}," for c, v in ranges(value)] + ["};"]
    write(folder, "graphemes.inc", "Grapheme cluster breaks.", "graphemes.cpp", lines)


GRAPHEME_BREAKS = {
    "OTHER": "kOther", "CR": "kCr", "LF": "kLf", "CONTROL": "kControl", "EXTEND": "kExtend", "ZWJ": "kJoiner",
    "REGIONAL_INDICATOR": "kRegional", "PREPEND": "kPrepend", "SPACINGMARK": "kSpacingMark", "PACINGMARK": "kSpacingMark",
    "L": "kL", "V": "kV", "T": "kT", "LV": "kLv", "LVT": "kLvt",
}


def main():
    folder = sys.argv[1]
    write_graphemes(folder)
    write_classes(folder)
    write_cases(folder)
    write_normalization(folder)
    write_scripts(folder)


if __name__ == "__main__":
    main()
