import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { GRIMOIRE_FILES, NEW_MUSEUM } from '../../../tests/support/kit-trees.ts';
import { thrownBy } from '../../../tests/support/thrown.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import type { KitWithMemory } from '../kit.ts';
import { museumIn } from './museum.ts';
import { writeFailure, type NewFailure } from './museum-write.ts';

const NOW = new Date(2026, 10, 15, 9, 30);
const FAILURE: NewFailure = {
  title: 'Closed with\nred tests',
  category: 'CC-FAIL',
  severity: 'important',
  agent: 'dev',
  happened: 'the tests were red <!-- really',
  lesson: 'run them',
  rule: 'no done without a pass',
  tags: [],
  status: 'resolved',
};

async function museum(files: Readonly<Record<string, string>>): Promise<{
  kit: KitWithMemory;
  page(): Promise<string>;
  log(): Promise<string>;
}> {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, files);
  const kit = await kitIn(root);
  if (kit.memory === undefined) throw new Error('no memory folder');
  const memory = kit.memory;
  const read = (name: string): Promise<string> => readFile(join(memory, name), 'utf8').catch(() => '');
  return {
    kit: { ...kit, memory },
    page: () => read('failure-museum.md'),
    log: () => read('failure-museum.jsonl'),
  };
}

const inKit = (page: string): Record<string, string> => ({ '_bmad/_memory/failure-museum.md': page });

describe('writeFailure into a page', () => {
  it('puts it under its severity in the place of the placeholder, and changes nothing else', async () => {
    const { kit, page } = await museum(inKit(NEW_MUSEUM));
    expect(await writeFailure(kit, FAILURE, NOW)).toMatchObject({ added: true, notes: [] });
    expect(await page()).toBe(
      NEW_MUSEUM.replace(
        '*(Aucune erreur importante enregistrée)*',
        "### [2026-11-15] [dev] CC-FAIL — Closed with red tests\n**Ce qui s'est passé** : the tests were red &lt;!-- really\n**Leçon** : run them\n**Règle instaurée** : no done without a pass",
      ),
    );
  });

  it('puts a second one below the first, and the same one only once', async () => {
    const { kit, page } = await museum(inKit(NEW_MUSEUM));
    await writeFailure(kit, FAILURE, NOW);
    await writeFailure(kit, { ...FAILURE, title: 'Another one' }, NOW);
    const before = await page();
    expect(await writeFailure(kit, FAILURE, NOW)).toMatchObject({ added: false });
    expect(await page()).toBe(before);
    expect(museumIn(before, '').map(({ title, severity }) => [title, severity])).toEqual([
      ['Closed with red tests', 'important'],
      ['Another one', 'important'],
    ]);
  });

  it('keeps the line ends and the language of the file', async () => {
    const english =
      '# Museum\n\n## 🟡 Important failures\n\n## Critical failures\n\n### [2026-01-01] a\n**Root cause** : b\n';
    const { kit, page } = await museum(inKit(english.replaceAll('\n', '\r\n')));
    await writeFailure(kit, FAILURE, NOW);
    const text = await page();
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(text).toContain('**What happened** : ');
    expect(text.indexOf('red tests')).toBeLessThan(text.indexOf('Critical'));
  });

  it.each([
    ['an empty file', ''],
    ['a page without sections', '# Museum\n\nSome words of ours'],
  ])('makes the section in %s', async (_what, content) => {
    const { kit, page } = await museum(inKit(content));
    await writeFailure(kit, FAILURE, NOW);
    expect((await page()).startsWith(content)).toBe(true);
    expect(museumIn(await page(), '')).toMatchObject([{ severity: 'important', category: 'CC-FAIL' }]);
  });

  it('leaves a file in another encoding as it is', async () => {
    const { kit } = await museum(inKit('x'));
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(kit.memory, 'failure-museum.md'), Buffer.from([0x23, 0x20, 0xe9, 0x0a]));
    expect(await thrownBy(() => writeFailure(kit, FAILURE, NOW))).toMatchObject({ code: 'unavailable' });
    expect(await readFile(join(kit.memory, 'failure-museum.md'))).toEqual(
      Buffer.from([0x23, 0x20, 0xe9, 0x0a]),
    );
  });
});

describe('writeFailure into a log', () => {
  it('gives it the next number and makes the page anew below its own head', async () => {
    const { kit, page, log } = await museum(GRIMOIRE_FILES);
    const written = await writeFailure(kit, { ...FAILURE, severity: 'critical' }, NOW);
    expect(written).toMatchObject({ id: 'FM-003', added: true, notes: [] });
    const lines = (await log()).trimEnd().split('\n');
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({
      failure_id: 'FM-003',
      sequence: 3,
      severity: 'high',
      agents: ['dev'],
      tags: ['CC-FAIL'],
      status: 'resolved',
    });
    const text = await page();
    expect(text.startsWith('# Failure Museum\n\n> Un en-tête à garder.\n')).toBe(true);
    expect(museumIn(text, '').map(({ id }) => id)).toEqual(['FM-001', 'FM-002', 'FM-003']);
    await writeFailure(kit, { ...FAILURE, severity: 'critical' }, NOW);
    expect(await page()).toBe(text);
    expect((await log()).trimEnd().split('\n')).toHaveLength(3);
  });

  it('never writes over a page that a person has written', async () => {
    const own =
      '# Failure Museum\n\n## FM-001 — Échec 1\n- **Date**: 2026-03-01\n\nEt une remarque à la main.\n';
    const { kit, page, log } = await museum({
      ...GRIMOIRE_FILES,
      '_grimoire/_memory/failure-museum.md': own,
    });
    const { notes } = await writeFailure(kit, FAILURE, NOW);
    expect(notes).toEqual([expect.stringContaining('was left unchanged')]);
    expect(await page()).toBe(own);
    expect(await log()).toContain('FM-003');
  });

  it('never makes the page anew from a log that it cannot read whole', async () => {
    const name = '_grimoire/_memory/failure-museum.jsonl';
    const { kit, page } = await museum({ ...GRIMOIRE_FILES, [name]: `${GRIMOIRE_FILES[name] ?? ''}{half` });
    const { notes } = await writeFailure(kit, FAILURE, NOW);
    expect(notes.join()).toContain('is not valid JSON');
    expect(await page()).toBe(GRIMOIRE_FILES['_grimoire/_memory/failure-museum.md']);
  });

  it('completes the page when an attempt before it ended between the two files', async () => {
    const { kit, page } = await museum(GRIMOIRE_FILES);
    expect(museumIn(await page(), '')).toHaveLength(1);
    await writeFailure(kit, FAILURE, NOW);
    expect(museumIn(await page(), '')).toHaveLength(3);
  });

  it('begins a log in a project that has neither', async () => {
    const { kit, page, log } = await museum({ '_grimoire/_memory/decisions-log.md': '' });
    expect(await writeFailure(kit, FAILURE, NOW)).toMatchObject({ id: 'FM-001' });
    expect((await log()).trimEnd().split('\n')).toHaveLength(1);
    expect(museumIn(await page(), '')).toMatchObject([{ id: 'FM-001', rule: 'no done without a pass' }]);
  });
});
