import { cp, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { getKnowledge } from '../../src/operations/catalogue/details.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { installOf } from '../support/installs.ts';
import { some, usually } from '../support/how-much.ts';

async function asked(operation: AnyOperation, input: Record<string, unknown>, context: Context) {
  const outcome = await execute(operation, input, context, testCall());
  if (!outcome.ok) throw new Error(outcome.error.text);
  return outcome;
}

async function copied(): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await cp(await installOf('6.0.0-alpha.7'), folder, { recursive: true });
  return folder;
}

const told = async (context: Context): Promise<string> => {
  const { answer } = await asked(doctor, { handshake: false }, context);
  return [answer.body, answer.note].join('\n');
};

it('knowledge of the project comes before what is built in under the same name (A-3)', async () => {
  const context = await contextIn(await installOf('6.0.0-alpha.7'));
  const { answer } = await asked(getKnowledge, { domain: 'architecture' }, context);
  for (const own of ['decision-catalog', 'architecture-patterns', 'pattern-categories'])
    expect(answer.body).toContain(`bmm/workflows/3-solutioning/architecture/${own}`);
  expect(answer.body).not.toContain('reviewer-gate');
});

describe('a customization in the home folder (A-5)', async () => {
  const home = await temporaryFolder(afterAll);
  const file = '_cfg/agents/bmm-architect.customize.yaml';
  await writeFiles(join(home, '.bmad'), {
    [file]:
      'agent:\n  metadata:\n    name: Vera\npersona:\n  role: Keeper of bridges\nmemories:\n  - Bridges first\n',
  });

  it('counts for an agent of a project that has none, once, and is explained', async () => {
    const folder = await copied();
    await rm(join(folder, 'bmad', file));
    const context = await contextIn(folder, { home });
    const { answer } = await asked(activate, { name: 'Vera', detail: 'full' }, context);
    expect(answer.body).toContain('Bridges first');
    expect(answer.body.split('<role>Keeper of bridges</role>')).toHaveLength(2);
    expect(answer.body).toContain(`${file}\` is merged into this file`);
    const { data } = await asked(explain, { target: 'bmm/architect' }, context);
    expect(data['layers']).toContainEqual(
      expect.objectContaining({
        key: 'persona.role',
        value: '"Keeper of bridges"',
        file: join(home, '.bmad', file),
        chosen: true,
      }),
    );
  });

  it('counts where the project’s is a template that says nothing, and not where it says something', async () => {
    const folder = await copied();
    expect(
      (await asked(activate, { name: 'architect' }, await contextIn(folder, { home }))).answer.body,
    ).toContain('Keeper of bridges');
    await writeFiles(join(folder, 'bmad'), { [file]: 'memories:\n  - Tunnels first\n' });
    const context = await contextIn(folder, { home });
    const { answer } = await asked(activate, { name: 'architect', detail: 'full' }, context);
    expect(answer.body).toContain('Tunnels first');
    expect(answer.body).not.toContain('Keeper of bridges');
    expect(answer.body).not.toContain('Vera');
    const { data } = await asked(explain, { target: 'bmm/architect' }, context);
    expect(data['layers']).toContainEqual(
      expect.objectContaining({ key: 'persona.role', file: join(home, '.bmad', file), chosen: false }),
    );
  });

  it('counts for a skill too, and is explained where it does not', async () => {
    const toml = 'custom/bmad-agent-architect.toml';
    const user = await temporaryFolder(afterAll);
    await writeFiles(join(user, '.bmad'), {
      [toml]: '[agent]\nname = "Vera"\nrole = "Keeper of bridges"\npersistent_facts = ["Bridges first"]\n',
    });
    const folder = await temporaryFolder(afterAll);
    await cp(await installOf('6.12.0'), folder, { recursive: true });
    const before = await contextIn(folder, { home: user });
    const { answer } = await asked(activate, { name: 'Vera', detail: 'full' }, before);
    expect(answer.body).toContain(`The user overrides the defaults in ${join(user, '.bmad', toml)}.`);
    expect(answer.body).toContain('Bridges first');
    await writeFiles(join(folder, '_bmad'), { [toml]: '[agent]\nrole = "Keeper of tunnels"\n' });
    const context = await contextIn(folder, { home: user });
    const own = await asked(activate, { name: 'architect', detail: 'full' }, context);
    expect(own.answer.body).toContain('Keeper of tunnels');
    expect(own.answer.body).not.toContain('Bridges first');
    expect(own.answer.body).not.toContain('Vera');
    const { data } = await asked(explain, { target: 'architect' }, context);
    const roles = (data['layers'] as { key: string; file: string; chosen: boolean }[]).filter(
      ({ key }) => key === 'agent.role',
    );
    expect(roles.map(({ file: from, chosen }) => [from, chosen])).toEqual([
      [join(user, '.bmad', toml), false],
      [expect.stringContaining('customize.toml'), false],
      [`_bmad/${toml}`, true],
    ]);
  });
});

