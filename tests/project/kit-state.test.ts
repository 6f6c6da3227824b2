import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/operations/context.ts';
import { createDeliveryContract } from '../../src/operations/handover/handovers.ts';
import { execute } from '../../src/operations/execute.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { getFailureMuseum } from '../../src/operations/project/failures.ts';
import { getProjectContext } from '../../src/operations/project/project-context.ts';
import { listSessions } from '../../src/operations/runs/sessions.ts';
import { getWorkflowStatus } from '../../src/operations/runs/workflow-status.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { judge } from '../../src/services/completion/verdict.ts';
import { stacksIn } from '../../src/kit/stacks.ts';
import { findProject } from '../../src/sources/project-root.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { done } from '../support/delegation-desk.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';

interface Opened {
  folder: string;
  context: Context;
  ask(operation: AnyOperation, input?: object): Promise<ReturnType<typeof done>>;
}

async function opened(files: Readonly<Record<string, string>>): Promise<Opened> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder);
  return {
    folder,
    context,
    ask: async (operation, input = {}) => done(await execute(operation, input, context, testCall())),
  };
}

const checkup = (project: Opened) => project.ask(doctor, { handshake: false });

it('M-23: the folder of Grimoire marks a project, before the git repository around it', async () => {
  const folder = await temporaryFolder(afterAll);
  const project = join(folder, 'apps/shop');
  await mkdir(join(folder, '.git'));
  await mkdir(join(project, '_grimoire/_memory'), { recursive: true });
  await mkdir(join(project, 'src'));
  const found = await findProject({ cwd: join(project, 'src'), home: '/nowhere' });
  expect(found.root).toBe(project);
  expect(String(found.from)).toBe('the nearest folder with _grimoire');
});

describe('M-24: the doctor reads the project’s state', () => {
  const BROKEN =
    'project:\n  name: "Corner Shop"\nuser:\n  name: "Ada Field"\nagents: [one, two\nmemory: x\n';

  it('is content with a project that is whole', async () => {
    const { data } = await checkup(await opened(KIT_FILES));
    expect(data['ok']).toBe(true);
  });

  it('tells of an interrupted installation', async () => {
    const half = await opened({
      'project-context.yaml': '',
      '_bmad/_config/custom/agents/fullstack-dev.md':
        KIT_FILES['_bmad/_config/custom/agents/fullstack-dev.md'] ?? '',
      '_bmad/_memory/config.yaml': 'user_name: "Ada"\n',
    });
    const { data, body } = await checkup(half);
    expect(data['ok']).toBe(false);
    expect(body).toContain(
      'BROKEN: project-context.yaml is empty, probably because an installation was interrupted.',
    );
    expect(body).toContain('BROKEN: There is no _bmad/_memory/shared-context.md.');
  });

  it('tells of memories and runs that cannot be read', async () => {
    const project = await opened({
      ...KIT_FILES,
      '_bmad/_memory/memories.json': '[{"id": 1,',
      '_bmad-output/.runs/main/dev-story-1/state.json': '{"status": "run',
    });
    const { data, body } = await checkup(project);
    expect(data['ok']).toBe(false);
    expect(body).toContain('_bmad/_memory/memories.json was left unchanged: it is not valid JSON.');
    expect(body).toContain('1 run that cannot be read: _bmad-output/.runs/main/dev-story-1/state.json');
  });

  it('names file and line of a page that cannot be parsed, and says nothing of an empty one', async () => {
    const project = await opened({ ...KIT_FILES, 'project-context.yaml': BROKEN });
    const { body, data } = await checkup(project);
    expect(data['ok']).toBe(false);
    expect(body.match(/project-context\.yaml:6: /g)).toHaveLength(1);
    expect(body).not.toContain('project-context.yaml: project-context.yaml');
    const about = await project.ask(getProjectContext);
    expect(about.note).toMatch(/Warning: project-context\.yaml:6: /);
    expect(`${body}${about.note}`).not.toContain('is empty');
    expect(about.data).toMatchObject({ project: { name: 'Corner Shop' }, user: { name: 'Ada Field' } });
  });

  it('keeps the ids of memories when the page breaks', async () => {
    const project = await opened(KIT_FILES);
    const given = { type: 'decisions', agent: 'dev', text: 'NATS est retenu' };
    const before = (await project.ask(rememberStructured, given)).data;
    await writeFile(join(project.folder, 'project-context.yaml'), BROKEN);
    const again = await contextIn(project.folder);
    const after = done(await execute(rememberStructured, given, again, testCall())).data;
    expect(after).toMatchObject({
      outcome: 'unchanged',
      memory: { id: (before['memory'] as { id: string }).id },
    });
  });
});

