import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { repository, temporaryFolder } from './support/app.ts';
import { HOST_PACKAGES, hostsTakePart, keptIn } from './support/host-packages.ts';

it('runs real hosts with all tests where every one of them was fetched, or where they are asked for', async () => {
  const folder = await temporaryFolder(onTestFinished);
  expect(hostsTakePart(folder, undefined)).toBe(false);
  expect(hostsTakePart(folder, 'all')).toBe(true);
  for (const [name, version] of Object.values(HOST_PACKAGES)) {
    expect(hostsTakePart(folder, '')).toBe(false);
    await mkdir(join(folder, keptIn(name, version)), { recursive: true });
  }
  expect(hostsTakePart(folder, '')).toBe(true);
  expect(hostsTakePart(folder, 'none')).toBe(false);
});

it('runs the versions that the measurements say they were tried in', async () => {
  const measured = await readFile(join(repository, 'docs/measurements/surfaces.md'), 'utf8');
  const told = /^## Real hosts[^]*?(?=^## )/m.exec(measured)?.[0] ?? '';
  const { mcporter: _, ...hosts } = HOST_PACKAGES;
  const versions = Object.values(hosts).map(([, version]) => `| ${version} |`);
  expect(versions.filter((version) => !told.includes(version))).toEqual([]);
});
