import { execFileSync } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { runCompletionContract } from '../completion/completion.ts';
import { memoryForget, memoryStatus } from '../memory/memory-operations.ts';
import { doctor } from '../server/doctor.ts';
import { projectState } from './state.ts';
import { stateShare } from './state-sharing.ts';

const LINES = '_bmad/_memory/.bmad-memory';

const git = ({ folder }: MemorySession, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null' },
  });

const seen = (session: MemorySession): string[] =>
  git(session, 'status', '--porcelain', '-uall')
    .split('\n')
    .map((line) => line.slice(3));

async function used(): Promise<MemorySession> {
  const home = await temporaryFolder(onTestFinished);
  const session = await memorySession(onTestFinished, { home });
  git(session, 'init', '-q');
  git(session, 'add', '-A');
  git(session, 'commit', '-qm', 'start');
  await session.remember('decisions', 'architect', 'Orders are kept in PostgreSQL');
  const id = await session.remember('decisions', 'architect', 'Carts are kept in Redis');
  await session.ok(memoryForget, { id });
  await session.ok(runCompletionContract);
  return session;
}

describe('state share', () => {
  it('shows git the lines and nothing else, says what others will see, and takes it back', async () => {
    const session = await used();
    const ofMemories = (): string[] => seen(session).filter((path) => path.includes('.bmad-memory'));
    expect(ofMemories()).toEqual([]);
    expect((await session.ok(memoryStatus)).answer.body).toContain('private, git ignores them');
    const shared = await session.ok(stateShare);
    expect(shared.data).toMatchObject({
      shared: true,
      changed: true,
      folder: LINES,
      memories: 1,
      forgotten: 1,
    });
    expect(shared.answer.body).toMatch(/others see 1 memory .* who wrote them, and when/);
    expect(shared.answer.body).toContain('the text of 1 forgotten memory');
    expect(ofMemories()).toEqual([expect.stringMatching(/\/\d{4}-\d\d-\d\d\/[\w-]+\.jsonl$/)]);
    expect(seen(session).filter((path) => path.includes('receipts'))).toEqual([]);
    expect((await session.ok(memoryStatus)).answer.body).toContain('shared, git sees them');
    expect((await session.ok(doctor, { handshake: false })).answer.body).toContain(
      'Memories: shared, git sees them',
    );
    expect((await session.ok(projectState)).data['parts']).toContainEqual(
      expect.objectContaining({ part: 'memories', shared: true }),
    );
    // The next lines keep to the choice, and to say it twice changes nothing.
    await session.remember('decisions', 'dev', 'Prices are in cents');
    expect((await session.ok(stateShare)).data).toMatchObject({ shared: true, changed: false });
    expect((await session.ok(stateShare, { off: true })).data).toMatchObject({
      shared: false,
      changed: true,
    });
    expect(ofMemories()).toEqual([]);
    expect(await readFile(join(session.folder, LINES, '.gitignore'), 'utf8')).toBe('# private\n*\n');
  });

  it('before anything was remembered holds for the first lines too', async () => {
    const session = await memorySession(onTestFinished);
    git(session, 'init', '-q');
    expect((await session.ok(stateShare)).data).toMatchObject({ changed: true, memories: 0 });
    await session.remember('decisions', 'dev', 'Prices are in cents');
    expect(seen(session).filter((path) => path.includes('.bmad-memory'))).toHaveLength(1);
  });

  it('is a choice that is known as one, also to keep them private', async () => {
    const session = await used();
    const chosen = async (): Promise<boolean> =>
      (await readFile(join(session.folder, LINES, '.gitignore'), 'utf8')) !== '*\n';
    expect(await chosen()).toBe(false);
    expect((await session.ok(stateShare, { off: true })).data).toMatchObject({
      shared: false,
      changed: false,
    });
    expect(await chosen()).toBe(true);
    expect(seen(session).filter((path) => path.includes('.bmad-memory'))).toEqual([]);
    expect((await session.ok(stateShare)).data).toMatchObject({ shared: true, changed: true });
    expect(await chosen()).toBe(true);
  });

  it('says where memories are that no git sees', async () => {
    const home = await temporaryFolder(onTestFinished);
    const session = await memorySession(onTestFinished, { home, files: {} });
    expect((await session.fail(stateShare)).text).toContain('kept in your user folder');
  });
});

describe('memory status', () => {
  it('after git clean says that the lines are in the mirror only', async () => {
    const session = await used();
    await rm(join(session.folder, LINES), { recursive: true });
    const { data, answer } = await session.ok(memoryStatus);
    expect(data).toMatchObject({ files: 0, memories: 1, forgotten: 1, mirror: { only: 1, files: 1 } });
    expect(answer.body).toMatch(/Lines: 0 files in .*\n.*Mirror: 1 file in .*; 1 of them only there/);
  });
});

describe('the doctor', () => {
  it('lists mirrors of projects that are gone, as a notice', async () => {
    const home = await temporaryFolder(onTestFinished);
    const gone = await memorySession(onTestFinished, { home });
    await gone.remember('decisions', 'dev', 'Prices are in cents');
    const here = await memorySession(onTestFinished, { home });
    expect((await here.ok(doctor, { handshake: false })).answer.body).not.toContain('which no longer exists');
    await rename(gone.folder, `${gone.folder}-elsewhere`);
    onTestFinished(() => rm(`${gone.folder}-elsewhere`, { recursive: true, force: true }));
    const { answer } = await here.ok(doctor, { handshake: false });
    expect(answer.body.match(/Notice: \S+mirror\S+ has lines of \S+, which no longer exists/g)).toHaveLength(
      1,
    );
  });
});
