import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { recordOf } from '../../../tests/support/records.ts';
import { keepProfiles } from './kept-profiles.ts';

it('agents are read again when one of their files has changed, and only then (R-04)', async () => {
  const folder = await temporaryFolder(afterAll);
  const [main, override] = [join(folder, 'pm.md'), join(folder, 'pm.customize.yaml')];
  await writeFile(main, 'one');
  const agent = recordOf('agent bmm/pm');
  let read = 0;
  const profileOf = keepProfiles(
    async () => ({ role: `reading ${(read += 1)}`, menu: [] }),
    () => [main, override],
  );
  const role = async (): Promise<string | undefined> => (await profileOf(agent)).role;
  expect([await role(), await role()]).toEqual(['reading 1', 'reading 1']);
  await writeFile(main, 'another');
  expect([await role(), await role()]).toEqual(['reading 2', 'reading 2']);
  await writeFile(override, 'menu: []');
  expect([await role(), await role()]).toEqual(['reading 3', 'reading 3']);
  await rm(override);
  expect([await role(), await role()]).toEqual(['reading 4', 'reading 4']);
});
