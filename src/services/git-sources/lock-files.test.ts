import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { changePins, type Pin, readPins } from './lock-files.ts';

let folder: string;
let file: string;
let guard: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
  file = join(folder, 'sources.lock.json');
  guard = join(folder, 'guards', 'x.lock');
});

const pin = (digit: string): Pin => ({ commit: digit.repeat(40), digest: `sha256:${digit.repeat(64)}` });

describe('a lock file', () => {
  it('has its sources in a fixed order, whoever wrote which first', async () => {
    await changePins(file, guard, (pins) => {
      pins['z'] = pin('1');
      pins['a'] = pin('2');
    });
    await changePins(file, guard, (pins) => {
      pins['m'] = pin('3');
    });
    expect(Object.keys(await readPins(file))).toEqual(['a', 'm', 'z']);
    expect(await readFile(file, 'utf8')).toBe(
      `${JSON.stringify({ version: 1, sources: { a: pin('2'), m: pin('3'), z: pin('1') } }, null, 2)}\n`,
    );
  });

  it('keeps what many write at once', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        changePins(file, guard, (pins) => {
          pins[`source${index}`] = pin('a');
        }),
      ),
    );
    expect(Object.keys(await readPins(file))).toHaveLength(12);
    expect(await readdir(join(folder, 'guards'))).toEqual([]);
    expect(await readdir(folder)).toEqual(['guards', 'sources.lock.json']);
  });

  it('is not written when nothing changes', async () => {
    const text = `{"version":1,"sources":{"a":${JSON.stringify(pin('1'))}}}`;
    await writeFile(file, text);
    await changePins(file, guard, (pins) => {
      pins['a'] ??= pin('2');
    });
    expect(await readFile(file, 'utf8')).toBe(text);
    await changePins(join(folder, 'none.json'), guard, () => undefined);
    expect(await readdir(folder)).not.toContain('none.json');
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['another kind of JSON', '[]'],
    ['null', 'null'],
    ['a text', '"x"'],
    ['a later version', '{"version":2,"sources":{}}'],
    ['no sources', '{"version":1}'],
    ['sources that are a list', '{"version":1,"sources":[]}'],
    ['a short commit', `{"version":1,"sources":{"a":{"commit":"abc","digest":"${pin('1').digest}"}}}`],
    ['no digest', `{"version":1,"sources":{"a":{"commit":"${pin('1').commit}"}}}`],
    ['a number as commit', '{"version":1,"sources":{"a":{"commit":1,"digest":2}}}'],
    ['a pin that is null', '{"version":1,"sources":{"a":null}}'],
    ['marks of a merge', '<<<<<<< HEAD\n{"version":1,"sources":{}}\n'],
  ])('with %s is reported, and neither read nor changed', async (_what, text) => {
    await writeFile(file, text);
    expect(await refusal(() => readPins(file))).toMatchObject({
      code: 'unavailable',
      message: `The lock file ${file} is not valid; its git sources are not served.`,
      hint: expect.stringContaining('Restore it from version control') as string,
    });
    await refusal(() => changePins(file, guard, (pins) => void (pins['a'] = pin('1'))));
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('may have sources with names that objects have by themselves', async () => {
    await changePins(file, guard, (pins) => {
      pins['constructor'] = pin('1');
    });
    expect(await readPins(file)).toEqual({ constructor: pin('1') });
  });
});
