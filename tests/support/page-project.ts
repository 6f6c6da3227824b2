import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDeliveryContract } from '../../src/operations/handover/handovers.ts';
import { runCompletionContract } from '../../src/operations/completion/completion.ts';
import { logFailure } from '../../src/operations/project/failures.ts';
import { runCheckpoint, runOpen } from '../../src/operations/runs/run-operations.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { serverFile } from './app.ts';
import { KIT_LIKE_SCRIPT, SCRIPT_PATH } from './contract-project.ts';
import { copyFolder, writeFiles } from './folders.ts';
import { installOf } from './installs.ts';
import { sessionIn } from './operations.ts';
import { impl, ledger, out, status, story } from './progress-trees/pieces.ts';

const EPICS = `# Epics

## Epic 1: Checkout

### Story 1.1: Product list

### Story 1.2: Cart totals with tax

### Story 1.3: Checkout

### Story 1.4: Guest checkout

## Epic 2: Search

### Story 2.1: Search by author

### Story 2.2: Search by word
`;

const LEDGER = `${impl}/sprint-status.yaml`;

/** A shop in the middle of its first epic: one ledger that is behind, an override, documents of three phases. */
const SHOP: Readonly<Record<string, string>> = {
  [`${out}/product-brief.md`]: status('final'),
  [`${out}/prd.md`]: status('final'),
  [`${out}/architecture.md`]: status('draft'),
  [`${out}/epics.md`]: EPICS,
  [LEDGER]: ledger({
    'epic-1': 'in-progress',
    '1-1-product-list': 'done',
    '1-2-cart-totals-with-tax': 'in-progress',
    '1-3-checkout': 'review',
    '1-4-guest-checkout': 'ready-for-dev',
    'epic-2': 'backlog',
    '2-1-search-by-author': 'backlog',
    '2-2-search-by-word': 'backlog',
  }),
  [`${impl}/1-1-product-list.md`]: story('1.1', 'done', '- [x] one\n'),
  [`${impl}/1-2-cart-totals-with-tax.md`]: story('1.2', 'in-progress', '- [x] one\n- [ ] two\n- [ ] three\n'),
  [`${impl}/1-3-checkout.md`]: story('1.3', 'done', '- [x] one\n'),
  [`${impl}/1-4-guest-checkout.md`]: story('1.4', 'ready-for-dev', '- [ ] one\n'),
  '_bmad/custom/bmad-agent-architect.toml':
    '[agent]\nprinciples = [\n  "Boring technology first; PostgreSQL unless proven otherwise",\n]\n',
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/typescript': 'npx vitest run|2 FAILED of 118 tests\n',
  'package.json': '{ "name": "shop" }\n',
  'tsconfig.json': '{}\n',
};

export const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>';

export interface PageProject {
  folder: string;
  home: string;
  tasks: { outside: string; second: string; hostile: string };
}

/** A cache where none can be: what is written there in the background would outlive the folder. */
export const noCache = (folder: string): { cache: string } => ({ cache: join(folder, 'package.json') });

/** Fills a folder as a project looks after some weeks of use, through the operations that its agents call. */
export async function fillPageProject(folder: string, home: string): Promise<PageProject> {
  copyFolder(await installOf('6.12.0'), folder);
  await mkdir(home, { recursive: true });
  // A host whose entry starts what is gone.
  const entry = { command: '/gone/node', args: [serverFile] };
  await writeFiles(home, { '.claude.json': JSON.stringify({ mcpServers: { bmad: entry } }) });
  await writeFiles(folder, SHOP);
  await commitInSteps(folder);
  const session = await sessionIn(folder, {
    home,
    env: { PATH: process.env['PATH'] },
    flags: { trustProject: 'true', ...noCache(folder) },
  });
  const task = async (input: Record<string, unknown>): Promise<string> =>
    ((await session.ok(spawnSubagentTask, input)).data['task'] as { task_id: string }).task_id;
  const outside = await task({
    agent: 'dev',
    task: 'Review the API of the cart and list breaking changes.',
    output_key: 'cart-api',
    needs_approval: 'It came from outside.',
  });
  const hostile = await task({
    agent: 'dev',
    task: `${HOSTILE} \u001b[31mred\u202e`,
    output_key: 'hostile',
    needs_approval: 'It came from outside.',
  });
  const second = await task({
    agent: 'architect',
    task: 'Compare three queues',
    output_key: 'queues',
    needs_approval: 'It costs money.',
  });
  const { data } = await session.ok(runOpen, { workflow: 'prd', total_steps: 5 });
  await session.ok(runCheckpoint, {
    run_id: (data['run'] as { run_id: string }).run_id,
    step: 1,
    notes: 'Read the brief.',
  });
  for (const [type, agent, text] of MEMORIES)
    await session.ok(rememberStructured, { type, agent, text, tags: ['shop'] });
  await session.ok(logFailure, {
    title: 'Delivered without running the tests',
    category: 'CC-FAIL',
    severity: 'critical',
    agent: 'dev',
    what_happened: 'The story was marked done while two tests failed.',
    root_cause: 'The contract was skipped.',
    lesson: 'Run the completion contract before a story is done.',
    rule: 'No story is done without a receipt.',
  });
  await session.ok(createDeliveryContract, {
    from_team: 'web',
    to_team: 'operations',
    signed_by: 'Ada',
    artefacts: [`${out}/architecture.md`],
  });
  await session.ok(runCompletionContract, {});
  await writeFile(join(folder, '.verify/typescript'), 'npx vitest run|118 tests OK\n');
  await session.ok(runCompletionContract, {});
  await writeFile(join(folder, '.verify/typescript'), 'npx vitest run|2 FAILED of 118 tests\n');
  await session.ok(runCompletionContract, {});
  session.close();
  return { folder, home, tasks: { outside, second, hostile } };
}

const MEMORIES = [
  ['decisions', 'architect', 'Orders are kept in PostgreSQL, since reports need joins.'],
  ['decisions', 'architect', 'Sessions are stateless: tokens are renewed every hour.'],
  ['agent-learnings', 'dev', 'Clear the Redis cache between the tests of the cart.'],
  ['shared-context', 'pm', 'Prices are shown with tax in all countries of the shop.'],
  ['failures', 'dev', 'A float was used for money; totals were off by a cent.'],
] as const;

/** The ledger as it grew over some days, so that dates are known. */
async function commitInSteps(folder: string): Promise<void> {
  const run = promisify(execFile);
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  const now = SHOP[LEDGER] ?? '';
  const begun = now.replace('list: done', 'list: in-progress').replace('tax: in-progress', 'tax: backlog');
  const planned = begun
    .replace('list: in-progress', 'list: ready-for-dev')
    .replace('out: review', 'out: backlog');
  const written = (word: string): Record<string, string> => ({
    [`${impl}/1-1-product-list.md`]: story('1.1', word, '- [x] one\n'),
    [`${impl}/1-3-checkout.md`]: story('1.3', word, '- [x] one\n'),
  });
  await run('git', ['init', '-q', '-b', 'trunk', '.'], { cwd: folder });
  const steps = [
    ['02', planned, 'ready-for-dev'],
    ['05', begun, 'in-progress'],
    ['09', now, 'done'],
  ] as const;
  for (const [day, text, word] of steps) {
    await writeFiles(folder, { [LEDGER]: text, ...written(word) });
    const date = `2026-03-${day}T12:00:00Z`;
    await run('git', ['add', '-A'], { cwd: folder });
    await run('git', [...who, 'commit', '-q', '-m', day], {
      cwd: folder,
      env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    });
  }
}
