import type { openSync } from 'node:fs';
import type { open } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { delegateToAgent } from '../../src/operations/delegation/delegate-to-agent.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { getProjectContext } from '../../src/operations/project/project-context.ts';
import { configShow } from '../../src/operations/server/config-show.ts';
import type { Context } from '../../src/operations/context.ts';
import { namedOperation } from '../../src/operations/offers.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { done } from '../support/delegation-desk.ts';
import { writeFiles } from '../support/folders.ts';

const AGENT = `---
name: "stack"
---
\`\`\`xml
<agent id="stack.agent.yaml" name="Stack" title="Dev">
<activation><step n="1">Greet {user_name} in {communication_language}</step></activation>
<persona><role>Developer of {{project_name}}</role><identity>Works on {{project_name}} with {user_name}; {{backend_lang}}.</identity></persona>
</agent>
\`\`\`
`;

const KIT = {
  'project-context.yaml':
    'project:\n  name: "Demo Shop"\n  description: "Description courte"\nuser:\n  name: "Alice Martin"\n  language: "Français"\n  document_language: "Français"\n',
  '_bmad/_memory/config.yaml':
    'user_name: "Alice"\ncommunication_language: "Français"\ndocument_output_language: "English"\noutput_folder: "{project-root}/_sorties"\n',
  '_bmad/_config/custom/agents/stack.md': AGENT,
};

async function opened(files: Readonly<Record<string, string>>): Promise<Context> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return contextIn(folder);
}

async function answer(operation: AnyOperation | string, input: object, context: Context) {
  const found = typeof operation === 'string' ? await namedOperation(operation) : operation;
  return done(await execute(found, input, context, testCall()));
}

/** The files that are opened in the course of some work, in whichever of the two ways. */
async function openedWhile(work: () => Promise<unknown>): Promise<string[]> {
  const require = createRequire(import.meta.url);
  const files = require('node:fs/promises') as { open: typeof open };
  const blocking = require('node:fs') as { openSync: typeof openSync };
  const [real, realSync] = [files.open, blocking.openSync];
  const paths: string[] = [];
  const note = (path: unknown): number => paths.push(String(path).replaceAll('\\', '/'));
  files.open = (path, ...more) => {
    note(path);
    return real(path, ...more);
  };
  blocking.openSync = (path, ...more) => {
    note(path);
    return realSync(path, ...more);
  };
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    files.open = real;
    blocking.openSync = realSync;
    syncBuiltinESMExports();
  }
  return paths;
}

