"""A quick look at a table while training, on the half of the probe that may be looked at. evaluate.ts has the figures."""

import json
import os

import numpy

from archives import CACHE, HERE
from tokens import features, tokens


def embed(text, table, vocabulary, buckets):
    total = numpy.zeros(table.shape[1], dtype=numpy.float32)
    for word in tokens(text):
        rows = features(word, vocabulary, buckets)
        total += table[rows].sum(0) / numpy.sqrt(len(rows))
    return total / (numpy.linalg.norm(total) + 1e-9)


def ranks(queries, answers, documents):
    order = numpy.argsort(-(queries @ documents.T), axis=1, kind='stable')
    return numpy.array([1 + min(numpy.flatnonzero(numpy.isin(row, right))) for row, right in zip(order, answers)])


def summary(found):
    return f'{(found <= 1).mean():.2f}/{(found <= 5).mean():.2f}/{(1 / found).mean():.3f}'


def report(table, vocabulary, buckets, half):
    return '\n'.join(lines(table, vocabulary, buckets, half)[0])


def lines(table, vocabulary, buckets, half):
    """The figures as text, and what they are chosen by: the mean over all paraphrases of R@5 and of the reciprocal rank."""
    def load(name):
        with open(os.path.join(HERE, 'probe', name), encoding='utf8') as file:
            return json.load(file)

    def embedded(texts):
        return numpy.stack([embed(text, table, vocabulary, buckets) for text in texts])

    topics, others = load('topics.json'), load('distractors.json')
    documents = {language: embedded([item[language] for item in topics + others]) for language in ('en', 'fr')}
    both = numpy.concatenate([documents['en'], documents['fr']])
    chosen = [index for index in range(len(topics)) if index % 2 == (0 if half == 'dev' else 1)]
    told, chosen_by = [], []
    for kind in ('paraphrase', 'natural'):
        parts, all_ranks = [], []
        for query in ('en', 'fr'):
            questions = embedded([topics[index][f'{kind}_{query}'] for index in chosen])
            for target in ('en', 'fr'):
                found = ranks(questions, [[index] for index in chosen], documents[target])
                parts.append(f'{query}>{target} {summary(found)}')
                if kind == 'paraphrase':
                    chosen_by.append(found)
            all_ranks.append(ranks(questions, [[index, index + len(documents['en'])] for index in chosen], both))
        told.append(f'{kind}: ' + '  '.join(parts) + '  mixed ' + summary(numpy.concatenate(all_ranks)))
    path = os.path.join(CACHE, 'code-probe.json')
    if os.path.exists(path):
        with open(path, encoding='utf8') as file:
            pairs = json.load(file)
        picked = [index for index in range(len(pairs)) if index % 2 == (0 if half == 'dev' else 1)]
        found = ranks(embedded([pairs[index][0] for index in picked]), [[i] for i in range(len(picked))], embedded([pairs[index][1] for index in picked]))
        told.append(f'code: {summary(found)}')
    hard = numpy.concatenate(chosen_by)
    return told, {'r5': float((hard <= 5).mean()), 'mrr': float((1 / hard).mean())}
