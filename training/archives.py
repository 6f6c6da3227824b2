"""Reads the files of the downloaded packages without unpacking them to disk."""

import io
import json
import os
import re
import subprocess
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(HERE, '..', '.cache', 'training')
LARGEST = 30_000_000


def sources():
    with open(os.path.join(HERE, 'sources.json'), encoding='utf8') as file:
        return json.load(file)


def archive_path(source):
    """Where fetch.py puts a package: the names that `npm pack` and `apt-get download` give."""
    name, version = source['name'], source['version']
    if source['from'] == 'npm':
        return os.path.join(CACHE, 'npm', f"{name.replace('@', '').replace('/', '-')}-{version}.tgz")
    version = version.replace(':', '%3a')
    return os.path.join(CACHE, 'debian', f"{name}_{version}_{source.get('architecture', 'all')}.deb")


def files(source, wanted):
    """Yields (path, bytes) of the files whose path matches; jars are looked into."""
    path = archive_path(source)
    if path.endswith('.tgz'):
        with tarfile.open(path) as tar:
            yield from _members(tar, wanted)
        return
    process = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', path], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=process.stdout, mode='r|') as tar:
        yield from _members(tar, wanted)
    process.wait()


def _members(tar, wanted):
    for member in tar:
        if not member.isfile() or member.size > LARGEST:
            continue
        if member.name.endswith('.jar'):
            with zipfile.ZipFile(io.BytesIO(tar.extractfile(member).read())) as jar:
                for name in jar.namelist():
                    if wanted(name):
                        yield name, jar.read(name)
        elif wanted(member.name):
            yield member.name, tar.extractfile(member).read()


def decode(data):
    try:
        return data.decode('utf8')
    except UnicodeDecodeError:
        return data.decode('latin-1')


def matching(pattern):
    compiled = re.compile(pattern)
    return lambda path: compiled.search(path) is not None
