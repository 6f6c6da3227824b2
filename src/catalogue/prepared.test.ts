import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contentRoot } from '../../tests/support/app.ts';
import { readers } from '../readers/index.ts';
import { packageSource } from '../sources/built-in.ts';
import { buildCatalogue } from './build.ts';
import { prepareReading, restoreReading } from './prepared.ts';

describe('the prepared catalogue', async () => {
  const source = await packageSource(contentRoot, 1_000_000);
  const { prepared: _prepared, ...unprepared } = source;

  it('is in the build and says what the readers say', async () => {
    const built = await readFile(join(dirname(contentRoot), 'catalogue.json'), 'utf8');
    expect(built).toBe(await prepareReading(unprepared, readers));
  });

  it('gives the same catalogue as reading the files', async () => {
    const [quick, slow] = await Promise.all([
      buildCatalogue([source], readers),
      buildCatalogue([unprepared], readers),
    ]);
    expect(quick.records).toEqual(slow.records);
    expect(quick.modules).toEqual(slow.modules);
    expect([...(await quick.files.all())]).toEqual([...(await slow.files.all())]);
  });

  it('is not used for content of another version, nor when it is damaged', async () => {
    const text = await prepareReading(unprepared, readers);
    const newer = { ...source, origin: { ...source.origin, bmadVersion: '9.9.9' } };
    expect(restoreReading(text, newer)).toBeUndefined();
    const damaged = await buildCatalogue([{ ...source, prepared: async () => text.slice(0, 100) }], readers);
    expect(damaged.winners.length).toBe(50);
  });
});
