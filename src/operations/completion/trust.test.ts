import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, homeBeside, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { allowed, contractSession, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import type { Session } from '../../../tests/support/operations.ts';
import type { Confirmed, ConfirmRequest } from '../context.ts';
import { execute } from '../execute.ts';
import { runCompletionContract } from './completion.ts';
import { trust } from './trust.ts';

const SCRIPT = 'touch "$PWD/ran"; echo "CC PASS — [go] — 2026-01-01 00:00:00"\n';
const FILES = { [SCRIPT_PATH]: SCRIPT, '.gitignore': 'ran\n' };

/** A project that somebody has just cloned. */
const cloned = (
  files: Record<string, string> = FILES,
  flags: Record<string, string> = {},
): Promise<Session> => contractSession(onTestFinished, files, { flags: { trustProject: 'false', ...flags } });

const ran = ({ folder }: Session): boolean => existsSync(join(folder, 'ran'));

describe("a project's programs", () => {
  it('do not run before a person has allowed them (S-12)', async () => {
    const session = await cloned();
    const error = await session.fail(runCompletionContract);
    expect(error.code).toBe('forbidden');
    expect(error.message).toMatch(/^NOT_VERIFIED: .* have not been allowed to run on this machine/);
    expect(error.steps).toMatchObject([{ operation: 'trust', args: { folder: session.folder } }]);
    expect(ran(session)).toBe(false);
    expect(existsSync(join(session.folder, '_bmad-output'))).toBe(false);
  });

  it('run once allowed, until the script changes (S-12)', async () => {
    const session = await cloned();
    const { data } = await allowed(session);
    expect(data).toMatchObject({ outcome: 'trusted', root: session.folder });
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    expect(ran(session)).toBe(true);
    await writeFile(join(session.folder, SCRIPT_PATH), `${SCRIPT}# more\n`);
    const error = await session.fail(runCompletionContract);
    expect(error.message).toContain(`has changed since it was allowed (${SCRIPT_PATH})`);
    await allowed(session);
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
  });

  it('of a package run until its scripts change, whatever else does (S-12)', async () => {
    const manifest = (test: string, more: object = {}): string =>
      JSON.stringify({ ...more, scripts: { test } });
    const session = await cloned({ 'package.json': manifest('node -e 0') });
    const place = join(session.folder, 'package.json');
    expect((await session.fail(runCompletionContract)).code).toBe('forbidden');
    await allowed(session);
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    await writeFile(place, manifest('node -e 0', { version: '2.0.0' }));
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    await writeFile(place, manifest('touch ran'));
    expect((await session.fail(runCompletionContract)).message).toContain('(package.json)');
    await writeFile(place, manifest('node -e 0'));
    await writeFile(join(session.folder, '.npmrc'), 'script-shell=./evil.sh\n');
    expect((await session.fail(runCompletionContract)).message).toContain('(.npmrc)');
    expect(ran(session)).toBe(false);
  });

  it('of a folder with scripts of its own are allowed on their own (S-12)', async () => {
    const script = JSON.stringify({ scripts: { test: 'node -e 0' } });
    const session = await cloned({ 'package.json': script, 'api/package.json': script });
    await allowed(session);
    const error = await session.fail(runCompletionContract, { working_dir: 'api' });
    expect(error.steps[0]?.args).toEqual({ folder: session.folder, working_dir: 'api' });
    await allowed(session, { working_dir: 'api' });
    expect((await session.ok(runCompletionContract, { working_dir: 'api' })).data['status']).toBe('PASS');
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
  });

  it.skipIf(process.platform === 'win32')(
    'do not stand for others that nobody was shown (S-12)',
    async () => {
      const session = await cloned();
      const pytest = async (folder: string): Promise<void> => {
        await writeFiles(join(session.folder, folder), {
          'pyproject.toml': '',
          '.venv/bin/pytest': `#!/bin/sh\ntouch "${session.folder}/ran"\n`,
        });
        await chmod(join(session.folder, folder, '.venv/bin/pytest'), 0o755);
      };
      await allowed(session);
      await rm(join(session.folder, SCRIPT_PATH));
      await pytest('.');
      expect((await session.fail(runCompletionContract)).message).toContain(
        'has changed since it was allowed',
      );
      await allowed(session);
      await pytest('sub');
      expect((await session.fail(runCompletionContract, { working_dir: 'sub' })).code).toBe('forbidden');
      await writeFile(
        join(session.folder, '.venv/bin/pytest'),
        `#!/bin/sh\ntouch "${session.folder}/ran" && :\n`,
      );
      expect((await session.fail(runCompletionContract)).message).toContain('(.venv/bin/pytest)');
      expect(ran(session)).toBe(false);
    },
  );

  it('need no consent where there are none', async () => {
    const session = await cloned({ 'readme.md': '' });
    expect((await session.ok(runCompletionContract)).data['status']).toBe('NOT_VERIFIED');
    expect((await session.ok(trust)).data['outcome']).toBe('nothing_to_run');
  });

  it('do not run because a person was shown other ones while the call waited (S-12)', async () => {
    const session = await cloned();
    const context = await contextIn(session.folder, { env: { PATH: process.env['PATH'] } });
    const outcome = await execute(runCompletionContract, {}, context, {
      ...testCall(),
      async confirm() {
        await writeFile(join(session.folder, SCRIPT_PATH), `touch ran2\n${SCRIPT}`);
        return { yes: true };
      },
    });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'conflict' } });
    expect(await readdir(session.folder)).not.toContain('ran2');
    expect(ran(session)).toBe(false);
  });

  it.each([
    ['yes', { yes: true }, 1],
    ['no', { yes: false, why: 'the person who was asked said no' }, 2],
  ] as const)('are shown to the person who is asked: %s', async (_name, answer: Confirmed, times) => {
    const session = await cloned({
      ...FILES,
      'package.json': JSON.stringify({ scripts: { test: 'rm -rf \u001b[2K' } }),
    });
    const context = await contextIn(session.folder, { env: { PATH: process.env['PATH'] } });
    const asked: ConfirmRequest[] = [];
    const run = () =>
      execute(runCompletionContract, {}, context, {
        ...testCall(),
        confirm: async (request) => {
          asked.push(request);
          return answer;
        },
      });
    const outcome = await run();
    expect(outcome.ok).toBe(answer.yes);
    expect(asked[0]?.details).toContain(session.folder);
    expect(asked[0]?.details).toContain(`bash ${SCRIPT_PATH} .`);
    expect(asked[0]?.details).toContain(String.raw`test: rm -rf \u001b[2K`);
    expect(asked[0]?.details).toContain(SCRIPT.trimEnd());
    expect(asked[0]?.details).toContain(
      'Once allowed, any of the project’s own code can run with your rights',
    );
    // A yes is remembered, a no is not.
    await run();
    expect(asked).toHaveLength(times);
    expect(ran(session)).toBe(answer.yes);
  });
});

