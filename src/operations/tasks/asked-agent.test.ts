import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { done, failed } from '../../../tests/support/delegation-desk.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import type { Context } from '../context.ts';
import { delegateToAgent } from '../delegation/delegate-to-agent.ts';
import { activate } from '../activation/activate.ts';
import { type CallOutcome, execute } from '../execute.ts';
import { findPrompt } from '../client/prompts.ts';
import { getAgentMemory } from '../memory/get-agent-memory.ts';
import { memoryList } from '../memory/memory-operations.ts';
import { recallStructured } from '../memory/recall-structured.ts';
import { rememberStructured } from '../memory/remember.ts';
import type { AnyOperation } from '../operation.ts';
import { logHandoff } from '../project/logs.ts';
import { saveSession } from '../runs/run-operations.ts';
import { spawnSubagentTask } from './tasks.ts';
import { taskClaim } from './task-work.ts';

const SHARED = `# Contexte

## Équipe d'Agents Custom

| Agent | Nom | Icône | Domaine |
|---|---|---|---|
| data-steward | Iris | 📦 | Qualité des données |

## Requêtes inter-agents

- [ ] [stack→qa] tests E2E du panier
- [ ] [stack→audit-a11y] vérifier les contrastes
- [ ] [stack→?] à qui revient-il ?
`;

const stepsOf = (outcome: CallOutcome) => (outcome.ok ? (outcome.answer.steps ?? []) : []);

