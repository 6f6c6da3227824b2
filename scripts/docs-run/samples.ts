import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { CreateMessageRequestParams, CreateMessageResult } from '@modelcontextprotocol/client';
import { cliFile, serverFile } from '../../tests/support/app.ts';
import { KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../../tests/support/contract-project.ts';
import { copyFolder, writeFiles } from '../../tests/support/folders.ts';
import { agentFile } from '../../tests/support/git-repository.ts';
import { installOf, type Version } from '../../tests/support/installs.ts';
import { KIT_FILES } from '../../tests/support/kit-project.ts';
import { WEB_CONTEXT } from '../../tests/support/kit-trees.ts';
import { EPICS, impl, ledger, out, status, story, TEXT } from '../../tests/support/progress-trees/pieces.ts';

const run = promisify(execFile);

/** The same people at the same time, so that commits have the same ids everywhere. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2026-11-15T09:00:00Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_COMMITTER_DATE: '2026-11-15T09:00:00Z',
};

async function git(folder: string, ...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: folder, env: ENVIRONMENT })).stdout.trim();
}

/** A repository in the folder, if there is none yet, with one more commit of everything in it. */
async function commit(folder: string, message: string): Promise<string> {
  await git(folder, 'init', '--quiet', '--initial-branch=main');
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '-m', message);
  return git(folder, 'rev-parse', 'HEAD');
}

