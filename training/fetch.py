"""Downloads every source in its exact version into .cache/training: npm packages with `npm pack`, Debian packages with
`apt-get download`. What is there already stays. Nothing of it is committed."""

import os
import subprocess
import sys

from archives import CACHE, archive_path, sources

AT_ONCE = 20


def main():
    missing = [source for source in sources() if not os.path.exists(archive_path(source))]
    for folder in ('npm', 'debian'):
        os.makedirs(os.path.join(CACHE, folder), exist_ok=True)
    packages = [f"{source['name']}@{source['version']}" for source in missing if source['from'] == 'npm']
    for begin in range(0, len(packages), AT_ONCE):
        subprocess.run(['npm', 'pack', '--silent', '--ignore-scripts', *packages[begin : begin + AT_ONCE]], cwd=os.path.join(CACHE, 'npm'), check=False)
    for source in missing:
        if source['from'] == 'debian':
            name = source['name'] + (f":{source['architecture']}" if 'architecture' in source else '')
            subprocess.run(['apt-get', 'download', '-qq', f"{name}={source['version']}"], cwd=os.path.join(CACHE, 'debian'), check=False)
    left = [source['name'] for source in sources() if not os.path.exists(archive_path(source))]
    print(f'{len(sources()) - len(left)} sources are here.')
    if left:
        sys.exit(f"Not to be had: {', '.join(left)}. A Debian version may have moved to the archive of old packages.")


if __name__ == '__main__':
    main()
