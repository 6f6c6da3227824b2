import { describe, expect, it } from 'vitest';
import { isListed } from '../../src/model/record.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { execute } from '../../src/operations/execute.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { testCall } from '../support/app.ts';
import { project } from '../support/install-project.ts';
import type { Version } from '../support/installs.ts';

/** What a call of the unified tool starts, and the whole text of its answer. */
async function started(version: Version, args: Record<string, unknown>) {
  const { ask } = await project(version);
  const { data, answer } = await ask(bmad, args);
  const { name } = data['result'] as { name: string };
  return { name, body: answer.body };
}

/** The error of a call that must fail. */
async function refused(version: Version, args: Record<string, unknown>) {
  const { context } = await project(version);
  const outcome = await execute(bmad, args, context, testCall());
  if (outcome.ok) throw new Error(`it succeeded: ${outcome.answer.body.slice(0, 300)}`);
  return outcome.error;
}

describe('M-36: the project’s generation comes first', () => {
  it.each([
    [{ command: '*create-prd' }, 'bmad-core/pm', '*create-prd'],
    [{ command: '*create-prd a shop for used books' }, 'bmad-core/pm', '*create-prd a shop for used books'],
    [{ command: '*help' }, 'bmad-core/bmad-orchestrator', '*help'],
    [{ command: '*review' }, 'bmad-core/qa', '*review'],
    [{ command: '*draft' }, 'bmad-core/sm', '*draft'],
    [{ command: '*party-mode' }, 'bmad-core/bmad-orchestrator', '*party-mode'],
    [{ command: '*shard-prd' }, 'bmad-core/pm', '*shard-prd'],
    [{ workflow: 'prd' }, 'bmad-core/pm', '*create-prd'],
    [{ workflow: 'bmad-prd' }, 'bmad-core/pm', '*create-prd'],
    [{ workflow: 'create-architecture' }, 'bmad-core/architect', '*create-full-stack-architecture'],
    [{ workflow: 'build', message: 'story 1.1' }, 'bmad-core/dev', '*develop-story story 1.1'],
    [{ command: '/bmad-help' }, 'bmad-core/bmad-orchestrator', '*help'],
  ])('4.44.3: %j is a command of %s', async (args, agent, said) => {
    const { name, body } = await started('4.44.3', args);
    expect(name).toBe(agent);
    expect(body.split('\n', 1)[0]).toContain('In BMAD 4.44.3, ');
    const [own = ''] = said.split(' ', 1);
    const other = Object.values(args).some((each) => each.startsWith(own)) ? '' : `${own}, `;
    expect(body.split('\n', 1)[0]).toContain(` is ${other}a command of the agent`);
    expect(body).toContain(`## Message from the user\n\n\`\`\`text\n${said}\n\`\`\``);
  });

  it('4.44.3: tasks of that version are started by their names, and what is asked for by its full name is given', async () => {
    expect((await started('4.44.3', { command: '*advanced-elicitation' })).name).toBe(
      'bmad-core/advanced-elicitation',
    );
    expect((await started('4.44.3', { workflow: 'create-story' })).name).toBe('bmad-core/create-next-story');
    const { name, body } = await started('4.44.3', { workflow: 'bmm/bmad-prd' });
    expect(name).toBe('bmm/bmad-prd');
    expect(body.split('\n', 1)[0]).toBe(
      'This comes from BMAD 6.12.0, which is built in; the project has BMAD 4.44.3.',
    );
  });

  it('a command that several agents have leads to each of them', async () => {
    const error = await refused('4.44.3', { command: '*create-epic' });
    expect(error.code).toBe('ambiguous');
    expect(error.suggestions).toEqual(['pm', 'po']);
    expect(error.steps.map(({ args }) => args)).toEqual([
      { name: 'pm', kind: 'agent', message: '*create-epic' },
      { name: 'po', kind: 'agent', message: '*create-epic' },
    ]);
  });

  it('whoever was started before', async () => {
    const { context } = await project('4.44.3');
    expect((await execute(bmad, { agent: 'po' }, context, testCall())).ok).toBe(true);
    const outcome = await execute(bmad, { command: '*create-epic' }, context, testCall());
    expect(outcome.ok ? '' : outcome.error.code).toBe('ambiguous');
  });

  it('what only the built-in version has says so in its first line', async () => {
    for (const [version, workflow] of [
      ['6.0.4', 'spec'],
      ['4.44.3', 'retrospective'],
    ] as const) {
      const { body } = await started(version, { workflow });
      expect(body.split('\n', 1)[0]).toBe(
        `This comes from BMAD 6.12.0, which is built in; the project has BMAD ${version}.`,
      );
    }
    expect((await started('6.12.0', { workflow: 'spec' })).body).toMatch(/^# /);
  });
});

describe('M-43: menu codes', () => {
  it.each([
    ['6.0.4', 'CP', 'bmm/create-prd'],
    ['6.0.4', 'CA', 'bmm/create-architecture'],
    ['6.0.4', 'BP', 'core/brainstorming'],
    ['6.0.0-alpha.22', 'DS', 'bmm/dev-story'],
    ['6.1.0', 'CP', 'bmm/create-prd'],
  ] satisfies [Version, string, string][])('%s: %s is %s', async (version, code, expected) => {
    for (const args of [{ workflow: code }, { command: code }, { command: `*${code}` }])
      expect((await started(version, args)).name).toBe(expected);
  });

  it.each<Version>(['6.0.0-Beta.5', '6.0.4', '6.2.0', '6.3.0', '6.5.0', '6.12.0'])(
    '%s: every entry of every menu can be asked for by its code',
    async (version) => {
      const { context, catalogue } = await project(version);
      const { delivery } = await context.workspace();
      const agents = catalogue.winners.filter((record) => record.kind === 'agent' && isListed(record));
      const codes = new Set<string>();
      for (const agent of agents)
        for (const { code } of (await delivery.profile(agent)).menu) codes.add(code.split(/\s/, 1)[0] ?? '');
      codes.delete('');
      expect(codes.size).toBeGreaterThan(5);
      const lost: string[] = [];
      for (const code of codes) {
        const outcome = await execute(
          activate,
          { name: code, kind: 'workflow', detail: 'brief' },
          context,
          testCall(),
        );
        if (!outcome.ok && outcome.error.code !== 'ambiguous') lost.push(`${code}: ${outcome.error.message}`);
      }
      expect(lost).toEqual([]);
    },
  );
});
