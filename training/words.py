"""What words mean: glosses and synonyms of WordNet, the Moby thesaurus, names and keywords of emoji, map features."""

import json
import random
import re

from archives import decode, files, matching
from clean import translation

SEED = 7


def from_wordnet(source):
    for _, data in files(source, matching(r'dict/data\.(noun|verb|adj|adv)$')):
        for line in decode(data).splitlines():
            if line.startswith('  ') or '|' not in line:
                continue
            head, gloss = line.split('|', 1)
            fields = head.split()
            lemmas = [re.sub(r'\(\w+\)$', '', w).replace('_', ' ') for w in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            if any(re.search(r'[A-Z]', lemma) for lemma in lemmas):
                continue
            definition = gloss.split('; "')[0].strip()
            yield 'gloss', ' '.join(lemmas[:3]), definition
            for example in re.findall(r'"([^"]{20,200})"', gloss)[:1]:
                yield 'gloss', f'{lemmas[0]} {definition}'[:200], example
            for other in lemmas[1:3]:
                yield 'synonym', lemmas[0], other


def from_thesaurus(source):
    rng = random.Random(SEED)
    for _, data in files(source, matching(r'words\.txt$')):
        for line in decode(data).splitlines():
            root, *others = line.strip().split(',')
            if len(others) >= 4 and ' ' not in root:
                picked = rng.sample(others, 4)
                yield 'synonym', root, ' '.join(picked[:2])
                yield 'synonym', root, ' '.join(picked[2:])


def from_annotations(source):
    """Keywords of emoji in both languages."""
    tables = {}
    for path, data in files(source, matching(r'annotations(Derived)?/(en|fr)/annotations\.json$')):
        content = json.loads(decode(data))
        tables['fr' if '/fr/' in path else 'en'] = next(iter(content.values()))['annotations']
    for sign, english in tables['en'].items():
        french = tables['fr'].get(sign)
        if french and 'default' in english and 'default' in french:
            yield 'emoji', ' '.join(english['default']), ' '.join(french['default'])
            yield 'emoji', english['tts'][0], french['tts'][0]


def spaced(value):
    return ' '.join(value) if isinstance(value, list) else value.replace(',', ' ')


def from_presets(source):
    """Map features: name and search words, in both languages."""
    tables = {}
    for path, data in files(source, matching(r'translations/(en|fr)\.json$')):
        language = path[-7:-5]
        tables[language] = json.loads(decode(data))[language]['presets']['presets']
    for key, english in tables['en'].items():
        french = tables['fr'].get(key, {})
        for field in ('name', 'terms'):
            if english.get(field) and french.get(field):
                yield 'emoji', spaced(english[field]), spaced(french[field])
        if english.get('terms'):
            yield 'synonym', english.get('name', ''), spaced(english['terms'])
        if french.get('terms'):
            yield 'synonym', french.get('name', ''), spaced(french['terms'])


WAYS = {'wordnet': from_wordnet, 'thesaurus': from_thesaurus, 'annotations': from_annotations, 'presets': from_presets}


def pairs(source):
    for use in source['use']:
        if use in WAYS:
            for group, one, two in WAYS[use](source):
                pair = translation(one, two) if group == 'emoji' else (one, two)
                if pair is not None and pair[0] and pair[1]:
                    yield ('translation' if group == 'emoji' else group), *pair