describe('a workflow that somebody has added (A-6)', () => {
  const yaml = 'name: tidy\ndescription: Tidies up\n';

  it.each(some(1, ['md', 'xml']))('has the instructions.%s beside it', async (suffix) => {
    const folder = await copied();
    await writeFiles(join(folder, 'bmad/bmm/workflows/tidy'), {
      'workflow.yaml': yaml,
      [`instructions.${suffix}`]: 'Sweep the floor.\n',
    });
    const context = await contextIn(folder);
    const { answer } = await asked(activate, { name: 'tidy' }, context);
    expect(answer.body).toContain('Sweep the floor.');
    const { data } = await asked(list, { what: 'workflows', limit: 100 }, context);
    expect(JSON.stringify(data['items'])).toContain('tidy');
  });

  it('is named by the doctor where it is left out, with the reason', async () => {
    const folder = await copied();
    await writeFiles(join(folder, 'bmad/bmm/workflows/tidy'), { 'workflow.yaml': yaml });
    expect(await told(await contextIn(folder))).toContain(
      'bmm/workflows/tidy/workflow.yaml: left out: it names no instructions',
    );
  });

  it('is named where it has no name, whatever else it has', async () => {
    const folder = await copied();
    await writeFiles(join(folder, 'bmad/bmm'), {
      'workflows/nameless/workflow.yaml': 'description: Tidies up\n',
      'workflows/nameless/instructions.md': 'Sweep the floor.\n',
      'workflows/bare/workflow.md': '# Tidy\n',
      'workflows/blank/workflow.yaml': '',
    });
    const said = await told(await contextIn(folder));
    for (const file of ['nameless/workflow.yaml', 'bare/workflow.md', 'blank/workflow.yaml'])
      expect(said).toContain(`bmm/workflows/${file}: left out: it has no name`);
  });

  it.each(usually(['4.44.3', '6.0.0-alpha.7', '6.0.0-alpha.22', '6.0.4', '6.2.0', '6.12.0']))(
    'is nothing that the installer of %s would leave behind',
    async (version) => {
      expect(await told(await contextIn(await installOf(version)))).not.toContain('left out');
    },
  );
});

it('a file that is there and cannot be served is answered without the names of others (A-19)', async () => {
  const folder = await copied();
  await writeFiles(join(folder, 'bmad/bmm'), { 'large.md': 'x'.repeat(200_000) });
  await symlink('/etc/hostname', join(folder, 'bmad/bmm/link.md'));
  const context = await contextIn(folder, { env: { BMAD_MAX_FILE_BYTES: '100000' } });
  for (const target of ['bmad://bmm/large.md', 'bmad://bmm/link.md']) {
    const outcome = await execute(read, { target }, context, testCall());
    expect(outcome.ok ? outcome.answer.body : outcome.error.text, target).not.toContain('Did you mean');
    expect(outcome.ok, target).toBe(false);
  }
});

it('the doctor names what lies among the agents and is none', async () => {
  const folder = await copied();
  await writeFiles(join(folder, 'bmad/bmm/agents'), {
    'notes.md': '# Who does what\n',
    'forge.agent.yaml': 'agent:\n  metadata:\n    name: Forge\n',
  });
  const said = await told(await contextIn(folder));
  expect(said).toContain(
    'bmm/agents/notes.md: left out: it has neither an <agent> tag nor a table at the top',
  );
  expect(said).toContain('bmm/agents/forge.agent.yaml: left out: agents in YAML');
  const home = await temporaryFolder(afterAll);
  await writeFiles(home, {
    '.bmad/agents/bare.md': '# Bare\n',
    '.bmad/workflows/blank.md': '',
    '.bmad/notes.md': 'x',
  });
  const flat = await told(await contextIn(await temporaryFolder(afterAll), { home }));
  expect(flat).toContain('agents/bare.md: left out: it has no name and description at the top');
  expect(flat).toContain('workflows/blank.md: the file is empty');
  expect(flat).not.toContain('notes.md');
});

it('the doctor names an agent that has no persona (A-12)', async () => {
  const folder = await copied();
  await writeFiles(join(folder, 'bmad/bmm/agents'), { 'sm.md': '<agent id="x" name="Bob"></agent>\n' });
  expect(await told(await contextIn(folder))).toContain('bmm/agents/sm.md: it has no persona');
});
