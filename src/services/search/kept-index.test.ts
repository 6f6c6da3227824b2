import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { cachedSearch } from '../../../tests/support/cached-search.ts';
import { makeReadOnly, smallDisk } from '../../../tests/support/disks.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { agentText, workflowText, writeTree } from '../../../tests/support/generated-tree.ts';

const NOTHING = { read: false, described: 0, embedded: 0 };

const WORDS =
  'risk story market design deploy review research budget data sprint flow agent theme handle work mark go'.split(
    ' ',
  );
/** A few hundred questions: words, pairs, beginnings, slips, names, and what nothing is about. */
const QUESTIONS = [
  ...WORDS,
  ...WORDS.flatMap((word, at) => WORDS.slice(at + 1).map((other) => `${word} ${other}`)),
  ...WORDS.map((word) => word.slice(0, 3)),
  ...WORDS.map((word) => `${word.slice(0, 2)}x${word.slice(2)}`),
  ...Array.from({ length: 30 }, (_, at) => `flow-${at}`),
  'zeppelin',
  '',
  '???',
  'je veux relire mon architecture',
  'what comes after the story',
  'Agent Mark 10',
];

let project = '';
let cache = '';
beforeAll(async () => {
  project = await temporaryFolder(afterAll);
  await writeTree(project, 30);
  await writeFiles(project, {
    '_bmad/bmm/agents/keeper.md': agentText('keeper', 'Keeps the zeppelin'),
    '_bmad/bmm/workflows/flow-1/workflow.md': workflowText('flow-1', 'Two sentences. Both about budgets.'),
  });
  cache = await temporaryFolder(afterAll);
});

const files = (): Promise<string[]> => readdir(join(cache, 'search'));

/** Asks until all is kept: what was written just now is not, as it may be written again in the same tick. */
async function keptNow(): Promise<void> {
  await expect
    .poll(async () => {
      const opened = await cachedSearch(project, cache);
      await opened.kept();
      return opened.made;
    })
    .toEqual(NOTHING);
}

/** What another process answers to some questions: with what is kept, and with nothing kept. */
async function bothAnswers(questions: readonly string[]): Promise<{ kept: unknown; fresh: unknown }> {
  const empty = await temporaryFolder(onTestFinished);
  const answers = async (from: string): Promise<unknown> => {
    const opened = await cachedSearch(project, from);
    const found: unknown[] = [];
    for (const question of questions) found.push(await opened.answer(question));
    await opened.kept();
    return found;
  };
  return { kept: await answers(cache), fresh: await answers(empty) };
}

describe('the index of a shelf', () => {
  it('is there for the next process, which makes nothing again and answers the same', async () => {
    await keptNow();
    const opened = await cachedSearch(project, cache);
    await opened.answer('budget');
    expect(opened.made).toEqual({ ...NOTHING, embedded: 1 });
    expect(await files()).toHaveLength(1);
    const { kept, fresh } = await bothAnswers(QUESTIONS);
    expect(QUESTIONS.length).toBeGreaterThan(200);
    expect(kept).toEqual(fresh);
  });

  it('is not used for anything but what it was made from', async () => {
    const menu = '_bmad/_config/agents/bmm-agent-10.customize.yaml';
    for (const edit of [
      () => writeFiles(project, { '_bmad/bmm/agents/agent-0.md': agentText('agent-0', 'Sails a schooner') }),
      () => writeFiles(project, { '_bmad/bmm/agents/mate.md': agentText('mate', 'Knows every schooner') }),
      () =>
        writeFiles(project, {
          [menu]: 'menu:\n  - trigger: sail\n    workflow: x\n    description: A schooner\n',
        }),
      () =>
        writeFiles(project, {
          '_bmad/bmm/workflows/flow-7/workflow.md': workflowText('flow-7', 'A schooner'),
        }),
      () => rm(join(project, '_bmad/bmm/workflows/flow-8'), { recursive: true }),
    ]) {
      await keptNow();
      await edit();
      const { kept, fresh } = await bothAnswers(['schooner', 'flow-8', 'go']);
      expect(kept).toEqual(fresh);
      expect(JSON.stringify(kept)).toContain('schooner');
    }
  });

  it('is gone on from, so that only what has changed is described, analysed and embedded again', async () => {
    for (const edit of [
      () => writeFiles(project, { '_bmad/bmm/agents/agent-0.md': agentText('agent-0', 'Flies a glider') }),
      () =>
        writeFiles(project, {
          '_bmad/bmm/workflows/flow-5/workflow.md': workflowText('flow-5', 'A glider'),
        }),
    ]) {
      await keptNow();
      await edit();
      const opened = await cachedSearch(project, cache);
      expect(JSON.stringify(await opened.answer('glider'))).toMatch(/agent-0|flow-5/);
      expect(opened.made.described).toBeLessThan(2);
      expect(opened.made.embedded).toBeLessThan(20);
      const { kept, fresh } = await bothAnswers([...WORDS, 'glider']);
      expect(kept).toEqual(fresh);
    }
  });

  it('is made again when it is damaged, cut off, empty, or of another version', async () => {
    await keptNow();
    const [name = ''] = await files();
    const path = join(cache, 'search', name);
    const whole = await readFile(path);
    const flipped = Buffer.from(whole);
    flipped[whole.length - 30] = (flipped[whole.length - 30] ?? 0) ^ 1;
    const older = Buffer.from(
      whole.toString('latin1').replace(/^bmad search \d+/, 'bmad search 0'),
      'latin1',
    );
    for (const damaged of [flipped, whole.subarray(0, -9), Buffer.alloc(0), older]) {
      await writeFile(path, damaged);
      const opened = await cachedSearch(project, cache);
      await opened.answer('budget');
      await opened.kept();
      expect(opened.made.described).toBeGreaterThan(0);
      expect(await readFile(path), 'it is made again').toEqual(whole);
    }
  });

  it('is done without where nothing can be written', async () => {
    const readOnly = await temporaryFolder(onTestFinished);
    const places = [join(project, '_bmad/bmm/config.yaml')];
    if (await makeReadOnly(readOnly, onTestFinished)) places.push(readOnly);
    const full = await smallDisk(4, onTestFinished);
    if (full !== undefined) places.push(full);
    for (const place of places) {
      const opened = await cachedSearch(project, place);
      expect(JSON.stringify(await opened.answer('flow-3'))).toContain('flow-3');
      await opened.kept();
    }
    if (full !== undefined)
      expect(await readdir(full, { recursive: true }), 'no half of a file stays').toEqual(
        expect.not.arrayContaining([expect.stringMatching(/\.tmp$/)]),
      );
  });
});