describe('M-22: agents known to the project or to any generation of BMAD', () => {
  let context: Context;
  const call = (operation: AnyOperation, input: object) => execute(operation, input, context, testCall());

  beforeAll(async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { ...KIT_FILES, '_bmad/_memory/shared-context.md': SHARED });
    context = await contextIn(folder);
  });

  it.each([
    ['qa', 'Quinn, QA Engineer (qa)', 'tests E2E du panier'],
    ['sm', 'Bob, Scrum Master (sm)', 'prepares stories'],
    ['tech-writer', 'Paige, Technical Writer (tech-writer)', 'Technical writer'],
    ['Tech Writer', 'Paige, Technical Writer (tech-writer)', 'Technical writer'],
    ['po', 'Sarah, Product Owner (po)', 'backlog'],
    ['data-steward', 'Iris (data-steward)', 'Qualité des données'],
    ['Iris', 'Iris (data-steward)', 'Qualité des données'],
    ['audit-a11y', 'audit-a11y (audit-a11y)', 'vérifier les contrastes'],
    ['architect', 'Winston, System Architect (architect)', 'architect'],
    ['atlas', 'Atlas, Navigator (project-navigator)', ''],
  ])('asks %s', async (agent, head, said) => {
    const { body } = done(await call(delegateToAgent, { agent_id: agent, task: 'Que faire ?' }));
    expect(body).toMatch(new RegExp(`^# Brief for ${head.replaceAll(/[()]/g, '\\$&')}\n`));
    expect(body).toContain(said);
  });

  it.each(['qa', 'tester', 'testeur', 'Quinn', 'bmm/qa', 'bmm-qa', 'bmm.qa'])(
    'is one agent by the name %s, whoever is asked (J-O4)',
    async (name) => {
      const started = done(await call(activate, { name, kind: 'agent' }));
      expect(started.data).toMatchObject({ name: 'qa', title: 'Quinn, QA Engineer' });
      const asked = done(await call(delegateToAgent, { agent_id: name, task: 'x' }));
      expect(asked.body).toContain('Quinn, QA Engineer (qa)');
      expect(done(await call(getAgentMemory, { agent: name })).data['agents']).toEqual(['qa']);
    },
  );

  it('starts one without a file as one with a file is started: values, message, and what is open (J-O4)', async () => {
    const message = 'Écris les tests';
    const { body } = done(await call(activate, { name: 'qa', kind: 'agent', message }));
    expect(body).toMatch(
      /^# Quinn, QA Engineer \(agent qa\)\n\nBecome this agent now, following the text below, and stay in character until the user dismisses it\.\n\n- qa has no file here; its persona is that of BMAD 4 and 6\.0 to 6\.2\.\n\n## Message from the user\n\n```text\nÉcris les tests\n```\n\nAsked of you and still open:\n- (R-[\da-f]{8}), asked by stack: tests E2E du panier\nOnce \1 is done: .*complete_handoff.*\1.*\n\n## Values\n\n/,
    );
    expect(body).toContain('- `{user_name}`: Ada Field\n');
    expect(body).toContain('- `{communication_language}`: ');
    expect(body.match(/tests E2E du panier/g)).toHaveLength(1);
  });

  it('queues work for an agent of a module that lists leave out', async () => {
    const order = { agent: 'tea', task: 'x', output_key: 'for-tea' };
    expect(done(await call(spawnSubagentTask, order)).body).toContain('tea');
  });

  it('says where the persona of an agent without a file comes from', async () => {
    const { data } = done(await call(delegateToAgent, { agent_id: 'sm', task: 'x' }));
    expect(data['notes']).toEqual(['sm has no file here; its persona is that of BMAD 4 and 6.0 to 6.2.']);
    const own = done(await call(delegateToAgent, { agent_id: 'audit-a11y', task: 'x' }));
    expect(own.data['notes']).toEqual([
      "audit-a11y has no file; its persona comes from what the project's files say about it.",
    ]);
  });

  it('queues work for them, which they claim by the same name', async () => {
    const queued = done(
      await call(spawnSubagentTask, { agent: 'Quinn', task: 'Écrire les tests', output_key: 'e2e' }),
    );
    expect(queued.data['task']).toMatchObject({ agent: 'qa' });
    expect(queued.body).toContain('qa has no file here');
    const claimed = done(await call(taskClaim, { agent: 'qa' }));
    expect(claimed.body).toContain('# Task for Quinn (QA Engineer)');
    expect(claimed.body).toContain('Asked of you and still open: tests E2E du panier');
  });

  it('tells what they have learnt', async () => {
    for (const agent of ['qa', 'sm', 'tech-writer', 'data-steward'])
      expect(done(await call(getAgentMemory, { agent })).data).toMatchObject({
        agents: [agent],
        learnings: [],
      });
    done(await call(rememberStructured, { type: 'agent-learnings', agent: 'sm', text: 'Stories courtes' }));
    expect(done(await call(getAgentMemory, { agent: 'sm' })).body).toContain('Stories courtes');
  });

  it('asks one of whom only memories are left', async () => {
    done(await call(rememberStructured, { type: 'decisions', agent: 'oracle', text: 'Kafka est retenu' }));
    const { data } = done(await call(delegateToAgent, { agent_id: 'oracle', task: 'x' }));
    expect(data).toMatchObject({ agent: 'oracle' });
  });

  it('starts the agent with the very call that a claimed task proposes (B-04)', async () => {
    for (const agent of ['qa', 'sm', 'tech-writer', 'audit-a11y']) {
      done(await call(spawnSubagentTask, { agent, task: 'x', output_key: `start-${agent}` }));
      const steps = stepsOf(await call(taskClaim, { agent }));
      const start = steps.find(({ operation }) => operation === 'execute');
      expect(done(await call(activate, start?.args ?? {})).data).toMatchObject({
        name: agent,
        kind: 'agent',
      });
    }
  });

  it.each(['qa', 'tester', 'testeur', 'Quinn', 'bmm/qa', 'bmm-qa', 'bmm.qa', "l'ingénieure qualité"])(
    'logs, remembers and recalls under one name, given %s (J-O4, A-8)',
    async (name) => {
      const summary = `Vérifier ${name}`;
      const handed = done(await call(logHandoff, { from: 'Winston', to: name, summary }));
      expect(handed.data['text']).toBe(`architect → qa: ${summary}`);
      expect(done(await call(saveSession, { agent: name, work: ['x'] })).data['text']).toMatch(/^qa, /);
      const text = `Un essai par ${name.replaceAll(/\W/gu, '_')}`;
      done(await call(rememberStructured, { type: 'agent-learnings', agent: name, text }));
      for (const agent of ['qa', 'testeuse', 'bmm/qa']) {
        const found = done(await call(recallStructured, { query: text, agent, limit: 20 })).data['hits'];
        expect(found).toContainEqual(expect.objectContaining({ snippet: text }));
        expect(done(await call(memoryList, { agent })).body).toContain(text);
      }
    },
  );

  it('writes of its own agents under the names of their files, and finds them by any', async () => {
    for (const name of ['atlas', 'Atlas', 'project-navigator', 'project-knowledge'])
      expect(
        done(await call(logHandoff, { from: 'stack', to: name, summary: `Pour ${name}` })).data['text'],
      ).toBe(`fullstack-dev → project-navigator: Pour ${name}`);
    const { data } = done(await call(getAgentMemory, { agent: 'project-knowledge' }));
    expect(data).toMatchObject({ agents: ['project-navigator'] });
    expect(JSON.stringify(data)).toContain('monorepo');
  });

  it('logs for agents that are new, and refuses what cannot be a name', async () => {
    const { data } = done(await call(logHandoff, { from: 'dev', to: 'night-watch', summary: 'Veiller' }));
    expect(data['text']).toBe('dev → night-watch: Veiller');
    expect(failed(await call(logHandoff, { from: 'dev', to: '../x', summary: 'y' })).code).toBe(
      'invalid_input',
    );
  });

  it('tells an agent of everything that it remembers, by whatever it is asked (B-05)', async () => {
    done(await call(rememberStructured, { type: 'decisions', agent: 'forge', text: 'JWT sans état' }));
    expect(done(await call(getAgentMemory, { agent: 'forge', query: 'JWT' })).body).toContain(
      '[decisions] JWT sans état',
    );
    const none = await call(getAgentMemory, { agent: 'forge' });
    expect(done(none).body).toBe('forge: no learnings yet.');
    expect(stepsOf(none)[0]).toMatchObject({ operation: 'recall_structured', args: { agent: 'forge' } });
  });

  it.each(['qa', 'tester', 'Quinn', 'sm'])('is a prompt as well, by the name %s', async (name) => {
    expect(done(await call(findPrompt, { name })).data).toMatchObject({ kind: 'agent' });
  });

  it('suggests agents only', async () => {
    for (const [operation, input] of [
      [delegateToAgent, { agent_id: 'tech-witer', task: 'x' }],
      [spawnSubagentTask, { agent: 'tech-witer', task: 'x', output_key: 'k' }],
      [getAgentMemory, { agent: 'tech-witer' }],
    ] as const) {
      const error = failed(await call(operation, input));
      expect(error).toMatchObject({ code: 'not_found', suggestions: ['tech-writer'] });
      expect(error.message).toBe('There is no agent "tech-witer".');
    }
    // A workflow of that name is none.
    const error = failed(await call(delegateToAgent, { agent_id: 'index-docs', task: 'x' }));
    expect(error.suggestions).toEqual([]);
    expect(error.hint).toMatch(/^Agents: /);
  });
});