describe('the setting trust', () => {
  it.each([
    ['always', true],
    ['never', false],
    ['ask', false],
  ])('%s decides', async (rule, may) => {
    const session = await cloned(FILES, { trust: rule });
    if (may) expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    else expect((await session.fail(runCompletionContract)).code).toBe('forbidden');
    expect(ran(session)).toBe(may);
  });

  it('never beats what was allowed, and --trust-project', async () => {
    const session = await cloned(FILES, { trust: 'never', trustProject: 'true' });
    const { data } = await allowed(session);
    expect(data['notes']).toMatchObject([expect.stringContaining('never')]);
    expect((await session.fail(runCompletionContract)).hint).toContain('flag --trust');
  });

  it('names folders whose projects may', async () => {
    const [parent, other] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    const folder = join(parent, 'shop');
    await mkdir(folder);
    await writeFiles(folder, FILES);
    const attempt = async (value: string): Promise<boolean> => {
      const context = await contextIn(folder, {
        flags: { trust: value },
        env: { PATH: process.env['PATH'] },
      });
      return (await execute(runCompletionContract, {}, context, testCall())).ok;
    };
    // A name that begins alike is another folder.
    expect(await attempt([other, parent.slice(0, -1), `${folder}x`].join(delimiter))).toBe(false);
    expect(await attempt([other, parent].join(delimiter))).toBe(true);
  });

  it.each(['trust = "always"', 'trust_project = true'])(
    'is not taken from a project: %s (S-12)',
    async (line) => {
      const session = await cloned({ ...FILES, 'bmad-mcp.toml': `${line}\n` }, {});
      const context = await contextIn(session.folder, { env: { PATH: process.env['PATH'] } });
      expect(context.configWarnings.join()).toContain('is ignored in a project file');
      const outcome = await execute(runCompletionContract, {}, context, testCall());
      expect(outcome).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    },
  );

  it('is refused when it makes no sense', async () => {
    const folder = await temporaryFolder(onTestFinished);
    for (const trusted of ['sometimes', `always${delimiter}/somewhere`, 'relative/folder'])
      await expect(contextIn(folder, { flags: { trust: trusted } })).rejects.toThrow(/not valid for trust/);
  });
});

