import { describe, expect, it, onTestFinished } from 'vitest';
import { runSession } from '../../../tests/support/run-session.ts';
import { complete } from './prompts.ts';
import { read } from '../catalogue/read.ts';
import { listResources, readResource } from './resources.ts';

describe('runs as resources', () => {
  it('lists the branches; each leads to its runs, and each run has its state', async () => {
    const session = await runSession(onTestFinished);
    const { data } = await session.ok(listResources);
    const uris = (data['items'] as { uri: string }[])
      .map(({ uri }) => uri)
      .filter((uri) => uri.startsWith('bmad://runs'));
    expect(uris).toEqual(['bmad://runs', 'bmad://runs/main']);
    const text = async (uri: string): Promise<string> =>
      String((await session.ok(readResource, { uri })).data['text']);
    expect(await text('bmad://runs')).toMatch(
      /bmad:\/\/runs\/explore-graphql-20261114: completed \(branch merged\), 1 run\n$/,
    );
    const branch = await text('bmad://runs/main');
    expect(branch).toContain(
      'bmad://runs/main/dev-story-20260227-143022: dev-story-20260227-143022: running, 3 of 8 steps',
    );
    const run = await text('bmad://runs/main/dev-story-20260227-143022');
    expect(run).toContain('## State');
    expect(run).toContain('artefacts/step-01-output.md');
    expect(await text('bmad://runs/explore-graphql-20261114/architecture-run-001')).toContain('archived');
    expect((await session.ok(read, { target: 'bmad://runs/main' })).answer.body).toBe(branch);
  });

  it('refuses what is not there or leads away', async () => {
    const session = await runSession(onTestFinished);
    for (const uri of [
      'bmad://runs/nowhere',
      'bmad://runs/main/none',
      'bmad://runs/%2e%2e/x',
      'bmad://runs/main/..%2Fx',
    ])
      expect(['not_found', 'invalid_input'], uri).toContain((await session.fail(readResource, { uri })).code);
    expect((await session.fail(readResource, { uri: 'bmad://runs/nowhere' })).suggestions).toContain(
      'bmad://runs/main',
    );
  });

  it('completes branches and ids', async () => {
    const session = await runSession(onTestFinished);
    expect((await session.ok(complete, { what: 'branch', value: 'ma' })).data['values']).toEqual(['main']);
    expect((await session.ok(complete, { what: 'run_id', value: 'dev' })).data['values']).toEqual([
      'dev-story-20260227-143022',
    ]);
    expect((await session.ok(complete, { what: 'run_id', value: '' })).data['total']).toBe(2);
  });

  it('has none in a project without runs', async () => {
    const session = await runSession(onTestFinished, { files: {} });
    const { data } = await session.ok(listResources);
    expect(JSON.stringify(data)).not.toContain('bmad://runs');
  });
});
