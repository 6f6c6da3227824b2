"""Trains several tables side by side, each with one thing more than the one before, and prints what each finds on the dev
half: `python3 training/ablation.py` on a machine with an accelerator, some minutes for all."""

import multiprocessing
import os
import sys
import time

for name in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ[name] = '1'

from dataset import Dataset, read_pairs
from pack import quantised
from score import lines
from train import SETTINGS, train

BEFORE = {'dimensions': 256, 'words': 30_000, 'buckets': 8_192, 'epochs': 5, 'batch': 1024, 'rate': 0.002, 'temperature': 0.06}
EARLIER = {'translation': 1.5, 'code': 1.0}
LITTLE = {**EARLIER, 'concept': 2.0, 'substituted': 1.0}
SOFT = {**BEFORE, 'temperature': 0.1}
LONG = {**SOFT, 'epochs': 10, 'batch': 4096, 'rate': 0.004}
VARIANTS = {
    'nothing written': {**BEFORE, 'shares': {**EARLIER, 'concept': 0, 'saying': 0, 'substituted': 0}},
    '+ concepts': {**BEFORE, 'shares': {**LITTLE, 'saying': 0, 'substituted': 0}},
    '+ sayings': {**BEFORE, 'shares': {**LITTLE, 'substituted': 0}},
    '+ sentences with other words': {**BEFORE, 'shares': LITTLE},
    '+ temperature .1': {**SOFT, 'shares': LITTLE},
    '+ what was written more often': {**SOFT, 'shares': EARLIER},
    '+ 10 epochs, batches of 4096': {**LONG, 'shares': EARLIER},
    '+ 192 numbers, more rows': {'shares': EARLIER},
    '+ more translations and code': {},
    'without sayings': {'shares': {'saying': 0}},
}
AT_ONCE = 10


def one(name, change, pairs, device, queue):
    settings = {**SETTINGS, **{key: value for key, value in change.items() if key != 'shares'}}
    begun = time.time()
    data = Dataset(settings['words'], settings['buckets'], settings['seed'], pairs, change.get('shares'))
    table = train(data, settings, device, log=lambda text: None)
    steps, small = quantised(table)
    queue.put((name, *lines(small * steps[:, None], data.vocabulary, settings['buckets'], 'dev'), time.time() - begun))


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else 'cuda'
    pairs, queue = read_pairs(), multiprocessing.Queue()
    waiting, running = list(VARIANTS.items()), 0
    while waiting or running:
        while waiting and running < AT_ONCE:
            multiprocessing.Process(target=one, args=(*waiting.pop(0), pairs, device, queue)).start()
            running += 1
        name, told, scored, seconds = queue.get()
        running -= 1
        print(f"{name}: R@5 {scored['r5']:.3f}, MRR {scored['mrr']:.3f}, {seconds:.0f} s", *told, sep='\n', flush=True)


if __name__ == '__main__':
    main()
