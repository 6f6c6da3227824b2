"""Translation files as flat tables: key to text."""

import gettext
import io
import json
import re

from archives import decode

STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\$]|\\.)*`'
ENTRY = re.compile(rf'(?:([\w$]+)|({STRING})|\[({STRING})\])\s*:\s*({STRING})\s*(?=[,}}\n;)]|\+?\s*$)')
ESCAPE = re.compile(r'\\(u\{?[0-9a-fA-F]{4,6}\}?|x[0-9a-fA-F]{2}|.)', re.S)
LANGUAGE = re.compile(r'(?i)^(en|fr)([-_](us|gb|en|fr))?$')
PLAIN = {'n': '\n', 't': ' ', 'r': ' ', 'b': '', 'f': ''}


def unescape(text):
    def one(match):
        code = match[1]
        if len(code) > 1:
            try:
                return chr(int(code.strip('ux{}'), 16))
            except ValueError:
                return ''
        return PLAIN.get(code, code)

    return ESCAPE.sub(one, text)


def flat_json(value, path=()):
    if isinstance(value, dict):
        for key, child in value.items():
            yield from flat_json(child, path + ('@' if LANGUAGE.match(key) else key,))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from flat_json(child, path + (str(index),))
    elif isinstance(value, str):
        yield '\x1f'.join(path), value


def flat_script(text):
    """Keys of a JavaScript object, told apart by how often they have occurred: nothing is run."""
    seen = {}
    for match in ENTRY.finditer(text):
        key = match[1] or (match[2] or match[3])[1:-1]
        if LANGUAGE.match(key):
            continue
        seen[key] = seen.get(key, 0) + 1
        yield f'{key}\x1f{seen[key]}', unescape(match[4][1:-1])


def flat_properties(text):
    text = re.sub(r'\\\r?\n\s*', '', text)
    for line in text.splitlines():
        match = re.match(r'\s*([^#!=:\s][^=:]*?)\s*[=:]\s*(.*)$', line)
        if match:
            yield match[1], unescape(match[2]).replace("''", "'")


def flat_yaml(text):
    path = []
    for line in text.splitlines():
        match = re.match(r'^(\s*)([\w.-]+|"[^"]*"|\'[^\']*\')\s*:\s*(.*)$', line)
        if not match:
            continue
        depth = len(match[1])
        path = [part for part in path if part[0] < depth]
        key = match[2].strip('"\'')
        path.append((depth, '@' if LANGUAGE.match(key) else key))
        value = match[3].strip()
        if value and value[0] not in '|>&*#{[':
            yield '\x1f'.join(part for _, part in path), unescape(value.strip('"\''))


def catalogue(data):
    """A compiled gettext catalogue: the keys are the English texts."""
    try:
        entries = gettext.GNUTranslations(io.BytesIO(data))._catalog
    except (OSError, UnicodeDecodeError):
        return {}
    return {
        (key[0] if isinstance(key, tuple) else key).split('\x04')[-1]: value
        for key, value in entries.items()
        if key and isinstance(value, str)
    }


def table(path, data):
    text = decode(data).lstrip('\ufeff')
    if path.endswith(('.json', '.resjson', '.json.ejs', '.arb')):
        try:
            return dict(flat_json(json.loads(text)))
        except ValueError:
            return dict(flat_script(text))
    if path.endswith(('.properties', '.multids')):
        return dict(flat_properties(text))
    if path.endswith(('.yml', '.yaml')):
        return dict(flat_yaml(text))
    return dict(flat_script(text))
