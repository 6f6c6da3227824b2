"""What a comment says to the function below it, from JavaScript and TypeScript sources."""

import re

from archives import decode, files, matching
from clean import plain, usable

DOCUMENTED = re.compile(
    r'/\*\*(?P<comment>(?:(?!\*/).){20,1200}?)\*/\s*'
    r'(?P<code>(?:export\s+|default\s+|declare\s+|async\s+|static\s+|public\s+|protected\s+)*'
    r'(?:function\s*\*?\s*[\w$]+|(?:const|let|var)\s+[\w$]+\s*=\s*(?:async\s*)?(?:function|\()|[\w$.]+\s*=\s*(?:async\s+)?function|[\w$]+\s*\()'
    r'.{0,700})',
    re.S,
)
MOST = 1500


def summary(comment):
    text = re.sub(r'^\s*\*? ?', '', comment, flags=re.M)
    text = re.split(r'(?m)^\s*@(?!description|desc|summary)', text)[0]
    text = re.sub(r'@(description|desc|summary)|\{@\w+ ([^}]*)\}|`', r'\2', text)
    sentence = re.split(r'(?<=[.!?])\s|\n\s*\n', text.strip())[0]
    return plain(sentence)


def documented(text):
    """Pairs of (first sentence of the comment, function) in one file."""
    for match in DOCUMENTED.finditer(text):
        words = summary(match['comment'])
        code = re.split(r'\n\s*/\*\*', match['code'])[0][:500].strip()
        if 20 <= len(words) <= 300 and words.count(' ') >= 3 and usable(words) and len(code) > 40:
            yield words, code


def pairs(source):
    if 'code' not in source['use']:
        return
    count = 0
    for path, data in files(source, matching(r'\.(js|mjs|ts)$')):
        if re.search(r'\.min\.|-min\.|-dbg|/(cjs|umd|min|test|tests|vendor|thirdparty|node_modules)/', path) or len(data) > 600_000:
            continue
        for words, code in documented(decode(data)):
            yield 'code', words, code
            count += 1
            if count == MOST:
                return
