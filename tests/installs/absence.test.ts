import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { getKnowledge, listTasks, listWorkflows } from '../../src/operations/catalogue/details.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { execute } from '../../src/operations/execute.ts';
import { resourceRead } from '../../src/surfaces/mcp/resources.ts';
import { installOf } from '../support/installs.ts';
import { openSession, saidIn, sessionIn } from '../support/operations.ts';
import { copyFolder } from '../support/folders.ts';
import { ofUsual } from '../support/how-much.ts';

const local = { flags: { discovery: 'local' } };

/** A copy of alpha.7 in which the manifest lists an agent whose file was deleted. */
const lost = (async () => {
  const folder = await temporaryFolder(afterAll);
  copyFolder(join(await installOf('6.0.0-alpha.7'), 'bmad'), join(folder, 'bmad'));
  await rm(join(folder, 'bmad/cis/agents/storyteller.md'));
  return sessionIn(folder, local);
})();

describe('M-14: what is absent is said as it is', () => {
  it('an empty folder has no content, and says nothing about versions', async () => {
    const { ok } = await openSession(afterAll, local);
    for (const what of ['tasks', 'agents', 'workflows', 'modules'] as const) {
      const { answer } = await ok(list, { what });
      expect(saidIn(answer)).toContain('No BMAD content was found: discovery is "local"');
      expect(saidIn(answer)).not.toContain('version of BMAD');
    }
    for (const operation of [listTasks, listWorkflows])
      expect((await ok(operation)).data['note']).toMatch(/^No BMAD content was found/);
  });

  it('a deleted file is missing, with where it was and how to get it back', async () => {
    const { fail, folder } = await lost;
    const error = await fail(activate, { name: 'storyteller' });
    expect(error.code).toBe('not_found');
    expect(error.text).toContain(
      `The file of cis/storyteller is missing: it was "${join(folder, 'bmad/cis/agents/storyteller.md')}".`,
    );
    expect(error.hint).toContain("Restore the file, or run BMAD's installer again.");
  });
});

describe('M-15: discovery leaves out what it says', () => {
  it.each(['local', 'user'])('%s neither fetches nor mentions git sources', async (discovery) => {
    const folder = await temporaryFolder(afterAll);
    const source = `git+file://${join(folder, 'team.git')}`;
    const context = await contextIn(folder, { flags: { discovery, git: source }, patient: true });
    expect((await context.workspace()).absent).toEqual([]);
    expect((await context.workspace()).warnings).toEqual([]);
    for (const [operation, input] of [
      [list, { what: 'agents' }],
      [doctor, {}],
    ] as const) {
      const outcome = await execute(operation, input, context, testCall());
      expect(JSON.stringify(outcome.ok ? [outcome.answer, outcome.data] : outcome.error)).not.toContain(
        'team.git',
      );
    }
    expect(context.written.join('')).not.toContain('team.git');
    context.close();
  });
});

describe('M-16: explain tells where it comes from', () => {
  it.each(
    ofUsual([
      ['6.0.0-alpha.7', 'bmad/core/config.yaml'],
      ['6.0.4', '_bmad/core/config.yaml'],
      ['6.3.0', '_bmad/core/config.yaml'],
      ['6.12.0', '_bmad/config.user.toml'],
    ] as const),
  )('core.user_name of %s by file and line', async (version, file) => {
    const { ok } = await sessionIn(await installOf(version));
    const { answer } = await ok(explain, { target: 'core.user_name' });
    expect(answer.body).toMatch(new RegExp(`in force\\*\\* core\\.user_name = "\\w+" — ${file}:\\d+`));
  });

  it('a record that only a manifest lists: no file found', async () => {
    const { ok } = await lost;
    const { data, answer } = await ok(explain, { target: 'storyteller' });
    expect(data['candidates']).toMatchObject([
      { name: 'cis/storyteller', status: 'no-file-found', chosen: false },
    ]);
    expect(answer.note).toContain('its file is missing');
  });

  it('with as many candidates as the log counts', async () => {
    const context = await contextIn(await installOf('6.0.4'), { flags: { logLevel: 'debug' } });
    for (const target of ['architect', 'bmm/analyst', 'prd']) {
      const outcome = await execute(explain, { target }, context, testCall());
      if (!outcome.ok) throw outcome.error;
      const candidates = outcome.data['candidates'] as { name: string }[];
      const line = context.written.findLast((each) => each.includes('candidate')) ?? '';
      expect(line, target).toContain(`found ${candidates.length} candidate`);
    }
  });
});

