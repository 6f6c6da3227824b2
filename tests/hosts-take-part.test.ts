import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from './support/app.ts';
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
