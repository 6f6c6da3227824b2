import { mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { impl, ledger, story } from '../../../tests/support/progress-trees/pieces.ts';
import { KeptReport } from './report.ts';

const LEDGER = `${impl}/sprint-status.yaml`;
const rows = (key: string) => ledger({ 'epic-1': 'in-progress', [key]: 'backlog' });

/** A project, and what is kept of it some time after it was written, as its next reading sees it. */
async function project() {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, {
    [LEDGER]: rows('1-1-setup'),
    [`${impl}/1-1-setup.md`]: story('1.1', 'in-progress'),
  });
  await later(folder);
  vi.setSystemTime(Date.now() + 60_000);
  const kept = new KeptReport();
  const first = await kept.read(folder);
  expect(await kept.read(folder)).toBe(first);
  return { folder, kept, first };
}

/** Until the file system gives a change another time than the last one. */
async function later(folder: string): Promise<void> {
  const beside = `${folder}-clock`;
  onTestFinished(() => rm(beside, { force: true }));
  const time = async (): Promise<number> => {
    await writeFile(beside, '');
    return (await stat(beside)).ctimeMs;
  };
  const now = await time();
  while ((await time()) === now);
}

const ids = ({ items }: { items: readonly { kind: string; id: string }[] }): string[] =>
  items.filter(({ kind }) => kind === 'story').map(({ id }) => id);

describe('a report that is kept', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it('is read anew after an edit, a new file and a removed one', async () => {
    const { folder, kept } = await project();
    await writeFile(join(folder, LEDGER), rows('1-1-begin'));
    expect(ids(await kept.read(folder))).toContain('1-1-begin');
    await writeFiles(folder, { [`${impl}/1-2-login.md`]: story('1.2', 'backlog') });
    expect(ids(await kept.read(folder))).toContain('1-2-login');
    await rm(join(folder, `${impl}/1-2-login.md`));
    expect(ids(await kept.read(folder))).not.toContain('1-2-login');
  });

  it('is read anew after an edit that leaves the size and the time of writing as they were', async () => {
    const { folder, kept } = await project();
    const file = join(folder, LEDGER);
    const { size, atime, mtime, ino } = await stat(file);
    await utimes(file, atime, mtime);
    const first = await kept.read(folder);
    await later(folder);
    await writeFile(file, rows('1-1-begin'));
    await utimes(file, atime, mtime);
    expect(await stat(file)).toMatchObject({ size, mtime, ino });
    expect(ids(first)).toContain('1-1-setup');
    expect(ids(await kept.read(folder))).toContain('1-1-begin');
  });

  it('is not kept where a file was written so shortly before that another edit need not show', async () => {
    const { folder } = await project();
    const { ctimeMs } = await stat(join(folder, LEDGER));
    vi.setSystemTime(ctimeMs + 99);
    const kept = new KeptReport();
    const first = await kept.read(folder);
    expect(await kept.read(folder)).not.toBe(first);
    // A copy may have an old time of writing; what counts is when it was put there.
    await utimes(join(folder, LEDGER), 1, 1);
    await later(folder);
    vi.setSystemTime((await stat(join(folder, LEDGER))).ctimeMs + 99);
    const second = await kept.read(folder);
    expect(await kept.read(folder)).not.toBe(second);
  });

  it('is read anew when an install comes, or says otherwise where things are', async () => {
    const { folder, kept, first } = await project();
    expect(first.locations.v4).toBe(false);
    await mkdir(join(folder, '.bmad-core/agents'), { recursive: true });
    expect((await kept.read(folder)).locations.v4).toBe(true);
    await writeFiles(folder, { '_bmad/core/config.yaml': 'output_folder: "{project-root}/made"\n' });
    const installed = await kept.read(folder);
    expect(installed.locations.v4).toBe(false);
    expect(installed.locations.planning).toContain('made');
    // Some texts of BMAD write the name of the placeholder so, and people take it from there.
    await writeFiles(folder, { '_bmad/core/config.yaml': 'output_folder: "{project_root}/built"\n' });
    expect((await kept.read(folder)).locations.planning).toContain('built');
    await rm(join(folder, '_bmad'), { recursive: true });
    expect((await kept.read(folder)).locations.planning).not.toContain('made');
  });
});