describe('M-21: the kit’s files are a layer of the configuration', () => {
  let context: Context;
  beforeAll(async () => {
    context = await opened(KIT);
  });

  it('starts its own agents and built-in ones with its user, language and name', async () => {
    const own = await answer('execute', { name: 'stack' }, context);
    expect(own.body).toContain('`{user_name}`: Alice Martin');
    expect(own.body).toContain('`{communication_language}`: Français');
    expect(own.body).toContain('`{project_name}`: Demo Shop');
    const built = await answer('execute', { name: 'pm', kind: 'agent' }, context);
    expect(built.body).toContain('`{user_name}`: Alice Martin');
    expect(built.body).toContain('`{communication_language}`: Français');
  });

  it('derives folders from its output folder', async () => {
    const { body } = await answer('read', { target: 'bmad://config/current' }, context);
    expect(body).toMatch(/output_folder: "?\{project-root\}\/_sorties/);
    expect(body).toMatch(/planning_artifacts: "?\{project-root\}\/_sorties\/planning-artifacts/);
    expect(body).toMatch(/- _bmad\/_memory\/config.yaml\n\s+- project-context.yaml/);
  });

  it('fills placeholders with one brace and with two, and leaves unknown ones as they are', async () => {
    const { body } = await answer(delegateToAgent, { agent_id: 'stack', task: 'x' }, context);
    expect(body).toContain('Developer of Demo Shop');
    expect(body).toContain('Works on Demo Shop with Alice Martin; {{backend_lang}}.');
  });

  it('names its language in briefs', async () => {
    const { body } = await answer(delegateToAgent, { agent_id: 'stack', task: 'x' }, context);
    expect(body).toContain('- Write your answer in Français, the language of this project.');
    const queued = await answer(
      'spawn_subagent_task',
      { agent: 'stack', task: 'x', output_key: 'k' },
      context,
    );
    const { task_id } = queued.data['task'] as { task_id: string };
    const shown = await answer('task_show', { task_id }, context);
    expect(shown.body).toContain('Write it in Français, the language of this project.');
    const bare = await opened({});
    const other = await answer(delegateToAgent, { agent_id: 'pm', task: 'x' }, bare);
    expect(other.body).not.toContain('the language of this project');
  });

  it('explains where each value is set, with its line', async () => {
    const { data } = await answer(explain, { target: 'user_name' }, context);
    expect(data['layers']).toEqual([
      { key: 'core.user_name', file: '_bmad/_memory/config.yaml', line: 1, value: '"Alice"', chosen: false },
      { key: 'core.user_name', file: 'project-context.yaml', line: 5, value: '"Alice Martin"', chosen: true },
    ]);
  });

  it('shows the same in the configuration and in the context of the project', async () => {
    const { data, body } = await answer(configShow, {}, context);
    expect(data['bmad']).toContainEqual({
      name: 'communication_language',
      value: 'Français',
      from: 'project-context.yaml:6',
    });
    expect(body).toContain('| project_name | Demo Shop | project-context.yaml:2 |');
    const about = await answer(getProjectContext, {}, context);
    expect(about.data).toMatchObject({
      project: { name: 'Demo Shop' },
      user: { name: 'Alice Martin', language: 'Français', document_language: 'Français' },
    });
    expect(about.data['project']).not.toMatchObject({ description: 'Description courte' });
  });

  it('is read once for all settings of an answer', async () => {
    const own = await opened(KIT);
    const paths = await openedWhile(() => answer(configShow, {}, own));
    expect(paths.filter((path) => path.endsWith('/project-context.yaml'))).toHaveLength(1);
    expect(paths.filter((path) => path.endsWith('/_memory/config.yaml'))).toHaveLength(1);
  });

  it('gives way to overrides of the project', async () => {
    const own = await opened({ ...KIT, '_bmad/custom/config.toml': '[core]\nuser_name = "Zoé"\n' });
    expect((await answer('execute', { name: 'stack' }, own)).body).toContain('`{user_name}`: Zoé');
    expect((await answer(getProjectContext, {}, own)).data['user']).toMatchObject({ name: 'Zoé' });
  });

  it('sees files that appear later, in a project that had none', async () => {
    const folder = await temporaryFolder(afterAll);
    const bare = await contextIn(folder);
    const start = async () => (await answer('execute', { name: 'pm', kind: 'agent' }, bare)).body;
    expect(await start()).not.toContain('Alice');
    await writeFiles(folder, { 'project-context.yaml': KIT['project-context.yaml'] });
    expect(await start()).toContain('Alice Martin');
  });

  it('takes what an installer left to be filled in for nothing', async () => {
    const own = await opened({
      'project-context.yaml': 'project:\n  name: "{{project_name}}"\nuser:\n  name: "—"\n',
    });
    expect((await answer(configShow, {}, own)).data['bmad']).toEqual([]);
  });
});

const CORE =
  '# CORE Module Configuration\nuser_name: Hélène\ncommunication_language: Français\ndocument_output_language: Français\noutput_folder: "{project-root}/_bmad-output"\n';

describe('M-38: one order of layers for all answers', () => {
  const install = {
    '_bmad/core/config.yaml': CORE,
    '_bmad/bmm/config.yaml': `project_name: Boutique\nuser_skill_level: expert\n${CORE}`,
    '_bmad/bmm/agents/pm.md': AGENT,
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - core\n  - bmm\n',
    '_bmad/_memory/config.yaml': 'user_name: Tester\ncommunication_language: English\n',
  };

  it('puts what the installer wrote before the file of the memory folder', async () => {
    const context = await opened(install);
    expect((await answer('execute', { name: 'bmm/pm' }, context)).body).toContain('`{user_name}`: Hélène');
    const { data } = await answer(getProjectContext, {}, context);
    expect(data).toMatchObject({
      project: { name: 'Boutique' },
      user: { name: 'Hélène', language: 'Français', skill_level: 'expert' },
    });
    const layers = (await answer(explain, { target: 'core.user_name' }, context)).data['layers'];
    expect(layers).toMatchObject([
      { file: '_bmad/_memory/config.yaml', line: 1, chosen: false },
      { file: '_bmad/core/config.yaml', line: 2, value: '"Hélène"', chosen: true },
    ]);
  });

  it('marks agents as missing only where they cannot be started', async () => {
    const context = await opened({
      ...install,
      '_bmad/_config/agent-manifest.csv':
        'name,displayName,title,icon,role,module,path\n"tech-writer","Paige","Writer","","","bmm","_bmad/bmm/agents/tech-writer/tech-writer.md"\n' +
        '"bmad-master","Master","Master","","","core","_bmad/core/agents/bmad-master.md"\n"gone","Gone","","","","bmm","_bmad/bmm/agents/gone.md"\n',
      '_bmad/bmm/agents/tech-writer/tech-writer.md': AGENT,
      '_bmad/core/agents/bmad-master.md': AGENT,
    });
    const { body } = await answer(getProjectContext, { section: 'agents' }, context);
    expect(body).toMatch(/^- tech-writer$/m);
    expect(body).toMatch(/^- bmad-master$/m);
    expect(body).toContain('- gone [not installed]');
  });

  it('puts the page about the project before the installer', async () => {
    const context = await opened({ ...install, 'project-context.yaml': KIT['project-context.yaml'] });
    const { data } = await answer(getProjectContext, {}, context);
    expect(data).toMatchObject({ project: { name: 'Demo Shop' }, user: { name: 'Alice Martin' } });
    const { body } = await answer(delegateToAgent, { agent_id: 'bmm/pm', task: 'x' }, context);
    expect(body).toContain('Works on Demo Shop with Alice Martin');
  });

  it('does the same for a configuration of 6.4 and later', async () => {
    const context = await opened({
      '_bmad/config.toml': '[core]\ncommunication_language = "Français"\n[modules.bmm]\nproject_name = "B"\n',
      '_bmad/config.user.toml': '[core]\nuser_name = "Hélène"\n',
      '_bmad/_memory/config.yaml': 'user_name: Tester\ncommunication_language: English\n',
    });
    const { data } = await answer(getProjectContext, {}, context);
    expect(data).toMatchObject({ project: { name: 'B' }, user: { name: 'Hélène', language: 'Français' } });
  });

  it('reaches a module whose code has a dot in it', async () => {
    const context = await opened({
      'project-context.yaml': KIT['project-context.yaml'],
      '_bmad/config.toml': '[modules."acme.shop"]\nuser_name = "Bob"\nproject_name = "B"\n',
    });
    const { body } = await answer('read', { target: 'bmad://config/current' }, context);
    expect(body).toMatch(/acme\.shop"?:\n\s+user_name: "?Alice Martin"?\n\s+project_name: "?Demo Shop/);
    expect(body).not.toMatch(/^\s+acme:/m);
    const { data } = await answer(explain, { target: 'modules.acme.shop.user_name' }, context);
    expect(data['layers']).toMatchObject([
      { file: '_bmad/config.toml', line: 2, value: '"Bob"', chosen: false },
      { file: 'project-context.yaml', line: 5, value: '"Alice Martin"', chosen: true },
    ]);
  });
});
