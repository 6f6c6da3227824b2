"""Makes the code part of the probe: comments and functions of packages that are not trained on."""

import json
import os
import random
import re

from archives import CACHE, decode, files, matching, sources
from code_pairs import documented

MOST = 100


def main():
    pairs = []
    for source in sources():
        if 'probe' not in source['use']:
            continue
        found = {}
        for path, data in files(source, matching(r'^package/(lib|src|es|[a-z]\w+)/?.*\.js$')):
            if re.search(r'\.min\.|/(dist|build|test|umd|cjs|browser)/', path):
                continue
            for words, code in documented(decode(data)):
                found.setdefault(words, code)
        random.Random(5).shuffle(picked := sorted(found.items()))
        pairs.extend(picked[:MOST])
        print(source['name'], len(found))
    random.Random(6).shuffle(pairs)
    with open(os.path.join(CACHE, 'code-probe.json'), 'w', encoding='utf8') as file:
        json.dump(pairs, file, ensure_ascii=False)
    print(len(pairs), 'pairs')


if __name__ == '__main__':
    main()
