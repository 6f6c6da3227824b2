"""Reads every source and writes .cache/training/pairs.tsv.gz: group, source, one text, the other text."""

import collections
import gzip
import multiprocessing
import os
import sys


from archives import CACHE, sources
from clean import folded
import code_pairs
import documents
import translations
import words

# A text that stands in many pairs teaches little and makes false negatives.
OFTEN = 3


def read(source):
    found = []
    try:
        for module in (translations, documents, code_pairs, words):
            found.extend(module.pairs(source))
    except Exception as error:  # one broken package must not stop the rest; the count shows it
        print(f"{source['name']}: {type(error).__name__} {error}", file=sys.stderr)
    return source['name'], found


def main():
    counts = collections.Counter()
    per_source = collections.Counter()
    seen, often = set(), collections.Counter()
    with multiprocessing.Pool() as pool, gzip.open(os.path.join(CACHE, 'pairs.tsv.gz'), 'wt', 5, encoding='utf8') as out:
        for name, found in pool.imap(read, sources(), chunksize=2):
            for group, one, two in found:
                keys = (folded(one), folded(two))
                if keys in seen or keys[0] == keys[1] or often[keys[0]] >= OFTEN or often[keys[1]] >= OFTEN:
                    continue
                seen.add(keys)
                often.update(keys)
                counts[group] += 1
                per_source[name, group] += 1
                out.write('\t'.join([group, name, ' '.join(one.split()), ' '.join(two.split())]) + '\n')
    with open(os.path.join(CACHE, 'counts.tsv'), 'w', encoding='utf8') as out:
        for (name, group), count in sorted(per_source.items()):
            out.write(f'{name}\t{group}\t{count}\n')
    print(dict(counts), sum(counts.values()))


if __name__ == '__main__':
    main()