describe('M-25: museum and sessions say what the files say', () => {
  const MUSEUM =
    '## 🔴 Critiques\n\n### [2026-02-10] [dev] CC-FAIL — Livré sans tests\n**Impact** : deux heures perdues\n**Règle instaurée** : tester\n\n' +
    '### [2026-02-11] [dev] HALLUCINATION — API inventée\n**Règle instaurée** : lire la doc\n';
  const run = (status: string, at: string, artefact?: string): string =>
    JSON.stringify({
      status,
      started_at: at,
      last_checkpoint: at,
      ...(artefact === undefined
        ? {}
        : { artefacts_produced: [{ step: 1, name: artefact, path: artefact }] }),
    });
  const FILES = {
    ...KIT_FILES,
    '_bmad/_memory/failure-museum.md': MUSEUM,
    '_bmad-output/.runs/main/branch.json': '{"branch":"main","status":"active"}',
    '_bmad-output/.runs/main/story-1/state.json': run('failed', '2026-03-01T10:00:00Z'),
    '_bmad-output/.runs/main/story-2/state.json': '{"status": "compl',
    '_bmad-output/.runs/archive/explore-graphql-20261114/branch.json':
      '{"branch":"explore-graphql","status":"active"}',
    '_bmad-output/.runs/archive/explore-graphql-20261114/spike-1/state.json': run(
      'completed',
      '2026-02-01T10:00:00Z',
    ),
  };
  let project: Opened;
  beforeAll(async () => {
    project = await opened(FILES);
  });

  it('shows the impact, and counts what was asked for', async () => {
    const { body, data } = await project.ask(getFailureMuseum, { category: 'CC-FAIL' });
    expect(body).toContain('impact: deux heures perdues');
    expect(body).toContain('1 failure (critical 1; CC-FAIL 1)');
    expect(body).not.toContain('lire la doc');
    expect(data).toMatchObject({ by_category: { 'CC-FAIL': 1 }, all_categories: { HALLUCINATION: 1 } });
    const none = await project.ask(getFailureMuseum, { category: 'ARCH-MISTAKE' });
    expect(none.body).toBe('None in this category; available: HALLUCINATION 1, CC-FAIL 1.');
  });

  it('prints names of branches that the status accepts', async () => {
    const { body } = await project.ask(listSessions);
    const names = [...body.matchAll(/^- ([\w-]+)/gm)].map(([, name = '']) => name);
    expect(names).toEqual(['main', 'explore-graphql-20261114']);
    for (const branch of [...names, 'explore-graphql'])
      expect((await project.ask(getWorkflowStatus, { branch })).body).toMatch(/story-1|spike-1/);
  });

  it('does not let a run that cannot be read hide one that failed', async () => {
    const { data, body } = await project.ask(listSessions, { status: 'failed' });
    expect(data['sessions']).toMatchObject([
      { name: 'main', standing: 'failed', latest_run: { run_id: 'story-1' } },
    ]);
    expect(body).toContain('story-2/state.json');
    expect((await project.ask(getWorkflowStatus)).data['run']).toMatchObject({
      run_id: 'story-1',
      status: 'failed',
    });
  });

  it('says truly that none is as asked', async () => {
    const other = await opened({
      ...KIT_FILES,
      '_bmad-output/.runs/main/a/state.json': run('running', '2026-03-01T10:00:00Z'),
    });
    const { body } = await other.ask(listSessions, { status: 'completed' });
    expect(body).toContain('No session branch is completed; there are others: 1 active.');
    const empty = await opened(KIT_FILES);
    expect((await empty.ask(listSessions, { status: 'completed' })).body).toContain(
      'There are no session branches yet.',
    );
  });

  it('M-26: a contract without a run takes the latest finished one of the branch and says so', async () => {
    const own = await opened({
      ...KIT_FILES,
      'docs/api.md': '# API\n',
      '_bmad-output/.runs/main/old-1/state.json': run('completed', '2026-03-01T10:00:00Z', 'docs/old.md'),
      '_bmad-output/.runs/main/api-2/state.json': run('completed', '2026-03-02T10:00:00Z', 'docs/api.md'),
      '_bmad-output/.runs/main/later-3/state.json': run('running', '2026-03-03T10:00:00Z', 'docs/later.md'),
      '_bmad-output/.runs/spike/far-4/state.json': run('completed', '2026-03-04T10:00:00Z', 'docs/far.md'),
    });
    const { body, data } = await own.ask(createDeliveryContract, {
      from_team: 'build',
      to_team: 'ops',
      signed_by: 'Ada',
    });
    expect(body).toContain(
      'Taken from api-2, the latest finished run of the branch main; run_id names another.',
    );
    expect(data).toMatchObject({ contract: { artefacts: 1 }, run: { run_id: 'api-2', chosen: true } });
    const spike = await own.ask(createDeliveryContract, {
      from_team: 'build',
      to_team: 'vision',
      branch: 'spike',
    });
    expect(spike.data['run']).toMatchObject({ run_id: 'far-4', branch: 'spike' });
    const named = await own.ask(createDeliveryContract, {
      from_team: 'a',
      to_team: 'b',
      artefacts: ['docs/api.md'],
    });
    expect(named.data['run']).toBeUndefined();
  });
});

describe('M-30: the contract’s sentences fit', () => {
  const read = { stacks: [], steps: [], kitForm: false, noStack: false, untested: [], toolsMissing: [] };
  const ending = { code: 0, signal: undefined, timedOut: false, timeoutMs: 1_000 };

  it('does not ask for a stack that was named', () => {
    const { reason, hints } = judge({ ...read, verdict: undefined, noStack: true }, ending, 'go');
    expect(reason).toBe('The script found no files of the stack go here and ran nothing.');
    expect(hints.join(' ')).toContain('Omit "stack"');
    expect(hints.join(' ')).not.toContain('Name one with "stack"');
  });

  it('does not call a failure a PASS', () => {
    const { status, reason } = judge({ ...read, verdict: 'PASS' }, { ...ending, code: 3 });
    expect(status).toBe('FAIL');
    expect(reason).toBe('It printed PASS but ended with exit code 3, so it failed.');
  });

  it('tells JavaScript from TypeScript', () => {
    const files = (...paths: string[]) => paths.map((path) => ({ path, kind: 'file' as const }));
    expect(stacksIn(files('package.json', 'index.js'))).toMatchObject([{ name: 'javascript', inKit: true }]);
    expect(stacksIn(files('package.json', 'src/index.ts'))).toMatchObject([{ name: 'typescript' }]);
    expect(stacksIn(files('package.json', 'tsconfig.json'))).toMatchObject([{ name: 'typescript' }]);
  });
});
