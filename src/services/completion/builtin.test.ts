import { chmod, readFile, mkdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findForProject } from '../../base/files/find-program.ts';
import { runCompletionContract } from '../../operations/completion/completion.ts';
import { repository, temporaryFolder } from '../../../tests/support/app.ts';
import { contractSession } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';

type Data = Record<string, unknown>;

/** Runs the contract of a project without a script. `tools` are programs of the machine, as pieces of bash. */
async function builtin(
  files: Readonly<Record<string, string>>,
  tools: Readonly<Record<string, string>> = {},
  input: object = {},
  prepare: (folder: string) => Promise<void> = async () => undefined,
): Promise<Data> {
  const bin = await temporaryFolder(onTestFinished);
  for (const [name, code] of Object.entries(tools)) {
    await writeFiles(bin, { [name]: `#!/bin/bash\necho "${name} $*"\n${code}\n` });
    await chmod(join(bin, name), 0o755);
  }
  // Nothing else of the machine, which may have any of the tools.
  for (const name of ['node', 'npm', 'sh', 'git'])
    if (tools[name] === undefined) {
      const place = await findForProject(name, process.env);
      await symlink(await realpath(place ?? name), join(bin, name));
    }
  const session = await contractSession(onTestFinished, files, { env: { PATH: bin } });
  await prepare(session.folder);
  const { data } = await session.ok(runCompletionContract, input);
  return { ...data, printed: await readFile(String(data['output_file']), 'utf8') };
}

const commands = (data: Data): string[] =>
  (data['steps'] as { command: string }[]).map(({ command }) => command);

