"""Trains the table. `python3 training/train.py` on a CPU, `--device cuda` where torch and an accelerator are."""

import argparse
import json
import os
import time

import numpy

from archives import CACHE
from dataset import Dataset
from models import NumpyModel, TorchModel
from score import report

SETTINGS = {
    'dimensions': 192,
    'words': 40_000,
    'buckets': 14_336,
    'epochs': 10,
    'batch': 4096,
    'rate': 0.004,
    'temperature': 0.1,
    'drop': 0.1,
    'overlap_drop': 0.6,
    'seed': 20,
}


def train(data, settings, device, log=print):
    rng = numpy.random.default_rng(settings['seed'])
    table = data.initial(settings['dimensions'], settings['seed'])
    model = NumpyModel(table) if device == 'numpy' else TorchModel(table, device)
    total = settings['epochs'] * len(data.epoch(settings['batch'], numpy.random.default_rng(0)))
    done, begun = 0, time.time()
    for epoch in range(settings['epochs']):
        losses = []
        for group, members in data.epoch(settings['batch'], rng):
            rate = settings['rate'] * max(0.02, 1 - done / total) * min(1, (done + 1) / 100)
            sides, ids = data.batch(group, members, rng, settings['drop'], settings['overlap_drop'])
            losses.append(model.step(sides, ids, rate, settings['temperature']))
            done += 1
        log(f"epoch {epoch + 1}: loss {float(sum(losses)) / len(losses):.3f}, {time.time() - begun:.0f} s")
    return model.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--device', default='numpy', help='numpy, cpu or cuda')
    for name, value in SETTINGS.items():
        parser.add_argument(f'--{name}', type=type(value), default=value)
    options = vars(parser.parse_args())
    device = options.pop('device')
    begun = time.time()
    data = Dataset(options['words'], options['buckets'], options['seed'])
    print({group: len(members) for group, members in data.groups.items()}, f'read in {time.time() - begun:.0f} s')
    table = train(data, options, device)
    vocabulary = list(data.vocabulary)
    numpy.savez(os.path.join(CACHE, 'table.npz'), table=table, words=numpy.array(vocabulary))
    with open(os.path.join(CACHE, 'settings.json'), 'w', encoding='utf8') as file:
        json.dump({**options, 'device': device, 'seconds': round(time.time() - begun)}, file)
    print(report(table, data.vocabulary, options['buckets'], 'dev'))


if __name__ == '__main__':
    main()