describe('trust', () => {
  it('shows what would run, and allows nothing where nobody can be asked', async () => {
    const session = await cloned();
    const { data, answer, failed } = await session.ok(trust);
    expect(data['outcome']).toBe('not_trusted');
    expect(failed).toBe(true);
    expect(answer.body).toContain(`bash ${SCRIPT_PATH} .`);
    expect(answer.body).toContain('touch "$PWD/ran"');
    const { digest } = data;
    expect(answer.steps).toMatchObject([
      { operation: 'trust', args: { folder: session.folder, yes: true, digest } },
    ]);
    expect((await session.fail(runCompletionContract)).code).toBe('forbidden');
  });

  it('lists and takes back what was allowed, also of a folder that is gone', async () => {
    const session = await cloned();
    expect((await session.ok(trust, { list: true })).data['records']).toEqual([]);
    expect((await session.fail(trust, { revoke: true })).code).toBe('not_found');
    await allowed(session);
    expect((await session.ok(trust)).data['outcome']).toBe('already_trusted');
    expect((await session.ok(trust, { list: true })).data['records']).toMatchObject([
      {
        root: session.folder,
        id: '.',
        via: 'flag',
        parts: { [SCRIPT_PATH]: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ]);
    await session.ok(trust, { revoke: true });
    expect((await session.fail(runCompletionContract)).code).toBe('forbidden');

    const gone = await temporaryFolder(onTestFinished);
    await writeFiles(gone, FILES);
    const home = homeBeside(session.folder);
    const there = await contextIn(gone, { home });
    expect(await execute(trust, { yes: true }, there, { ...testCall(), typed: true })).toMatchObject({
      ok: true,
    });
    await rm(gone, { recursive: true });
    expect((await session.ok(trust, { revoke: true, folder: gone })).data['root']).toBe(gone);
  });

  it.runIf(process.platform !== 'win32')(
    'keeps what was decided with the user, and takes it from no other file',
    async () => {
      const session = await cloned();
      await allowed(session);
      const folder = join(homeBeside(session.folder), '.local/state/bmad-mcp-server/decisions');
      const name = (await readdir(folder)).find((each) => each.endsWith('.jsonl'));
      const place = join(folder, name ?? '');
      expect((await stat(place)).mode & 0o077).toBe(0);
      const line = JSON.parse(await readFile(place, 'utf8')) as object;
      expect(line).toMatchObject({ kind: 'programs', id: '.', yes: true, via: 'flag', root: session.folder });
      // Of another project under this one's name, as after a collision of names.
      await writeFile(place, `${JSON.stringify({ ...line, root: '/elsewhere' })}\n`);
      expect((await session.fail(runCompletionContract)).code).toBe('forbidden');
      await writeFile(place, '{ not json\n');
      expect((await session.fail(runCompletionContract)).code).toBe('forbidden');
    },
  );
});
