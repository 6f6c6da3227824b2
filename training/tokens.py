"""The tokeniser and the features of a text. src/meaning/embedders/static.ts does the same, number for number;
golden.json, made by pack.py, holds them together."""

import re
import unicodedata

LIGATURES = {'œ': 'oe', 'Œ': 'Oe', 'æ': 'ae', 'Æ': 'Ae', 'ß': 'ss', 'ø': 'o', 'Ø': 'O', 'ł': 'l', 'Ł': 'L'}
LIGATURE = re.compile('[' + ''.join(LIGATURES) + ']')
CAMEL = re.compile(r'([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])')
WORD = re.compile(r'[a-z0-9]+')
LONGEST = 40


def fold(text):
    """Without accents and ligatures, case kept."""
    text = LIGATURE.sub(lambda match: LIGATURES[match[0]], text)
    return ''.join(c for c in unicodedata.normalize('NFD', text) if not '\u0300' <= c <= '\u036f')


def tokens(text):
    spaced = CAMEL.sub(lambda m: m[1] + ' ' + m[2] if m[1] else m[3] + ' ', fold(text))
    return [word[:LONGEST] for word in WORD.findall(spaced.lower()) if len(word) > 1]


def fnv(text):
    number = 0x811C9DC5
    for byte in text.encode('ascii'):
        number = ((number ^ byte) * 0x01000193) & 0xFFFFFFFF
    return number


def pieces(word, known):
    """The hashed parts of a word: its beginnings, and for a word outside the vocabulary all runs of four letters."""
    parts = []
    if len(word) >= 5:
        parts.append('<' + word[:4])
    if len(word) >= 7:
        parts.append('<' + word[:6])
    if not known:
        marked = f'<{word}>'
        parts.extend(marked[i : i + 4] for i in range(max(1, len(marked) - 3)))
    return parts


def features(word, vocabulary, buckets):
    """Rows of the table that stand for a word; the rows after the vocabulary are the buckets."""
    row = vocabulary.get(word)
    rows = [] if row is None else [row]
    rows.extend(len(vocabulary) + fnv(part) % buckets for part in pieces(word, row is not None))
    return rows
