import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { recordOf } from '../../../tests/support/records.ts';
import { createLog } from '../../base/log.ts';
import { createSecrets } from '../../base/secrets/rules.ts';
import { openUsage, type Usage, type UsageSetup } from './usage.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const prd = recordOf('workflow bmm/bmad-prd');
const pm = recordOf('agent bmm/bmad-agent-pm');

interface Opened {
  usage: Usage;
  state: string;
  written: string[];
  again(more?: Partial<UsageSetup>): Usage;
}

async function opened(more: Partial<UsageSetup> = {}): Promise<Opened> {
  const state = await temporaryFolder(afterAll);
  const written: string[] = [];
  const log = createLog({
    level: 'warn',
    write: (text) => written.push(text),
    json: false,
    secrets: createSecrets(),
  });
  const again = (other: Partial<UsageSetup> = {}): Usage =>
    openUsage({
      state,
      root: '/home/ada/corner shop',
      reads: true,
      writes: true,
      now: () => NOW,
      log,
      ...more,
      ...other,
    });
  return { usage: again(), state, written, again };
}

async function put(usage: Usage, text: string): Promise<void> {
  await mkdir(dirname(usage.place), { recursive: true });
  await writeFile(usage.place, text);
}

const HEADER = '{"log":"bmad-usage","version":1}\n';

describe('what was started', () => {
  it('is noted by name and time, and nothing else, in a file for its user only', async () => {
    const { usage, state } = await opened();
    usage.note(prd);
    usage.note(pm);
    usage.note(prd);
    await usage.settled();
    expect(Object.fromEntries((await usage.read()).uses)).toEqual({
      'workflow bmm/bmad-prd': { uses: 2, last: NOW },
      'agent bmm/bmad-agent-pm': { uses: 1, last: NOW },
    });
    expect(usage.place).toMatch(/\/usage\/corner-shop-[0-9a-f]{12}\.jsonl$/);
    expect(await readFile(usage.place, 'utf8')).toBe(
      `${HEADER}${[prd, pm, prd].map(({ kind, moduleName, name }) => `{"what":"${kind} ${moduleName}/${name}","at":${NOW}}\n`).join('')}`,
    );
    expect((await stat(usage.place)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(state, 'usage'))).toHaveLength(1);
  });

  it('adds up by day with the length of what was delivered, also when names are all that a rewritten file has', async () => {
    const { usage, again } = await opened();
    const line = (at: number, tokens?: number): string =>
      `${JSON.stringify({ what: 'workflow a', at, tokens })}\n`;
    const day = 86_400_000;
    const odd = '"2026-11-13":[2,50],"yesterday":[1,1],"2026-11-12":[-1,"x"],"2026-11-11":7';
    await put(
      usage,
      `{"log":"bmad-usage","version":1,"days":{${odd}}}\n` +
        `{"what":"workflow a","at":${NOW - 2 * day},"uses":2}\n` +
        line(NOW - day) +
        // So many lines that the next note rewrites the file.
        line(NOW, 3).repeat(2_000),
    );
    usage.note(prd, 100);
    await usage.settled();
    const expected = {
      '2026-11-13': { starts: 2, tokens: 50 },
      '2026-11-14': { starts: 1, tokens: 0 },
      '2026-11-15': { starts: 2_001, tokens: 6_100 },
    };
    expect(Object.fromEntries((await usage.noted()).days)).toEqual(expected);
    expect((await readFile(usage.place, 'utf8')).split('\n').length).toBeLessThan(6);
    const { days, uses } = await again().noted();
    expect(Object.fromEntries(days)).toEqual(expected);
    expect(uses.get('workflow a')?.uses).toBe(2_003);
  });

  it('counts before it is written, and once when it is', async () => {
    const { usage, again } = await opened({ gatherMs: 100 });
    usage.note(prd);
    usage.note(prd);
    expect((await usage.read()).uses.get('workflow bmm/bmad-prd')?.uses).toBe(2);
    expect((await again().read()).uses.size).toBe(0);
    await usage.settled();
    expect((await usage.read()).uses.get('workflow bmm/bmad-prd')?.uses).toBe(2);
    expect((await again().read()).uses.get('workflow bmm/bmad-prd')?.uses).toBe(2);
  });

  it('is forgotten by a clear, also what is still to be written', async () => {
    const { usage } = await opened({ gatherMs: 100 });
    usage.note(prd);
    await usage.clear();
    expect((await usage.read()).uses.size).toBe(0);
    await usage.settled();
    expect((await usage.read()).uses.size).toBe(0);
  });

  it('is right whoever adds to the file, in turns and at once', async () => {
    const { usage, again } = await opened();
    const other = again();
    const count = async (reader: Usage) => (await reader.read()).uses.get('workflow bmm/bmad-prd')?.uses;
    for (let round = 1; round <= 3; round += 1) {
      usage.note(prd);
      await usage.settled();
      other.note(prd);
      await other.settled();
      expect([await count(usage), await count(other)]).toEqual([2 * round, 2 * round]);
    }
    for (const writer of [usage, other, usage, other]) writer.note(prd);
    const during = await count(usage);
    expect(during).toBeGreaterThanOrEqual(6);
    await Promise.all([usage.settled(), other.settled()]);
    expect([await count(usage), await count(other)]).toEqual([10, 10]);
  });

  it('is what the file says when somebody changes it by hand after a write of our own', async () => {
    const { usage } = await opened();
    usage.note(pm);
    await usage.settled();
    usage.note(pm);
    await usage.settled();
    const line = (what: string): string => `${JSON.stringify({ what, at: NOW })}\n`;
    await put(usage, `${HEADER}${line('workflow a')}${line('workflow b')}${line('workflow c')}`);
    expect([...(await usage.read()).uses.keys()]).toEqual(['workflow a', 'workflow b', 'workflow c']);
  });

  it('is kept apart for each project, and for no project', async () => {
    const { usage, again } = await opened();
    usage.note(prd);
    await usage.settled();
    const others = [again({ root: '/home/ada/other/corner shop' }), again({ root: undefined })];
    for (const other of others) expect((await other.read()).uses.size).toBe(0);
    expect(new Set([usage, ...others].map(({ place }) => place)).size).toBe(3);
  });

  it('is seen by others that were there before', async () => {
    const { usage, again } = await opened();
    const other = again();
    expect((await other.read()).uses.size).toBe(0);
    usage.note(prd);
    await usage.settled();
    expect((await other.read()).uses.size).toBe(1);
  });

  it('is not noted where it is switched off or only reading is allowed, and not read where it is switched off', async () => {
    const { usage, again, state } = await opened({ writes: false });
    usage.note(prd);
    await usage.settled();
    expect(await readdir(state)).toEqual([]);
    const writer = again({ writes: true });
    writer.note(prd);
    await writer.settled();
    expect((await usage.read()).uses.size).toBe(1);
    const off = again({ reads: false });
    expect((await off.read()).uses.size).toBe(0);
    expect((await off.noted()).uses.size).toBe(1);
  });

  it('can be cleared, even when it cannot be read', async () => {
    const { usage } = await opened();
    expect(await usage.clear()).toBeUndefined();
    usage.note(prd);
    await usage.settled();
    expect(await usage.clear()).toBe(1);
    expect((await usage.read()).uses.size).toBe(0);
    await put(usage, 'no log at all');
    expect(await usage.clear()).toBe(0);
    usage.note(pm);
    await usage.settled();
    expect((await usage.read()).uses.size).toBe(1);
  });
});

