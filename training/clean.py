"""Makes plain sentences of what is in translation files, HTML and Markdown."""

import html
import re
import unicodedata

TAG = re.compile(r'<[^<>]{0,400}>')
PLACEHOLDER = re.compile(r'\{\{[^{}]*\}\}|\$\{[^{}]*\}|\{[^{}]{0,40}\}|%\(\w+\)[sd]|%[-\d.$]*[sdifxu@]|\$t\([^)]*\)|&&')
MNEMONIC = re.compile(r'(?<=\w)&(?=\w)|&(?=\w+[^;\w])|\(&\w\)')
SPACE = re.compile(r'\s+')
LETTERS = re.compile(r'[^\W\d_]{2,}')


def plain(text):
    text = html.unescape(TAG.sub(' ', text))
    text = PLACEHOLDER.sub(' ', text)
    text = MNEMONIC.sub('', text).replace('\u00ad', '').replace('\u200b', '')
    return SPACE.sub(' ', text).strip(' \t\n.:;,-*#|=>"\u2026')


def usable(text, longest=600):
    return 2 <= len(text) <= longest and LETTERS.search(text) is not None and 'plural,' not in text


def markdown(text):
    text = re.sub(r'```.*?(```|$)|~~~.*?(~~~|$)', ' ', text, flags=re.S)
    text = re.sub(r'!\[[^\]]*\]\([^)]*\)|<!--.*?-->', ' ', text, flags=re.S)
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\[[^\]]*\]', lambda m: m[1] or m[2] or '', text)
    return re.sub(r'[*_`]{1,3}', '', text)


def folded(text):
    """Lower case without accents, for comparing."""
    decomposed = unicodedata.normalize('NFD', text.lower())
    return ''.join(c for c in decomposed if not unicodedata.combining(c))


def translation(english, french):
    """A pair worth learning from, or nothing."""
    english, french = plain(english), plain(french)
    if not usable(english) or not usable(french) or folded(english) == folded(french):
        return None
    if not 0.3 < len(english) / len(french) < 3 and max(len(english), len(french)) > 20:
        return None
    return english, french


BLOCK = re.compile(r'<(h[1-6]|p|li|dt|dd|td|th|caption)\b[^>]*>(.*?)(?=<(?:/\1|h[1-6]|p|li|ul|ol|dt|dd|td|th|tr|div|pre|table)\b)', re.S | re.I)


def html_blocks(text):
    """The blocks of a page in order: (tag, words)."""
    text = re.sub(r'<(script|style|pre|code-block)\b.*?</\1>', ' ', text, flags=re.S | re.I)
    blocks = [(match[1].lower(), plain(match[2])) for match in BLOCK.finditer(text)]
    return [(tag, words) for tag, words in blocks if usable(words, 2000)]