async function code({ project, env }: Sample): Promise<void> {
  // What is shown does not depend on how fast the machine reads the files.
  env['BMAD_CODE_SEARCH_MS'] = '60000';
  await writeFiles(project, {
    'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
    'src/cart.ts':
      '/** Adds up the prices of a cart, in cents. */\nexport function total(cart: readonly { price: number }[]): number {\n  return cart.reduce((sum, { price }) => sum + price, 0);\n}\n',
    'src/lock.ts':
      "import { rm } from 'node:fs/promises';\n\n/**\n * Takes over the lock of a process that has died. Only one process at a time may, and only that very lock.\n */\nexport async function takeOverLock(path: string, holder: number): Promise<boolean> {\n  if (isAlive(holder)) return false;\n  await rm(path);\n  return true;\n}\n\nfunction isAlive(pid: number): boolean {\n  try {\n    return process.kill(pid, 0);\n  } catch {\n    return false;\n  }\n}\n",
    'src/orders.ts':
      '/** Writes an order, and tries again with a longer pause each time the disk is full. */\nexport async function writeOrder(order: string, write: (text: string) => Promise<void>): Promise<void> {\n  for (let pause = 100; ; pause *= 2)\n    try {\n      return await write(order);\n    } catch {\n      await new Promise((resolve) => setTimeout(resolve, pause));\n    }\n}\n',
    'docs/prd.md': '# Shop\n\nSmall orders, many a day.\n',
    '.verify/typescript': 'tsc --noEmit|OK\nnpm test|OK\n',
    [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  });
  await commit(project, 'First');
}

async function kit({ project }: Sample): Promise<void> {
  await writeFiles(project, {
    ...KIT_FILES,
    'go.mod': 'module shop\n',
    '_bmad/_memory/shared-context.md': WEB_CONTEXT,
  });
}

/** A model that has read the guide: the architect asks the product manager, who knows, and then decides. */
function model(sample: Sample): void {
  sample.model = ({ messages, systemPrompt = '' }) => {
    const asked = JSON.stringify(messages);
    const answer = /product manager/i.test(systemPrompt)
      ? 'About 400 orders a day in the first year.'
      : asked.includes('400 orders')
        ? 'A table in PostgreSQL: at 400 orders a day a broker only adds something to run.'
        : 'DELEGATE pm: How many orders a day do we plan for?';
    return { role: 'assistant', model: 'claude-x', content: { type: 'text', text: answer } };
  };
}

const sections = ['Goals', 'Users', 'Caching', 'Reports'].map(
  (heading) => `## ${heading}\n\n${TEXT.repeat(heading === 'Caching' ? 60 : 3)}\n`,
);

/** A project of BMAD 6.12 with its stories under way, and a ledger that lags behind them. */
const PLANNED = {
  [`${out}/prd.md`]: `---\ntitle: Shop\nstatus: final\n---\n\n# Shop\n\n${sections.join('')}`,
  [`${out}/architecture.md`]: status('final'),
  [`${out}/epics.md`]: EPICS,
  [`${impl}/sprint-status.yaml`]: ledger({
    'epic-1': 'backlog',
    '1-1-setup': 'done',
    '1-2-login': 'ready-for-dev',
    'epic-2': 'backlog',
    '2-1-cart': 'backlog',
  }),
  [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
  [`${impl}/1-2-login.md`]: story('1.2', 'review', '- [x] The form\n- [x] The session\n'),
};

/** The team's repository under its usual address, which git finds on this disk; its branch `next` has a change. */
async function team({ root, home }: Sample): Promise<void> {
  const work = join(root, 'work');
  const bare = join(home, 'hosts', 'bmad-team.git');
  await writeFiles(work, {
    'agents/reviewer.md': agentFile('Reviewer', 'Reads a change', 'You read changes.'),
  });
  await commit(work, 'First');
  await mkdir(join(home, 'hosts'), { recursive: true });
  await git(root, 'clone', '--quiet', '--bare', work, bare);
  await git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await writeFile(
    join(home, '.gitconfig'),
    `[url "${pathToFileURL(bare).href}"]\n  insteadOf = https://github.com/acme/bmad-team.git\n[protocol "file"]\n  allow = always\n`,
  );
  const news = join(root, 'news');
  await git(root, 'clone', '--quiet', bare, news);
  await writeFiles(news, {
    'agents/reviewer.md': agentFile('Reviewer', 'Reads a change closely', 'You read changes closely.'),
    'agents/tester.md': agentFile('Tester', 'Tests', 'You test.'),
  });
  await commit(news, 'Second');
  await git(news, 'push', '--quiet', 'origin', 'HEAD:refs/heads/next');
  await rm(news, { recursive: true });
}

/** A real install of BMAD in the project, without what belongs to other assistants. */
const installed =
  (version: Version, ...places: string[]): Preparation =>
  async ({ project }) => {
    const install = await installOf(version);
    for (const place of places) copyFolder(join(install, place), join(project, place));
  };

const written =
  (files: Readonly<Record<string, string>>): Preparation =>
  ({ project }) =>
    writeFiles(project, files);

const inOrder =
  (...preparations: Preparation[]): Preparation =>
  async (sample) => {
    for (const prepare of preparations) await prepare(sample);
  };

const v6 = installed('6.12.0', '_bmad', '.claude');

/** The prepared projects that markers name with `in=`. */
export const SAMPLES: Readonly<Record<string, Preparation>> = {
  /** A folder with nothing in it: the built-in BMAD is served. */
  empty: () => undefined,
  '6.12': v6,
  '6.0': installed('6.0.4', '_bmad', '.claude'),
  '6.0-alpha': installed('6.0.0-alpha.22', '_bmad', '.claude'),
  '4-and-6.12': inOrder(installed('4.44.3', '.bmad-core'), v6),
  /** A little shop in TypeScript, with a script for the completion contract. */
  code,
  /** The little shop, with a client that offers its model. */
  sampling: inOrder(code, model),
  /** A project of BMAD's custom kit, after some use. */
  kit,
  /** A repository of the team, under its usual address. */
  team,
  /** A project that only overrides the built-in BMAD. */
  custom: () => undefined,
  planned: inOrder(v6, written(PLANNED)),
};

/** A machine of its own to run documents on: the home of Ada, empty, and her project in it. */
export interface Sample {
  /** Stands for the root of the disk in what is shown. */
  root: string;
  home: string;
  project: string;
  /** A folder for the PATH, with the programs as npm would install them. */
  programs: string;
  /** Added to the environment of everything that runs. */
  env: Record<string, string>;
  /** Answers as the model of the client; without it the client offers none. */
  model?: (params: CreateMessageRequestParams) => CreateMessageResult;
}

/** Prepares a sample: writes files, or installs something. It may move the project. */
type Preparation = (sample: Sample) => void | Promise<void>;

export async function openSample(prepare: Preparation): Promise<Sample> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'docs-')));
  const home = join(root, 'home', 'ada');
  const sample: Sample = { root, home, project: join(home, 'shop'), programs: join(root, 'bin'), env: {} };
  await mkdir(sample.project, { recursive: true });
  await mkdir(sample.programs);
  for (const [name, file] of [
    ['bmad', cliFile],
    ['bmad-mcp-server', serverFile],
  ] as const)
    await writeFile(join(sample.programs, name), `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`, {
      mode: 0o755,
    });
  await prepare(sample);
  return sample;
}

export async function removeSample({ root }: Sample): Promise<void> {
  await rm(root, { recursive: true, force: true });
}