describe('a log that was not left as it should be', () => {
  it.each([
    ['is no log', 'shopping list\n- milk\n', /damaged or not a usage log/],
    ['is a log of something else', '{"log":"bmad-memory","version":1}\n', /damaged or not a usage log/],
    ['is of a newer version', '{"log":"bmad-usage","version":2}\n{"x":1}\n', /newer version/],
    ['is mostly damaged', HEADER + 'x\n'.repeat(20), /damaged or not a usage log/],
    ['is binary', Buffer.from([0, 255, 10, 3]).toString('latin1'), /damaged or not a usage log/],
    ['is huge', HEADER + 'x'.repeat(5 * 1024 * 1024), /damaged or not a usage log/],
  ])('that %s is reported once and left alone', async (_what, text, reason) => {
    const { usage, written } = await opened();
    await put(usage, text);
    expect(await usage.read()).toEqual({ uses: new Map(), problem: expect.stringMatching(reason) as string });
    usage.note(prd);
    await usage.settled();
    await usage.read();
    expect(await readFile(usage.place, 'utf8')).toBe(text);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(reason);
  });

  it('that is a folder is reported and left alone', async () => {
    const { usage } = await opened();
    await mkdir(usage.place, { recursive: true });
    expect((await usage.read()).problem).toMatch(/not a usage log/);
    usage.note(prd);
    await usage.settled();
    expect((await stat(usage.place)).isDirectory()).toBe(true);
  });

  it.each([
    ['half a line at its end', `${HEADER}{"what":"workflow a/b","at":1}\n{"what":"workfl`, 2],
    ['nothing in it', '', 1],
    ['half a first line', '{"log":"bmad-us', 1],
    [
      'lines with values that cannot be',
      `${HEADER}{"what":"workflow a/b","at":-1}\n{"what":7,"at":1}\n{"what":"x y","at":1e300}\n{"what":"x y","at":1,"uses":0.5}\nnull\n[]\n`,
      1,
    ],
  ])('that has %s goes on', async (_what, text, names) => {
    const { usage } = await opened();
    await put(usage, text);
    usage.note(prd);
    await usage.settled();
    const { uses, problem } = await usage.read();
    expect(problem).toBeUndefined();
    expect(uses.size).toBe(names);
    expect(uses.get('workflow bmm/bmad-prd')).toEqual({ uses: 1, last: NOW });
  });

  it('that a wrong clock has written grows old from the next start on', async () => {
    const { usage } = await opened();
    await put(usage, `${HEADER}{"what":"workflow a/b","at":${NOW + 1e12}}\n`);
    expect((await usage.read()).uses.get('workflow a/b')).toEqual({ uses: 1, last: NOW + 1e12 });
    usage.note(prd);
    await usage.settled();
    expect((await usage.read()).uses.get('workflow a/b')).toEqual({ uses: 1, last: NOW });
  });
});

it('stays small however much is started', async () => {
  const { usage } = await opened();
  const lines = Array.from(
    { length: 2_500 },
    (_, index) => `{"what":"workflow m/w${index % 900}","at":${index}}`,
  );
  await put(usage, `${HEADER}${lines.join('\n')}\n`);
  usage.note(prd);
  await usage.settled();
  const { uses } = await usage.read();
  expect(uses.size).toBe(501);
  expect(uses.get('workflow m/w0')).toBeUndefined();
  expect(uses.get('workflow m/w699')).toEqual({ uses: 3, last: 2_499 });
  expect((await readFile(usage.place, 'utf8')).split('\n')).toHaveLength(503);
});
