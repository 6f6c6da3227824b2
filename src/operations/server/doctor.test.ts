import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { doctor } from './doctor.ts';
import { execute } from '../execute.ts';
import { DEFAULT_TOOLS } from '../../../tests/support/tool-names.ts';

describe('doctor', () => {
  it('finds nothing wrong with a fresh build, and shakes hands with it', async () => {
    const session = await openSession(afterAll);
    const { data, failed } = await session.ok(doctor);
    expect(failed).toBe(false);
    expect(data).toMatchObject({
      ok: true,
      project: { root: session.folder, from: 'the working directory' },
      modules: ['bmm 6.12.0', 'core 6.12.0'],
      origins: [
        { kind: 'package', priority: 9, agents: 5, workflows: 22, tasks: 0, skills: 2, deprecated: 21 },
      ],
      problems: [],
      handshake: {
        ok: true,
        tools: [...DEFAULT_TOOLS],
        protocol: '2025-06-18',
      },
    });
  });

  it("finds what is broken in the project's own overrides", async () => {
    const session = await openSession(afterAll);
    await mkdir(join(session.folder, '_bmad/custom'), { recursive: true });
    await writeFile(join(session.folder, '_bmad/custom/bmad-prd.toml'), '[workflow\n');
    await writeFile(join(session.folder, '_bmad/custom/bmad-prdd.user.toml'), '[workflow]\n');
    const { data, failed } = await session.ok(doctor, { handshake: false });
    expect(failed).toBe(true);
    expect(data['problems']).toEqual([
      expect.stringMatching(/^_bmad\/custom\/bmad-prd\.toml:1: /),
      '_bmad/custom/bmad-prdd.user.toml: nothing is named "bmad-prdd", so this file has no effect',
    ]);
  });

  it('names lines of the token file that do not count, to the one who keeps it alone', async () => {
    const folder = await temporaryFolder(afterAll);
    const file = join(folder, 'tokens');
    const context = await contextIn(folder, { flags: { httpTokenFile: file } });
    const findings = async (overHttp = false): Promise<unknown> => {
      const told = await execute(doctor, { handshake: false }, context, { ...testCall(), overHttp });
      return told.ok && told.data['findings'];
    };
    const about = 'tokens';
    expect(await findings()).toEqual([{ level: 'broken', about, text: `There is no file ${file}.` }]);
    await writeFile(
      file,
      'a-token-0123456789 raed\nb-token-0123456789 toolset=memroy\nc-token-0123456789 project=/gone/shop',
    );
    expect(await findings()).toEqual([
      { level: 'broken', about, text: `Lines of ${file} are not valid: 1, 2. The others count.` },
      { level: 'notice', about, text: `${file} names a missing project: /gone/shop.` },
    ]);
    expect(await findings(true)).toEqual([]);
    await writeFile(file, 'a-token-0123456789 read\n');
    expect(await findings()).toEqual([]);
  });

  it.each([
    [
      'prints something that is not the protocol',
      "process.stdin.resume(); console.log('hello'); setTimeout(() => process.exit(), 200)",
      'not JSON-RPC',
    ],
    ['ends at once', 'process.exit(3)', 'registered no tools'],
  ])('reports a server that %s', async (_what, script, trouble) => {
    const session = await openSession(afterAll, { serverCommand: [process.execPath, '-e', script] });
    const { data, failed, answer } = await session.ok(doctor);
    expect(failed).toBe(true);
    expect((data['handshake'] as { trouble: string }).trouble).toContain(trouble);
    expect(answer.body).toContain('Handshake: FAILED');
  });

  it('starts nothing for callers over HTTP, and refuses to when it is asked', async () => {
    const folder = await temporaryFolder(afterAll);
    const script = "require('node:fs').writeFileSync('started', '')";
    const context = await contextIn(folder, { serverCommand: [process.execPath, '-e', script] });
    const call = { ...testCall(), overHttp: true };
    const outcome = await execute(doctor, {}, context, call);
    expect(outcome).toMatchObject({ ok: true, data: { ok: true } });
    expect(await execute(doctor, { handshake: true }, context, call)).toMatchObject({
      ok: false,
      error: {
        code: 'forbidden',
        message: 'doctor with "handshake" runs programs, which you may not do over HTTP.',
      },
    });
    expect(await readdir(folder)).not.toContain('started');
    // The same server command does run where the caller is the user.
    await execute(doctor, {}, context, testCall());
    expect(await readdir(folder)).toContain('started');
  });
});
