"""Pairs from texts that were written for this: words of one meaning, forms of one word, and statements in other words."""

import collections
import glob
import os
import random
import re

from archives import HERE
from tokens import tokens

SEED = 11
FOLDER = os.path.join(HERE, 'written')
# How often each term of a group meets others of its group, and how many sentences get other words put in.
MEETINGS = 6
SUBSTITUTED = 120_000


def groups():
    """Lists of terms with one meaning, English and French together; a line with an apostrophe or accents stays as it is."""
    found = []
    for path in sorted(glob.glob(os.path.join(FOLDER, 'concepts-*.txt'))):
        with open(path, encoding='utf8') as file:
            for line in file:
                if line.strip() and not line.startswith('#'):
                    terms = [term.strip() for part in line.split('|') for term in part.split(',')]
                    found.append([term for term in dict.fromkeys(terms) if tokens(term)])
    return found


def sayings():
    """Statement and question in English, then in French: the same in other words."""
    with open(os.path.join(FOLDER, 'sayings.txt'), encoding='utf8') as file:
        return [line.rstrip('\n').split('|') for line in file if line.strip()]


def pairs():
    """Yields group, key, one text, the other. Pairs with the same key mean the same, so they are no counterexamples."""
    rng = random.Random(SEED)
    for number, terms in enumerate(groups()):
        for term in terms:
            others = [other for other in terms if other != term]
            for meeting in range(MEETINGS):
                picked = rng.sample(others, min(len(others), 1 if meeting % 2 == 0 else 3))
                yield 'concept', f'concept {number}', term, ' '.join(picked)
    for number, said in enumerate(sayings()):
        for one in range(4):
            for two in range(one + 1, 4):
                yield 'saying', f'saying {number}', said[one], said[two]


def replacements():
    """Words that mean one thing only, each with the other terms of its group."""
    known = collections.defaultdict(list)
    for terms in groups():
        for term in terms:
            words = tokens(term)
            if len(words) == 1 and len(words[0]) > 3:
                known[words[0]].append([other for other in terms if other != term])
    return {word: lists[0] for word, lists in known.items() if len(lists) == 1}


WORD = re.compile(r'\w+')


def substituted(texts):
    """Sentences beside themselves with up to four words replaced by others of the same meaning, in either language."""
    rng, known = random.Random(SEED), replacements()
    texts = list(dict.fromkeys(texts))
    rng.shuffle(texts)
    made = 0
    for text in texts:
        found = [match for match in WORD.finditer(text) if (folded := tokens(match[0])) and folded[0] in known and len(folded) == 1]
        if len(found) < 2 or len(text) > 300:
            continue
        other, at = '', 0
        for match in sorted(rng.sample(found, min(4, len(found))), key=lambda match: match.start()):
            other += text[at : match.start()] + rng.choice(known[tokens(match[0])[0]])
            at = match.end()
        yield 'substituted', text, other + text[at:]
        made += 1
        if made >= SUBSTITUTED:
            return
