import { describe, expect, it } from 'vitest';
import { StandIns, agrees, brought } from '../scripts/docs-run/compare.ts';
import {
  blocksOf,
  exchangesOf,
  figuresBrought,
  isOutput,
  markerOf,
  withBlocks,
} from '../scripts/docs-run/markers.ts';
import { pageBrought, pagesToRun, readPage, unmarked } from '../scripts/docs-run/pages.ts';
import { callOf, wordsOf } from '../scripts/docs-run/story.ts';

const pages = await Promise.all(
  (await pagesToRun()).map(async (page): Promise<[string, string]> => [page, await readPage(page)]),
);

describe('every page', () => {
  it.each(pages)('%s says how its outputs were made', (_page, text) => {
    expect(unmarked(text).map(({ start, lines }) => `line ${start + 1}: ${lines[0]}`)).toEqual([]);
  });

  it.each(pages)('%s has a reason for what is not run', (_page, text) => {
    const reasons = blocksOf(text).filter(({ marker }) => marker?.kind === 'not');
    for (const { start, marker } of reasons) expect(marker?.text, `line ${start + 1}`).not.toBe('');
  });

  it.each(pages)('%s counts tools only with figures', (_page, text) => {
    const prose = text.replace(/^(`{3,})[\s\S]*?^\1$/gm, '').replace(/<!-- figure: \S+ -->[^<]*/g, '');
    expect(prose.match(/\b(?:\d+|nine|ten|eleven|twelve|thirteen|fourteen|fifteen) tools\b/g) ?? []).toEqual(
      [],
    );
  });

  // There Markdown takes the whole line for HTML, and shows its code and links as they are written.
  it.each(pages)('%s begins no line with a figure', (_page, text) => {
    expect(text.match(/^\s*<!-- figure.*/gm) ?? []).toEqual([]);
  });

  it.each(pages)('%s has no comment that looks like a marker and is none', (_page, text) => {
    const markers = text
      .split('\n')
      .filter((line) => /^<!-- (?:not run|run|call|serve|script|ask|file|before)\b/.test(line));
    expect(markers.filter((line) => markerOf(line) === undefined)).toEqual([]);
    expect(blocksOf(text).filter(({ marker }) => marker !== undefined)).toHaveLength(markers.length);
  });
});

describe('markers', () => {
  const page = [
    'a',
    '<!-- run in=6.12 only=stdout: bmad doctor -->',
    '```',
    'one',
    '```',
    '',
    '```sh',
    'x',
    '```',
    '',
  ];

  it('belong to the block after them', () => {
    const [first, second] = blocksOf(page.join('\n'));
    expect(first).toMatchObject({
      start: 2,
      lines: ['one'],
      marker: { kind: 'run', sample: '6.12', text: 'bmad doctor' },
    });
    expect(first?.marker?.options.get('only')).toBe('stdout');
    expect(second).toMatchObject({ language: 'sh', lines: ['x'] });
    expect(second?.marker).toBeUndefined();
  });

  it('have a command, a reason or neither', () => {
    expect(markerOf('<!-- not run: needs Docker -->')).toMatchObject({ kind: 'not', text: 'needs Docker' });
    expect(markerOf('<!-- call -->')).toMatchObject({ kind: 'call', sample: 'empty', text: '' });
    expect(markerOf('<!-- figure: tools -->')).toBeUndefined();
  });

  it('are needed where a program answers, not where something is typed', () => {
    const outputs = (fence: string, line: string): boolean[] =>
      blocksOf(`\`\`\`${fence}\n${line}\n\`\`\``).map(isOutput);
    expect(outputs('', 'All is well.')).toEqual([true]);
    expect(outputs('sh', 'bmad doctor')).toEqual([false]);
    expect(outputs('sh', '$ bmad doctor')).toEqual([true]);
    expect(outputs('toml', 'a = 1')).toEqual([false]);
  });

  it('let a block be taken apart and put together', () => {
    const text = '<!-- call -->\n```\nbmad {operation:"next"}\n\n1. Do it\nrecall {}\n```\n';
    const [block] = blocksOf(text);
    if (block === undefined) throw new Error('There is no block.');
    expect(exchangesOf(block)).toEqual([
      { input: 'bmad {operation:"next"}', output: ['', '1. Do it'] },
      { input: 'recall {}', output: [] },
    ]);
    expect(withBlocks(text, new Map([[block, ['other', 'lines']]]))).toBe(
      '<!-- call -->\n```\nother\nlines\n```\n',
    );
  });
});

describe('what is shown', () => {
  it.each([
    ['the same lines', ['a', 'b'], ['a', 'b'], true],
    ['another line', ['a', 'b'], ['a', 'c'], false],
    ['a line too many', ['a'], ['a', 'b'], false],
    ['a gap', ['a', '…', 'd'], ['a', 'b', 'c', 'd'], true],
    ['a gap for nothing', ['a', '…'], ['a'], true],
    ['a gap that does not hold', ['a', '…', 'x'], ['a', 'b'], false],
    ['a line cut short', ['one two …'], ['one two three'], true],
    ['a line cut elsewhere', ['one too …'], ['one two three'], false],
    ['a size that is nearly right', ['~1000 tokens'], ['~1010 tokens'], true],
    ['a size that is wrong', ['~1000 tokens'], ['~1100 tokens'], false],
  ])('%s', (_name, shown, real, expected) => expect(agrees(shown, real)).toBe(expected));

  it('stays while it agrees', () => expect(brought(['a', '…'], ['a', 'b'])).toEqual(['a', '…']));

  it('keeps its gaps when it changes', () => {
    const shown = [
      'BMAD 0.1.0',
      'Project: /a (found)',
      '…',
      'Handshake: ok, 14 tools: bmad, …',
      'Problems: none',
    ];
    const real = [
      'BMAD 0.1.0',
      'Project: /b (found)',
      'Origins:',
      '- one',
      'Handshake: ok, 15 tools: bmad, log, x',
      'Problems: none',
      'All is well.',
    ];
    expect(brought(shown, real)).toEqual([
      'BMAD 0.1.0',
      'Project: /b (found)',
      '…',
      'Handshake: ok, 15 tools: bmad, …',
      'Problems: none',
      'All is well.',
    ]);
  });

  it('is all there is where nothing was left out', () =>
    expect(brought(['old'], ['first', 'second'])).toEqual(['first', 'second']));
});

describe('stand-ins', () => {
  const today = new Date().toISOString().slice(0, 10);
  const stamp = `${today.replaceAll('-', '')}-123456`;

  it('hide the machine and the moment, and lead back', () => {
    const standIns = new StandIns([['/tmp/x/home/ada', '/home/ada']]);
    const real = `bmad task approve task-${stamp}-abc123 --project /tmp/x/home/ada/shop`;
    const shown = standIns.shown(`${real} at ${today}T10:11:12.345Z on Node v24.1.0`);
    expect(shown).toMatch(
      /^bmad task approve task-20261115-090000-[0-9a-f]{6} --project \/home\/ada\/shop at 2026-11-15T09:00:00\.000Z on Node v20\.20\.2$/,
    );
    expect(standIns.real(shown.slice(0, shown.indexOf(' at ')))).toBe(real);
  });

  it('are the same for the same, and different for what differs', () => {
    const standIns = new StandIns([]);
    const [first, second] = [standIns.shown(`prd-${stamp}`), standIns.shown(`prd-${stamp.slice(0, -1)}7`)];
    expect(standIns.shown(`prd-${stamp}`)).toBe(first);
    expect(second).not.toBe(first);
  });

  it('leave other days alone', () =>
    expect(new StandIns([]).shown('2024-02-03T10:11:12Z prd-20240203-101112')).toBe(
      '2024-02-03T10:11:12Z prd-20240203-101112',
    ));
});

describe('what is typed', () => {
  it('is read as a shell reads it', () => {
    expect(wordsOf(`A=1 bmad code '"the disk" is' "a \\"b\\"" c\\ d # why`)).toEqual([
      'A=1',
      'bmad',
      'code',
      '"the disk" is',
      'a "b"',
      'c d',
    ]);
  });

  it('may be a call without quotes around names', () => {
    expect(callOf('run {action:"x: {y:1}", args:{a_b:[1,{c:true}]}}')).toEqual({
      tool: 'run',
      args: { action: 'x: {y:1}', args: { a_b: [1, { c: true }] } },
    });
    expect(callOf('{operation:"next"}').tool).toBe('bmad');
  });
});

describe('figures', () => {
  const figures = new Map([['tools', 1234]]);

  it('are put between their comments', () => {
    const text = 'Hosts see <!-- figure: tools -->9<!-- /figure --> tools.';
    expect(figuresBrought(text, figures)).toBe(
      'Hosts see <!-- figure: tools -->1,234<!-- /figure --> tools.',
    );
  });

  it('have to be measured', () => {
    expect(() => figuresBrought('<!-- figure: other -->9<!-- /figure -->', figures)).toThrow(
      /no figure "other"/,
    );
  });
});

describe('a page', () => {
  const run = (text: string): Promise<string> => pageBrought(text, new Map(), true);

  it('gets what the programs say today', async () => {
    const page =
      '<!-- run -->\n```\n$ bmad --version\n0.0.0\n```\n<!-- call -->\n```\n{operation:"list", query:"modules"}\n\n…\n1 module.\n```\n';
    expect(await run(page)).toMatch(
      /^<!-- run -->\n```\n\$ bmad --version\n\d+\.\d+\.\d+.*\n```\n<!-- call -->\n```\n\{operation.*\n\n…\n(?:- .*\n)?2 modules\. .*\n```\n$/,
    );
  });

  it('fails when a call in it fails', async () => {
    await expect(run('<!-- call -->\n```\n{operation:"read", agent:"nobody-at-all"}\n```\n')).rejects.toThrow(
      /nobody-at-all/,
    );
  });

  it('names the samples there are', async () => {
    await expect(run('<!-- run in=elsewhere: bmad doctor -->\n```\n```\n')).rejects.toThrow(
      /no sample "elsewhere"/,
    );
  });
});
