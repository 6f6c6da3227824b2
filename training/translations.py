"""English-French pairs: translation files, catalogues, and pages that exist in both languages."""

import difflib
import json
import re
import struct

from archives import decode, files, matching
from clean import html_blocks, translation
from formats import STRING, catalogue, flat_json, table, unescape

FRENCH = re.compile(r'(?i)(?<![a-z])(fr[-_]fr|fr[-_]ca|fr|french)(?![a-z])')
ENGLISH = re.compile(r'(?i)(?<![a-z])(en[-_]us|en[-_]gb|en[-_]en|en|english)(?![a-z])')
HASH = re.compile(r'[-_.](?=[A-Za-z]*\d)[A-Za-z0-9]{8}(?=\.)')
KINDS = r'\.(json|resjson|json\.ejs|properties|js|mjs|cjs|ts|yml|yaml|multids|html)$'
BOTH = re.compile(rf'["\']?en["\']?\s*:\s*({STRING})[^{{}}]*?["\']?fr["\']?\s*:\s*({STRING})')
# The pseudo language of VS Code is English with other letters.
PSEUDO = str.maketrans('ÅåÆæÇçÐðËëÏïÑñØøÜüµÝýß§', 'AaAaCcDdEeIiNnOoUuuYySs')


def signature(path, language):
    return HASH.sub('', language.sub('@', path, count=1)).lower()


def from_files(source):
    french, english = {}, {}
    for path, data in files(source, matching(KINDS)):
        # What other projects have left in a package may be under another licence.
        if path.endswith('.d.ts') or len(data) > 4_000_000 or re.search(r'ckeditor|tinymce|node_modules/', path):
            continue
        if FRENCH.search(path):
            french[path] = data
        elif ENGLISH.search(path):
            english.setdefault(signature(path, ENGLISH), data)
        elif re.search(r'\.(properties|json)$|nls\.js$', path):
            english.setdefault('base ' + path.lower(), data)
    for path, data in french.items():
        if path.endswith('.html'):
            other = english.get(signature(path, FRENCH))
            yield from aligned(decode(other), decode(data)) if other else ()
            continue
        base = re.sub(r'[-_./]@(?=[./])', '', signature(path, FRENCH))
        other = english.get(signature(path, FRENCH)) or english.get('base ' + base)
        there = table(path, data)
        here = table(path, other) if other else {}
        matched = 0
        for key, text in there.items():
            if key in here:
                matched += 1
                yield here[key], text
        if matched == 0 and not other:
            # Some files have the English text itself as their key.
            for key, text in there.items():
                key = re.split('\x1f', key)[0 if key.endswith('\x1f1') else -1]
                if ' ' in key and key[0].isupper():
                    yield key, text


def from_objects(source):
    """`{"en": "...", "fr": "..."}` in the files of ioBroker's adapters, release notes among them."""
    for _, data in files(source, matching(r'(io-package\.json|words\.js|jsonConfig\.json5?|jsonCustom\.json5?)$')):
        for match in BOTH.finditer(decode(data)):
            english, french = unescape(match[1][1:-1]), unescape(match[2][1:-1])
            parts = english.split('\n'), french.split('\n')
            if len(parts[0]) == len(parts[1]):
                yield from zip(*parts)
            else:
                yield english, french


def from_catalogues(source):
    for _, data in files(source, matching(r'/fr(_FR)?/LC_MESSAGES/[^/]*\.mo$')):
        yield from catalogue(data).items()
    for _, data in files(source, matching(r'_fr\.po$')):
        for match in re.finditer(r'(?m)^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', decode(data)):
            yield tuple(unescape(''.join(re.findall(r'"(.*)"', part))) for part in match.groups())


def from_packs(source):
    """The strings of Chromium: a table of numbers and offsets, then the texts."""
    packs = dict(files(source, matching(r'locales/(en-GB|fr)\.pak$')))
    english, french = (pack(data) for _, data in sorted(packs.items()))
    for number, text in french.items():
        if number in english:
            yield english[number], text


def pack(data):
    version, encoding, count, _ = struct.unpack_from('<IIHH', data)
    if version != 5 or encoding != 1:
        raise ValueError('not a pack of UTF-8 strings')
    entries = [struct.unpack_from('<HI', data, 12 + 6 * index) for index in range(count + 1)]
    return {
        number: data[start:end].decode('utf8', 'ignore')
        for (number, start), (_, end) in zip(entries, entries[1:])
        if end - start < 2000 and not data[start:end].startswith((b'\x1e\x9b', b'\x1f\x8b'))
    }


def from_pages(source):
    """Pages in /en/ and /fr/ with the same structure."""
    pages = dict(files(source, matching(r'/(en|fr)/.*\.html$')))
    for path, data in pages.items():
        other = pages.get(path.replace('/fr/', '/en/'))
        if '/fr/' in path and other is not None:
            yield from aligned(decode(other), decode(data))


def aligned(english, french):
    one, two = html_blocks(english), html_blocks(french)
    tags = [tag for tag, _ in one], [tag for tag, _ in two]
    for a, b, size in difflib.SequenceMatcher(None, *tags, autojunk=False).get_matching_blocks():
        if size >= 4:
            for offset in range(size):
                yield one[a + offset][1], two[b + offset][1]


def from_typescript(source):
    """The keys of TypeScript's messages are the English words joined by underscores."""
    for _, data in files(source, matching(r'lib/fr/diagnosticMessages')):
        for key, text in json.loads(data).items():
            yield re.sub(r'_\d+$', '', key).replace('_', ' '), re.sub(r"['`].{0,3}?['`]", ' ', text)


def from_pseudo(source):
    found = dict(files(source, matching(r'locale/(fr|qps-ploc)\.json$')))
    tables = {path[-7:-5]: dict(flat_json(json.loads(decode(data)))) for path, data in found.items()}
    for key, text in tables['fr'].items():
        if key in tables['oc']:
            yield tables['oc'][key].translate(PSEUDO), text


WAYS = {
    'files': from_files,
    'objects': from_objects,
    'catalogues': from_catalogues,
    'packs': from_packs,
    'pages': from_pages,
    'typescript': from_typescript,
    'pseudo': from_pseudo,
}


def pairs(source):
    for use in source['use']:
        if use in WAYS:
            for english, french in WAYS[use](source):
                pair = translation(english, french)
                if pair is not None:
                    yield 'translation', *pair
