import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { projectKey } from '../../base/files/paths.ts';
import { keepPrivate } from '../../base/files/file-modes.ts';
import type { DecidedKind, Decisions } from '../../model/memory.ts';
import { openDecisions } from './decisions.ts';

const YES = { kind: 'task', id: 't1', digest: 'aa', yes: true, by: 'Ada', via: 'terminal' } as const;

async function agreed(decisions: Decisions, kind: DecidedKind, id: string, digest: string): Promise<boolean> {
  const last = await decisions.last(kind, id);
  return last?.yes === true && last.digest === digest;
}

describe('decisions of people', () => {
  it('hold for exactly what was shown, in that project, and until another is made (X-09)', async () => {
    const state = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
    const decisions = openDecisions(state).of('/p/one');
    expect(await agreed(decisions, 'task', 't1', 'aa')).toBe(false);
    await decisions.decide(YES);
    expect(await agreed(decisions, 'task', 't1', 'aa')).toBe(true);
    expect(await agreed(decisions, 'task', 't1', 'bb')).toBe(false);
    expect(await agreed(decisions, 'delivery', 't1', 'aa')).toBe(false);
    expect(await agreed(openDecisions(state).of('/p/two'), 'task', 't1', 'aa')).toBe(false);
    // Another process reads what this one has appended, and the other way round.
    await openDecisions(state)
      .of('/p/one')
      .decide({ ...YES, yes: false });
    expect(await agreed(decisions, 'task', 't1', 'aa')).toBe(false);
    expect(await decisions.last('task', 't1')).toMatchObject({ by: 'Ada', yes: false });
    expect(await openDecisions(state).projects()).toEqual(['/p/one']);
  });

  it('are not taken from lines that are damaged or of another project', async () => {
    const state = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
    const book = openDecisions(state);
    await book.of('/p/one').decide(YES);
    await book.of('/p/two').decide({ ...YES, id: 't2' });
    const folder = join(state, 'decisions');
    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
    const [one = '', two = ''] = names.map((name) => join(folder, name));
    await appendFile(one, '{"kind":"task","id":"t1","digest"');
    await appendFile(one, `\n${await readFile(two, 'utf8')}`);
    expect(await agreed(book.of('/p/one'), 'task', 't1', 'aa')).toBe(true);
    expect(await agreed(book.of('/p/one'), 'task', 't2', 'aa')).toBe(false);
    await writeFile(one, 'nonsense\n');
    expect(await agreed(book.of('/p/one'), 'task', 't1', 'aa')).toBe(false);
  });

  it('are readable by the user alone', async () => {
    const state = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
    await keepPrivate([state]);
    await openDecisions(state)
      .of('/p/one')
      .decide({ ...YES, kind: 'source' });
    const { mode } = await stat(join(state, 'decisions', `${projectKey('/p/one')}.jsonl`));
    expect(process.platform === 'win32' ? 0 : mode & 0o077).toBe(0);
  });
});
