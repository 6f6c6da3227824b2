import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { repository } from './support/app.ts';

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<
    string,
    {
      permissions?: Record<string, string>;
      strategy?: { matrix: { os: string[]; node: number[] } };
      steps: { uses?: string; run?: string; with?: Record<string, string> }[];
    }
  >;
}

const read = (path: string): Promise<string> => readFile(join(repository, path), 'utf8');
const names = (await readdir(join(repository, '.github/workflows'))).sort();
const workflows = await Promise.all(
  names.map(async (name): Promise<[string, Workflow]> => [
    name,
    parse(await read(`.github/workflows/${name}`)) as Workflow,
  ]),
);
const { scripts, engines } = JSON.parse(await read('package.json')) as {
  scripts: Record<string, string>;
  engines: { node: string };
};

describe('workflows', () => {
  it('are these', () => expect(names).toEqual(['ci.yml', 'release.yml']));

  it.each(workflows)('%s pins actions to a major version', (_name, { jobs }) => {
    const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^actions\/[a-z-]+@v\d+$/);
  });

  it.each(workflows)('%s may only read, but for what a job needs', (_name, { permissions, jobs }) => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const [name, job] of Object.entries(jobs))
      expect(job.permissions, name).toEqual(
        { publish: { contents: 'read', 'id-token': 'write' }, release: { contents: 'write' } }[name],
      );
  });

  it('attach the list of parts to the release, in a job that runs nothing of the repository', () => {
    const jobs = workflows.find(([name]) => name === 'release.yml')?.[1].jobs ?? {};
    const steps = jobs['release']?.steps ?? [];
    expect(steps.map(({ uses, run }) => uses ?? run)).toEqual([
      'actions/download-artifact@v4',
      'gh release create "$GITHUB_REF_NAME" --verify-tag --notes-from-tag ./*.tgz dist/sbom.cdx.json',
    ]);
    expect(jobs['pack']?.steps.find(({ uses }) => uses?.includes('upload-artifact'))?.with?.['path']).toBe(
      '*.tgz\ndist/sbom.cdx.json\n',
    );
  });

  it.each(workflows)('%s runs scripts that exist', (_name, { jobs }) => {
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    for (const command of commands)
      for (const [, script = ''] of command.matchAll(/npm run (\S+)/g))
        expect(scripts).toHaveProperty(script);
  });

  it('test three systems with every supported version of Node', () => {
    const matrix = workflows[0]?.[1].jobs['test']?.strategy?.matrix;
    expect(matrix).toEqual({
      os: ['ubuntu-latest', 'macos-latest', 'windows-latest'],
      node: [20, 22, 24],
    });
    expect(engines.node).toMatch(new RegExp(`^>=${matrix?.node[0]}\\b`));
  });
});

describe('the image', () => {
  it('is built with all that the build reads', async () => {
    const ignored = (await read('deploy/Dockerfile.dockerignore')).trim().split('\n');
    const [list = ''] = (await read('scripts/ensure.mjs')).split('const sources = [')[1]?.split('];') ?? [];
    const files = [...list.matchAll(/'([^']+\.[a-z]+)'/g)].map(([, file = '']) => file);
    expect(files).toContain('training/MODEL_CARD.md');
    const missing = files.filter(
      (file) => ignored.some((folder) => file.startsWith(`${folder}/`)) && !ignored.includes(`!${file}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('issue templates', () => {
  it.each(['bug', 'feature'])('%s asks for something', async (name) => {
    const form = parse(await read(`.github/ISSUE_TEMPLATE/${name}.yml`)) as {
      name: string;
      description: string;
      body: { type: string; attributes: { label?: string; value?: string } }[];
    };
    expect(form.name).toBeTruthy();
    expect(form.description).toBeTruthy();
    for (const { type, attributes } of form.body)
      expect(type === 'markdown' ? attributes.value : attributes.label).toBeTruthy();
  });
});
