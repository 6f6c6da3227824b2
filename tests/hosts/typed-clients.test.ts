import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { repository, temporaryFolder } from '../support/app.ts';
import { startHttpServer } from '../support/http-server.ts';
import { bareEnvironment, runToEnd } from '../support/programs.ts';
import { tool } from '../support/tools.ts';

/** Programs that make a typed client of our description: what they make compiles strictly and works, as it is. */
const TYPES = ['openapi-typescript', '7.13.0'] as const;
const FETCH = ['openapi-fetch', '0.17.0'] as const;
const CLASS = ['swagger-typescript-api', '13.13.0'] as const;

const BY_TYPES = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const client = createClient<paths>({ baseUrl: ORIGIN });
const found = await client.GET('/api/search', { params: { query: { query: 'architecture', limit: 1 } } });
if (found.error !== undefined) throw new Error(found.error.detail);
const names: string[] = found.data.data.items.map(({ name }) => name);
const made = await client.POST('/api/spawn_subagent_task', {
  params: { header: { 'Idempotency-Key': 'types' } },
  body: { agent: 'dev', task: 'Compare queues', output_key: 'types' },
});
if (made.error !== undefined) throw new Error(made.error.detail);
const id: string = made.data.data.task.task_id;
const none = await client.POST('/api/read', { body: { target: 'architekt' } });
if (none.error === undefined) throw new Error('it was found');
console.log(JSON.stringify([names, id, none.response.status, none.error.code]));
`;

const BY_CLASS = `
import { Api } from './api.ts';

const { api } = new Api({ baseUrl: ORIGIN });
const found = await api.search({ query: 'architecture', limit: 1 });
const names: string[] = found.data.data.items.map(({ name }) => name);
const key = { headers: { 'Idempotency-Key': 'class' } };
const made = await api.spawnSubagentTask({ agent: 'dev', task: 'Compare queues', output_key: 'class' }, key);
const id: string = made.data.data.task.task_id;
const none = await api.read({ target: 'architekt' }).catch((error) => error);
console.log(JSON.stringify([names, id, none.status, none.error.code]));
`;

const CONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
    lib: ['es2022', 'dom', 'dom.iterable'],
  },
  files: ['use.ts'],
};

const packages = { types: '', fetch: '', class: '' };
beforeAll(async () => {
  packages.types = await tool(...TYPES);
  packages.fetch = await tool(...FETCH);
  packages.class = await tool(...CLASS);
});

it.each([
  [
    TYPES[0],
    BY_TYPES,
    (folder: string) => [join(packages.types, 'bin/cli.js'), 'openapi.json', '-o', join(folder, 'api.d.ts')],
  ],
  [
    CLASS[0],
    BY_CLASS,
    (folder: string) => [
      join(packages.class, 'dist/cli.mjs'),
      'generate',
      '-p',
      'openapi.json',
      '-o',
      folder,
      '-n',
      'api.ts',
    ],
  ],
])('a client made by %s compiles strictly and works (D-8)', async (_name, program, generator) => {
  const [cwd, home, folder] = await Promise.all([0, 1, 2].map(() => temporaryFolder(onTestFinished)));
  if (cwd === undefined || home === undefined || folder === undefined) throw new Error('no folders');
  await mkdir(join(cwd, '_bmad'));
  const server = await startHttpServer({ cwd, home });
  onTestFinished(async () => void (await server.stop()));
  const { origin } = new URL(server.url);
  const run = async (args: readonly string[]): Promise<string> => {
    const done = await runToEnd(process.execPath, args, { cwd: folder, env: bareEnvironment(home) });
    expect(done.code, `${done.stdout.toString('utf8')}${done.stderr}`).toBe(0);
    return done.stdout.toString('utf8');
  };
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${origin}/openapi.json`)).text());
  await run(generator(folder));
  await writeFile(join(folder, 'use.ts'), program.replace('ORIGIN', JSON.stringify(origin)));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
  await symlink(dirname(packages.fetch), join(folder, 'node_modules'));
  await run([join(repository, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  const [names, id, status, code] = JSON.parse(
    await run([join(repository, 'node_modules/tsx/dist/cli.mjs'), 'use.ts']),
  ) as [string[], string, number, string];
  expect(names).toHaveLength(1);
  expect(id).toMatch(/^task-/);
  expect([status, code]).toEqual([404, 'not_found']);
});