describe('the built-in contract', () => {
  it('says what is missing when there is nothing to verify', async () => {
    expect(await builtin({ 'README.md': '' })).toMatchObject({
      status: 'NOT_VERIFIED',
      verified: false,
      contract: { kind: 'builtin' },
      hints: [
        expect.stringContaining('go.mod (go)'),
        expect.stringContaining('cc-verify.sh'),
        expect.stringContaining('no program runs before a person has allowed it'),
      ],
    });
    expect(await builtin({ 'README.md': '' }, {}, { stack: 'go' })).toMatchObject({
      reason: 'The stack go was not found: the folder does not have go.mod.',
    });
  });

  it('takes a stack that only its tests show', async () => {
    const tests = { 'src/shop.py': '', 'tests/test_shop.py': 'def test_one():\n    assert True\n' };
    // Without pytest nothing can be verified; what counts is that the stack is taken.
    for (const [files, input] of [
      [tests, { stack: 'python' }],
      [tests, {}],
      [{ ...tests, 'go.mod': 'module shop\n' }, { stack: 'python' }],
    ] as const)
      expect(await builtin(files, {}, input)).toMatchObject({ stacks: ['python'] });
    expect(await builtin({ 'src/shop.py': '' }, {}, { stack: 'python' })).toMatchObject({
      reason:
        'The stack python was not found: the folder does not have pyproject.toml, requirements.txt or setup.py, nor tests (test_*.py).',
    });
  });

  it('runs the tests of a package, and nothing when there are none', async () => {
    const pack = (test: string): Record<string, string> => ({
      'package.json': JSON.stringify({ scripts: { test } }),
    });
    const good = await builtin(pack('node -e "console.log(40 + 2)"'));
    expect(good).toMatchObject({ status: 'PASS', stacks: ['javascript'] });
    expect(good['printed']).toContain('42');
    expect(good['steps']).toMatchObject([{ command: 'npm run test', ok: true, exit_code: 0 }]);
    expect(await builtin(pack('node -e "process.exit(3)"'))).toMatchObject({ status: 'FAIL' });
    expect(await builtin(pack('echo "Error: no test specified" && exit 1'))).toMatchObject({
      status: 'NOT_VERIFIED',
      hints: [expect.stringContaining("npm's placeholder")],
    });
  });

  it('compiles with the compiler of the project, and installs none', async () => {
    const files = (code: string): Record<string, string> => ({
      'package.json': JSON.stringify({ devDependencies: { typescript: '*' } }),
      'tsconfig.json': JSON.stringify({ files: ['a.ts'], compilerOptions: { strict: true, types: [] } }),
      'a.ts': code,
    });
    const link = async (folder: string): Promise<void> => {
      await mkdir(join(folder, 'node_modules'));
      await symlink(join(repository, 'node_modules/typescript'), join(folder, 'node_modules/typescript'));
    };
    expect(await builtin(files('export const a: number = 1;'), {}, {}, link)).toMatchObject({
      status: 'PASS',
    });
    const wrong = await builtin(files('export const a: number = "one";'), {}, {}, link);
    expect(wrong).toMatchObject({ status: 'FAIL', steps: [{ command: 'tsc --noEmit', ok: false }] });
    expect(wrong['output']).toContain('TS2322');
    expect(await builtin(files(''))).toMatchObject({
      status: 'NOT_VERIFIED',
      steps: [],
      hints: ['typescript: The project\'s packages are not installed: run "npm install" first.'],
    });
  });

  it.each([
    ['package-lock.json', 'npm'],
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
    ['bun.lockb', 'bun'],
    ['bun.lock', 'bun'],
  ])('goes by the lock file %s', async (lock, manager) => {
    const files = { 'package.json': '{"scripts":{"test":"x"}}', [lock]: '' };
    expect(commands(await builtin(files, { [manager]: 'exit 0' }))).toEqual([`${manager} run test`]);
    if (manager !== 'npm')
      expect((await builtin(files))['hints']).toEqual([
        expect.stringContaining(`${manager} is not installed`),
      ]);
  });

  it('verifies Go with all three commands, and says so when Go or its modules are missing', async () => {
    const files = { 'go.mod': 'module x\n' };
    const good = await builtin(files, { go: 'exit 0' });
    expect(good).toMatchObject({ status: 'PASS' });
    expect(commands(good)).toEqual(['go build ./...', 'go vet ./...', 'go test ./...']);
    const bad = await builtin(files, { go: '[[ $1 == vet ]] && exit 1; exit 0' });
    expect(bad).toMatchObject({ status: 'FAIL', reason: 'Failed: go vet ./....' });
    expect(
      await builtin(files, { go: 'echo "module lookup disabled by GOPROXY=off" >&2; exit 1' }),
    ).toMatchObject({
      status: 'NOT_VERIFIED',
    });
  });

  it('does not take "no tests" of pytest for a failure, and not for a success', async () => {
    const files = { 'pyproject.toml': '' };
    expect(await builtin(files, { pytest: 'exit 5' })).toMatchObject({
      status: 'NOT_VERIFIED',
      hints: [expect.stringContaining('found no tests')],
    });
    expect(await builtin(files, { pytest: 'exit 0', ruff: 'exit 1' })).toMatchObject({
      status: 'PASS',
      steps: [
        { command: 'pytest --tb=short', ok: true },
        { command: 'ruff check .', ok: false, advisory: true },
      ],
    });
    const own = await builtin(
      { ...files, '.venv/bin/pytest': '#!/bin/sh\necho own; exit 0\n' },
      { pytest: 'exit 1' },
      {},
      (folder) => chmod(join(folder, '.venv/bin/pytest'), 0o755),
    );
    expect(own).toMatchObject({ status: 'PASS', printed: expect.stringContaining('own') });
  });

  it('does not call it verified where a runner has run no test', async () => {
    const pack = (test: string): Record<string, string> => ({
      'package.json': JSON.stringify({ type: 'module', scripts: { test } }),
    });
    const hints = ['javascript: node --test found no tests.', expect.stringContaining('add tests')];
    const none = await builtin(pack('node --test'));
    expect(none).toMatchObject({ status: 'NOT_VERIFIED', reason: 'There was no test to run.', hints });
    expect(none['output']).toMatch(/^(?:#|ℹ) tests 0$/m);
    expect(await builtin(pack('node --test --test-reporter=spec'))).toMatchObject({
      status: 'NOT_VERIFIED',
      hints,
    });
    const one = {
      ...pack('node --test'),
      'a.test.js': "import test from 'node:test';\ntest('a', () => {});\n",
    };
    expect(await builtin(one)).toMatchObject({ status: 'PASS', hints: [] });
    const go = (last: string): Promise<Data> =>
      builtin(
        { 'go.mod': '' },
        { go: `[[ $1 == test ]] && printf '?   \\tx/a\\t[no test files]\\n${last}'; exit 0` },
      );
    expect(await go('')).toMatchObject({
      status: 'NOT_VERIFIED',
      hints: ['go: go test found no tests.', hints[1]],
    });
    expect(await go('ok  \\tx/b\\t0.003s\\n')).toMatchObject({ status: 'PASS' });
  });

  it('tells a runner that fails for want of tests from tests that fail', async () => {
    const files = { 'package.json': '{"scripts":{"test":"x"}}', 'yarn.lock': '' };
    const said = (line: string): Promise<Data> => builtin(files, { yarn: `echo "${line}"; exit 1` });
    expect(await said('No test files found, exiting with code 1')).toMatchObject({ status: 'NOT_VERIFIED' });
    expect(await said('# tests 0')).toMatchObject({ status: 'FAIL' });
  });

  it('says PASS only if every stack that is there was verified', async () => {
    const files = { 'go.mod': '', 'ansible/site.yml': '' };
    const both = await builtin(files, { go: 'exit 0' });
    expect(both).toMatchObject({ status: 'NOT_VERIFIED', stacks: ['go', 'ansible'] });
    expect(both['hints']).toEqual([
      'ansible: Neither ansible-lint nor yamllint is installed.',
      'To get a verdict on one stack only, name it with "stack".',
    ]);
    expect(await builtin(files, { go: 'exit 0' }, { stack: 'go' })).toMatchObject({
      status: 'PASS',
      stacks: ['go'],
    });
    expect(await builtin(files, { go: 'exit 0', yamllint: 'exit 0' })).toMatchObject({ status: 'PASS' });
  });

  it('validates the first folder of Terraform, and says when it has to be initialised', async () => {
    const files = { 'infra/main.tf': '', 'infra/modules/x.tf': '' };
    const good = await builtin(files, { terraform: 'pwd; exit 0' });
    expect(good).toMatchObject({
      status: 'PASS',
      printed: expect.stringMatching(/terraform validate -no-color\n.*\/infra\n/),
    });
    expect(
      await builtin(files, { terraform: '[[ $1 == fmt ]] && exit 3; echo "Run terraform init"; exit 1' }),
    ).toMatchObject({ status: 'NOT_VERIFIED' });
  });

  it('checks compose files, manifests and scripts as far as there are tools', async () => {
    expect(await builtin({ 'docker-compose.yml': '' }, { docker: 'exit 0' })).toMatchObject({
      status: 'PASS',
      steps: [{ command: 'docker compose config --quiet' }],
    });
    expect(await builtin({ Dockerfile: '' }, { docker: 'exit 0' })).toMatchObject({
      status: 'NOT_VERIFIED',
      steps: [],
    });
    expect(
      await builtin(
        { 'k8s/a.yaml': '' },
        { kubectl: 'echo "The connection to the server was refused"; exit 1' },
      ),
    ).toMatchObject({ status: 'NOT_VERIFIED' });
    expect(await builtin({ 'k8s/a.yaml': '' }, { kubectl: 'exit 1' })).toMatchObject({ status: 'FAIL' });
    expect(await builtin({ 'a.sh': '' }, { shellcheck: 'exit 1' })).toMatchObject({ status: 'NOT_VERIFIED' });
  });
});