describe('M-17: errors about resources carry the address', () => {
  it('and name what can be read instead, for each kind of failure', async () => {
    const folder = await temporaryFolder(afterAll);
    copyFolder(join(await installOf('6.0.4'), '_bmad'), join(folder, '_bmad'));
    await writeFile(join(folder, '_bmad/core/large.md'), 'x'.repeat(200_000));
    await writeFile(join(folder, 'outside.md'), 'x');
    const cases = ['bmad://core/missing-file.yaml', 'bmad://core', 'bmad://core/large.md'];
    if (process.platform !== 'win32') {
      await symlink(join(folder, 'outside.md'), join(folder, '_bmad/core/link.md'));
      cases.push('bmad://core/link.md');
      if (process.getuid?.() !== 0) {
        await writeFile(join(folder, '_bmad/core/closed.md'), 'x');
        await chmod(join(folder, '_bmad/core/closed.md'), 0);
        cases.push('bmad://core/closed.md');
      }
    }
    const context = await contextIn(folder, { flags: { discovery: 'local', maxFileBytes: '100000' } });
    for (const uri of cases) {
      const error: unknown = await resourceRead(uri, context, testCall()).catch((thrown: unknown) => thrown);
      const { code, data } = error as {
        code: number;
        data: { uri: string; name?: string; suggestions?: string[] };
      };
      expect(code, uri).toBe(-32_602);
      expect(data.uri).toBe(uri);
      expect(data.name).toBeUndefined();
      // What exists and cannot be given is not a matter of its name.
      const isThere = /large|link|closed/.test(uri);
      expect((data.suggestions ?? []).length > 0, uri).toBe(!isThere);
      for (const suggestion of (data.suggestions ?? []).filter((each) => !cases.includes(each)))
        expect((await resourceRead(suggestion, context, testCall())).contents).toHaveLength(1);
    }
  });
});

describe('M-09: knowledge is described', () => {
  it.each([undefined, '6.0.0-alpha.7', '4.44.3'] as const)(
    'every fragment of every domain has a title and a sentence (%s)',
    async (version) => {
      const { ok, fail } =
        version === undefined ? await openSession(afterAll) : await sessionIn(await installOf(version));
      const listed = (await fail(getKnowledge, { domain: 'no such domain at all' })).hint ?? '';
      const domains = /Domains here: (.*?)(?: and \d+ more)?\.$/.exec(listed)?.[1]?.split(', ') ?? [];
      expect(domains.length).toBeGreaterThan(2);
      for (const domain of domains) {
        const { answer } = await ok(getKnowledge, { domain });
        for (const line of answer.body.split('\n').filter((each) => each.startsWith('- ')))
          expect(line, domain).toMatch(/^- \*\*.+?\*\* \S.*: \S.{4,}/);
      }
    },
  );

  it('an unknown domain is answered with the nearest and what it holds, testarch with its module', async () => {
    const { fail } = await openSession(afterAll);
    const near = await fail(getKnowledge, { domain: 'architectur' });
    expect(near.suggestions[0]).toBe('architecture');
    expect(near.hint).toMatch(/^architecture holds \S+/);
    // It is built in; where that is switched off, an install has to bring it along.
    const without = await openSession(afterAll, { flags: { modules: 'only' } });
    expect((await without.fail(getKnowledge, { domain: 'testarch' })).hint).toMatch(
      /comes with the module TEA/,
    );
    expect(getKnowledge.description).toContain('such as architecture');
  });

  it('a file by the folder of BMAD is the file', async () => {
    const { ok } = await openSession(afterAll);
    expect((await ok(read, { target: 'bmad://_bmad/core/module.yaml' })).answer.body).toContain('code: core');
  });
});
