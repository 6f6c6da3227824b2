"""Turns the trained table into assets/embedder.bin (four bits a number) and writes golden.json for the tests."""

import hashlib
import json
import os
import struct

import numpy

from archives import CACHE, HERE
from score import embed, report
from tokens import tokens

MOST = 7
ID = 'bmad-static-fr-en-3'
GOLDEN = [
    'We chose PostgreSQL over MongoDB because the billing module needs transactions.',
    "L'équipe a décidé de ne pas déployer le vendredi après-midi.",
    'parseHTTPResponse(user_id: string): Promise<XMLHttpRequest>',
    'ÇA MARCHE À ŒUVRE — cœur, naïve, Straße, Łódź',
    'snake_case_identifier kebab-case-name SCREAMING_SNAKE camelCaseName2FA',
    'zzyzxqwv unbekanntesWort desoxyribonucleique',
    'sha256 utf8 h2 3D i18n 2026 1234567',
    'e\u0301te\u0301 d\u2019été',
    '日本語 привет',
    '',
]


def quantised(table):
    """Whole numbers from -7 to 7 with one step a row: the step that loses least. The largest number of a row may lie
    beyond 7 steps, because finer steps for all the others are worth more."""
    largest = numpy.maximum(numpy.abs(table).max(1), 1e-8)
    steps, least = largest / MOST, numpy.full(len(table), numpy.inf)
    for share in numpy.arange(0.4, 1.01, 0.04):
        tried = (share * largest / MOST).astype('<f4')
        rounded = numpy.clip(numpy.rint(table / tried[:, None]), -MOST, MOST)
        loss = ((table - rounded * tried[:, None]) ** 2).sum(1)
        steps = numpy.where(loss < least, tried, steps)
        least = numpy.minimum(loss, least)
    steps = steps.astype('<f4')
    return steps, numpy.clip(numpy.rint(table / steps[:, None]), -MOST, MOST).astype(numpy.int8)


def halves(small):
    """Two numbers in a byte, the first in its lower half, each eight more than it is."""
    raised = (small + 8).astype(numpy.uint8)
    return raised[:, 0::2] | (raised[:, 1::2] << 4)


def main():
    data = numpy.load(os.path.join(CACHE, 'table.npz'))
    table, words = data['table'], data['words'].tolist()
    with open(os.path.join(CACHE, 'settings.json'), encoding='utf8') as file:
        settings = json.load(file)
    steps, small = quantised(table)
    text = '\n'.join(words).encode('ascii')
    head = json.dumps({'id': ID, 'dim': table.shape[1], 'buckets': settings['buckets'], 'words': len(words), 'wordBytes': len(text)}).encode()
    content = b'BMADEMB2' + struct.pack('<I', len(head)) + head + text + steps.tobytes() + halves(small).tobytes()
    target = os.path.join(HERE, '..', 'assets', 'embedder.bin')
    with open(target, 'wb') as file:
        file.write(content)
    vocabulary = {word: row for row, word in enumerate(words)}
    rounded = small.astype(numpy.float32) * steps[:, None]
    golden = {
        'sha256': hashlib.sha256(content).hexdigest(),
        'bytes': len(content),
        'settings': settings,
        'texts': [
            {'text': t, 'tokens': tokens(t), 'vector': [round(float(x), 5) for x in embed(t, rounded, vocabulary, settings['buckets'])[:12]]}
            for t in GOLDEN
        ],
    }
    with open(os.path.join(HERE, 'golden.json'), 'w', encoding='utf8') as file:
        json.dump(golden, file, ensure_ascii=False, indent=2)
        file.write('\n')
    print(len(content), golden['sha256'])
    print(report(rounded, vocabulary, settings['buckets'], 'dev'))


if __name__ == '__main__':
    main()
