import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/kit-project.ts';
import { listForStacks, stacksIn } from './stacks.ts';

const names = (...paths: string[]): string[] =>
  stacksIn(
    paths.map((path) => ({
      path: path.replace(/\/$/, ''),
      kind: path.endsWith('/') ? ('folder' as const) : ('file' as const),
    })),
  ).map(({ name }) => name);

describe('stacksIn', () => {
  it.each([
    ['go.mod', 'go'],
    ['package.json', 'javascript'],
    ['main.tf', 'terraform'],
    ['infra/prod/eu/net.tf', 'terraform'],
    ['ansible/', 'ansible'],
    ['playbook-web.yml', 'ansible'],
    ['requirements.txt', 'python'],
    ['pyproject.toml', 'python'],
    ['setup.py', 'python'],
    ['Dockerfile', 'docker'],
    ['docker-compose.dev.yml', 'docker'],
    ['compose.yaml', 'docker'],
    ['k8s/', 'kubernetes'],
    ['deploy.sh', 'shell'],
    ['Cargo.toml', 'rust'],
    ['pom.xml', 'java'],
    ['build.gradle.kts', 'java'],
    ['Shop.sln', 'dotnet'],
    ['composer.json', 'php'],
    ['Gemfile', 'ruby'],
  ])('%s shows %s', (path, stack) => {
    expect(names(path)).toEqual([stack]);
  });

  it.each(['sub/go.mod', 'ansible', 'k8s', 'go.mod/', 'scripts/deploy.sh', 'README.md', 'Dockerfile.md'])(
    '%s shows nothing',
    (path) => {
      expect(names(path)).toEqual([]);
    },
  );

  it('tells stacks in a fixed order, each once, with its reason', () => {
    expect(names('deploy.sh', 'setup.py', 'pyproject.toml', 'go.mod')).toEqual(['go', 'python', 'shell']);
    expect(
      stacksIn([
        { path: 'Cargo.toml', kind: 'file' },
        { path: 'go.mod', kind: 'file' },
      ]),
    ).toEqual([
      { name: 'go', because: 'go.mod', inKit: true },
      { name: 'rust', because: 'Cargo.toml', inKit: false },
    ]);
  });
});

describe('listForStacks', () => {
  it('looks four levels deep, and not into what tools bring along', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, {
      'go.mod': '',
      'a/b/c/four.tf': '',
      'a/b/c/d/five.tf': '',
      '.terraform/x.tf': '',
      'node_modules/p/x.tf': '',
    });
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'elsewhere/linked.tf'), '');
    await symlink(join(root, 'elsewhere'), join(root, 'link'));
    const paths = (await listForStacks(root)).map(({ path }) => path).filter((path) => path.endsWith('.tf'));
    expect(paths).toEqual(['elsewhere/linked.tf', 'a/b/c/four.tf']);
    expect((await listForStacks(root, 'a/b')).map(({ path }) => path)).toContain('c/d/five.tf');
    expect(await listForStacks(root, 'nothing')).toEqual([]);
  });
});
