import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { shortName } from '../../src/model/record.ts';
import { activate, executeTask } from '../../src/operations/activation/activate.ts';
import { findAgentTool, listAgentTools } from '../../src/operations/activation/agent-tools.ts';
import { getWorkflowDetails, listWorkflows } from '../../src/operations/catalogue/details.ts';
import { explain } from '../../src/operations/catalogue/explain.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { findPrompt, listPrompts } from '../../src/operations/client/prompts.ts';
import { execute } from '../../src/operations/execute.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { project, projectAt } from '../support/install-project.ts';
import { installOf } from '../support/installs.ts';

const { ask, rows, catalogue, context } = await project('6.0.0-alpha.7');
const agents = catalogue.listed.filter(({ kind }) => kind === 'agent');

/** The five ways to write an agent that users of other servers know. */
const SPELLINGS = agents.flatMap((agent) => {
  const { moduleName: module, name, displayName = name } = agent;
  return [name, `${module}/${name}`, `${module}-${name}`, `${module}.${name}`, displayName].map(
    (spelling) => ({
      spelling,
      target: `${module}/${name}`,
    }),
  );
});

describe('the 19 agents of alpha.7, in 95 spellings (A-8)', () => {
  it('are started by each of them', async () => {
    expect([agents.length, SPELLINGS.length]).toEqual([19, 95]);
    for (const { spelling, target } of SPELLINGS)
      expect(
        (await ask(activate, { name: spelling, kind: 'agent', detail: 'brief' })).data['name'],
        spelling,
      ).toBe(target);
  });

  it('are found as prompts by each of them, and by bmad.name and bmad-name', async () => {
    const more = agents.flatMap(({ moduleName, name }) =>
      ['bmad.', 'bmad-'].map((prefix) => ({
        spelling: `${prefix}${shortName(name)}`,
        target: `${moduleName}/${name}`,
      })),
    );
    for (const { spelling, target } of [...SPELLINGS, ...more])
      expect((await ask(findPrompt, { name: spelling })).data['target'], spelling).toBe(target);
  });

  it('are tools under the names that other servers gave them', async () => {
    for (const { moduleName, name } of agents)
      expect((await ask(findAgentTool, { name: `${moduleName}-${name}` })).data['target'], name).toBe(
        `${moduleName}/${name}`,
      );
  });

  it('say in the description of their prompts who they are (A-18)', async () => {
    const prompts = await rows(listPrompts);
    expect(prompts.find(({ name }) => name === 'bmad-analyst')).toMatchObject({
      title: 'Mary, Business Analyst',
      description: 'Mary, Business Analyst',
    });
    const skills = await project('6.12.0');
    const mary = (await skills.rows(listPrompts)).find(({ name }) => name === 'bmad-analyst');
    expect(mary?.['description']).toMatch(/^Mary, Business Analyst: Business analyst for market research/);
  });
});

it('the 30 agents of 4.44.3 and its packs are prompts by the folders they are in, as other servers name them', async () => {
  const four = await project('4.44.3');
  const own = four.catalogue.listed.filter(
    ({ kind, origin }) => kind === 'agent' && origin.kind === 'project',
  );
  expect(own.length).toBeGreaterThanOrEqual(30);
  for (const { moduleName, name } of own) {
    const target = `${moduleName}/${name}`;
    for (const spelling of [`.${moduleName}.${name}`, `.${moduleName}/${name}`])
      expect((await four.ask(findPrompt, { name: spelling })).data['target'], spelling).toBe(target);
  }
});

it('the agents that do a workflow are named in lists, details, explain and at its start (A-9)', async () => {
  const workflows = await rows(list, {
    what: 'workflows',
    detail: 'full',
    module: 'bmm',
    category: 'planning',
  });
  const own = workflows.find(({ name }) => name === 'prd');
  expect(own?.['agents']).toEqual(['pm (John)']);
  const { data } = await ask(listWorkflows, { module: 'bmm' });
  expect(JSON.stringify(data)).toContain('"agents":["pm (John)"]');
  expect((await ask(getWorkflowDetails, { workflow_name: 'bmm/prd' })).data['agents']).toEqual(['pm (John)']);
  expect((await ask(explain, { target: 'bmm/prd' })).answer.body).toContain('In the menu of pm (John).');
  expect((await ask(activate, { name: 'bmm/prd' })).answer.body).toContain('\nIn the menu of pm (John).\n');
});

it('a task that is not there leads to the list of tasks (A-11)', async () => {
  const outcome = await execute(executeTask, { task_name: 'nope' }, context, testCall());
  expect(outcome.ok ? '' : outcome.error.textWith(toolCall)).toContain('List the tasks:');
});

it('the log names the file that is read, and from where (A-13)', async () => {
  const folder = await installOf('6.0.0-alpha.7');
  const logged = await contextIn(folder, { env: { BMAD_LOG_LEVEL: 'debug' } });
  await execute(read, { target: 'bmm/architect' }, logged, testCall());
  expect(logged.written.join('')).toContain(
    `reading file ${join(folder, 'bmad/bmm/agents/architect.md')} from Project`,
  );
});

it('an agent of a folder without modules has a tool bmad-{agent}, whatever the folder is called (A-17)', async () => {
  const home = await temporaryFolder(afterAll);
  await writeFiles(home, {
    '.bmad/agents/flatty.md':
      '---\nname: flatty\ndescription: Is flat\n---\n<agent name="Flo" title="Flat"></agent>\n',
  });
  const flat = await contextIn(await temporaryFolder(afterAll), { home, flags: { toolsets: ['agents'] } });
  const outcome = await execute(listAgentTools, {}, flat, testCall());
  expect(JSON.stringify(outcome.ok ? outcome.data : outcome.error.text)).toContain('"name":"bmad-flatty"');
});

describe('a workflow in two files', () => {
  it('is read with its instructions (B-11)', async () => {
    const { answer, data } = await ask(read, { target: 'bmm/dev-story', kind: 'workflow', detail: 'full' });
    const instructions = 'bmad://bmm/workflows/4-implementation/dev-story/instructions.md';
    expect(data['along']).toBe(instructions);
    expect(answer.body).toContain('name: dev-story');
    expect(answer.body).toContain(`----- ${instructions} -----`);
    expect(answer.body).toContain('# Develop Story - Workflow Instructions');
  });

  it('is not to be started where its instructions are missing (A-19)', async () => {
    const folder = await temporaryFolder(afterAll);
    await cp(await installOf('6.0.0-alpha.7'), folder, { recursive: true });
    await rm(join(folder, 'bmad/bmm/workflows/4-implementation/dev-story/instructions.md'));
    const { answer } = await (await projectAt(folder)).ask(activate, { name: 'bmm/dev-story' });
    expect(answer.body).toMatch(/^# dev-story .*\n\nHALT: this file cannot be followed\./);
    expect(answer.body).not.toContain('Start this workflow now');
  });
});
