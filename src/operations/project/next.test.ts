import { chmod, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { progressProject } from '../../../tests/support/progress-project.ts';
import { ledger, TEXT, type ProgressTree } from '../../../tests/support/progress-trees/pieces.ts';
import { TREES } from '../../../tests/support/progress-trees/trees.ts';
import { openSession } from '../../../tests/support/operations.ts';
import type { Step } from '../../base/step.ts';
import { activate } from '../activation/activate.ts';
import { bmad } from '../unified/bmad.ts';
import { execute } from '../execute.ts';
import { getProjectContext } from './project-context.ts';
import { next } from './next.ts';
import { isUsual } from '../../../tests/support/how-much.ts';

interface Evidence {
  file: string;
  line?: number;
  says: string;
}
interface Data {
  phases: { phase: string; state: string }[];
  actions: {
    what: string;
    why: string;
    use?: string;
    agent?: string;
    steps: Step[];
    optional: boolean;
    of: string;
    evidence: Evidence[];
  }[];
  drift: { kind: string; about: string; evidence: Evidence[] }[];
  items: { id: string; kind: string; phase: string; state: string; evidence: Evidence[] }[];
  troubles: { file: string; message: string }[];
}

const LETTERS: Record<string, string> = {
  complete: 'c',
  'in progress': 'p',
  'not started': 'n',
  unknown: 'u',
};
const place = ({ file, line }: Evidence): string => (line === undefined ? file : `${file}:${line}`);

function verdictOf({ phases, actions: all, drift, items, troubles }: Data, tree: ProgressTree): ProgressTree {
  const actions = all.filter(({ of }) => of !== 'new');
  const ways = all.filter(({ of }) => of === 'new');
  const [first] = actions;
  const what = first?.what ?? '-';
  const [wanted] = tree.next;
  const ids = Object.keys(tree.items ?? {});
  const found = ids.map((id) => {
    const item = items.find((other) => other.id === id);
    const [proof] = item?.evidence ?? [];
    return [id, `${item?.state ?? 'missing'}${proof === undefined ? '' : ` ${place(proof)}`}`] as const;
  });
  return {
    ...tree,
    phases: phases.map(({ state }) => LETTERS[state] ?? '?').join(''),
    next: [wanted instanceof RegExp && wanted.test(what) ? wanted : what, first?.use ?? '-'],
    ...(tree.all === undefined ? {} : { all: actions.map(shown) }),
    ...(tree.ways === undefined ? {} : { ways: ways.map((way) => shown({ ...way, optional: false })) }),
    ...(tree.drift === undefined ? {} : { drift: drift.map(({ kind, about }) => `${kind} ${about}`) }),
    ...(tree.items === undefined ? {} : { items: Object.fromEntries(found) }),
    ...(tree.troubles === undefined ? {} : { troubles: troubles.map(({ file }) => file) }),
  };
}

function shown({ what, use, agent, optional }: Data['actions'][number]): string {
  const who = use === undefined ? '' : ` → ${use}${agent === undefined ? '' : ` by ${agent}`}`;
  return `${what}${optional ? ' (optional)' : ''}${who}`;
}

const installs = [...new Set(TREES.map(({ install }) => install))].filter(
  (install) => install === undefined || isUsual(install),
);

describe.each(installs.map((install) => [install ?? 'no install', install] as const))(
  '%s',
  async (_, install) => {
    const { folder, fill } = await progressProject(afterAll, install);
    const context = await contextIn(folder);
    const started = new Set<string>();

    it.each(TREES.filter((tree) => tree.install === install).map((tree) => [tree.name, tree] as const))(
      '%s',
      async (_name, tree) => {
        await fill(tree.files);
        for (const [path, time] of Object.entries(tree.times ?? {}))
          await utimes(join(folder, path), new Date(time), new Date(time));
        const outcome = await execute(next, { detail: 'full' }, context, testCall());
        if (!outcome.ok) throw outcome.error;
        const data = outcome.data as unknown as Data;
        expect(verdictOf(data, tree)).toEqual(tree);
        // What a tree says about BMAD itself may change what a call starts.
        const isPlain = !Object.keys(tree.files).some((path) => /^\.?_?bmad(?:-core)?\//.test(path));
        await everyCallWorks(data, context, isPlain ? started : new Set());
        await everyLineIsThere(data, tree.files);
        await everyAnswerAgrees(data, context);
      },
    );
  },
);

/** What is recommended really is in the catalogue: the call that is given starts it, whichever tree it was given for. */
async function everyCallWorks(
  { actions }: Data,
  context: Awaited<ReturnType<typeof contextIn>>,
  started: Set<string>,
): Promise<void> {
  for (const { steps } of actions) {
    const [{ operation, args = {} } = { operation: '' }] = steps;
    const key = JSON.stringify(args);
    if (operation !== 'execute' || started.has(key)) continue;
    started.add(key);
    const outcome = await execute(activate, args, context, testCall());
    expect(outcome.ok, key).toBe(true);
    const command = /^\*([\w-]+)/.exec(JSON.stringify(args['message'] ?? '').slice(1))?.[1];
    // An agent of version 4 really has the command it is told.
    if (outcome.ok && command !== undefined)
      expect(outcome.answer.body).toMatch(new RegExp(`- ${command}[ :{]`));
  }
}

/** No evidence points behind the end of its file, and what a ledger is quoted with stands in that line. */
async function everyLineIsThere(
  { items, drift, actions }: Data,
  files: ProgressTree['files'],
): Promise<void> {
  for (const { evidence } of [...items, ...drift, ...actions])
    for (const { file, line, says } of evidence) {
      const text = files[file];
      if (text === undefined || line === undefined) continue;
      const lines = text.split('\n');
      expect(line).toBeLessThanOrEqual(lines.length);
      if (file.includes('sprint-status') && /^[\w-]+$/.test(says)) expect(lines[line - 1]).toContain(says);
    }
}

const PIECES = new Set(['prd', 'spec', 'ux', 'architecture', 'epics', 'brief']);

/** The context of the project has the same documents in the same states, and what agents are given has them too (M-51). */
async function everyAnswerAgrees(
  { items }: Data,
  context: Awaited<ReturnType<typeof contextIn>>,
): Promise<void> {
  const wanted = items.flatMap(({ kind, phase, state, evidence: [proof] }) =>
    proof === undefined || state === 'not started' || (phase === 'implementation' && kind !== 'sprint')
      ? []
      : [{ kind, state, path: proof.file }],
  );
  const documents = (all: readonly { kind: string; state: string; path: string }[]) =>
    // A ledger is never complete: how many of its stories are done is said instead.
    all.map((each) => (each.kind === 'sprint' ? { ...each, state: 'a ledger' } : each));
  const outcome = await execute(getProjectContext, {}, context, testCall());
  if (!outcome.ok) throw outcome.error;
  const { data, answer } = outcome;
  const told = data['documents'] as typeof wanted;
  expect(documents(told)).toEqual(documents(wanted));
  for (const { path, state } of told.slice(0, 12)) expect(answer.body).toContain(`${path} (${state})`);
  if (wanted.length > 0) expect(answer.body).not.toContain('no BMAD files of its own');
  const given = await (await (await context.state()).progress()).documents();
  const left = wanted.filter(
    ({ kind, state, path }) =>
      PIECES.has(kind) &&
      state !== 'unknown' &&
      state !== 'skipped' &&
      !given.some((document) => document.path === path),
  );
  expect(left).toEqual([]);
  const judged = wanted.flatMap((one) =>
    given.filter(({ path, kind }) => path === one.path && kind === one.kind),
  );
  for (const { path, kind, state } of judged)
    expect(wanted, path).toContainEqual(expect.objectContaining({ path, kind, state }));
}

describe('the table of trees', () => {
  it('has at least forty, each with a name of its own', () => {
    expect(TREES.length).toBeGreaterThanOrEqual(40);
    expect(new Set(TREES.map(({ name }) => name)).size).toBe(TREES.length);
  });
});

const IMPL = '_bmad-output/implementation-artifacts';

describe('next', () => {
  it('is short by default and has the evidence when asked', async () => {
    const { ok, folder } = await openSession(afterAll);
    const rows = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `1-${index + 1}-story-number-${index + 1}`,
        index < 5 ? 'finished' : 'review',
      ]),
    );
    await writeFiles(folder, {
      [`${IMPL}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', ...rows }),
    });
    const { answer } = await ok(next);
    expect(Buffer.byteLength(`${answer.body}${answer.note ?? ''}`)).toBeLessThanOrEqual(1_500);
    expect(answer.body).toContain('Review story 1-6-story-number-6');
    expect(answer.body).not.toContain('| phase |');
    const full = await ok(next, { detail: 'full' });
    expect(full.answer.body).toContain(
      `| implementation | 1-6-story-number-6 | in progress | ${IMPL}/sprint-status.yaml:11 review |`,
    );
    const brief = await ok(next, { detail: 'brief' });
    expect(brief.answer.body.split('\n').length).toBeLessThan(8);
  });

  it('is an operation of the unified tool, also as a bare word, and the same each time', async () => {
    const { ok } = await openSession(afterAll);
    const first = await ok(bmad, { operation: 'next' });
    expect(first.data).toMatchObject({ operation: 'next' });
    expect((await ok(bmad, { command: 'next' })).answer).toEqual(first.answer);
  });

  it('tells of what it cannot read, and goes on', async () => {
    const { ok, folder } = await openSession(afterAll);
    const outside = await temporaryFolder(afterAll);
    await writeFiles(outside, { 'sprint-status.yaml': ledger({ 'epic-1': 'done' }) });
    await writeFiles(folder, {
      [`${IMPL}/`]: '',
      '_bmad-output/planning-artifacts/prd.md': `# PRD\n\n${TEXT.repeat(30_000)}`,
      '_bmad-output/planning-artifacts/epics.md': Buffer.from([0xff, 0xfe, 0x41, 0x00]),
      '_bmad-output/planning-artifacts/architecture.md': `# A\n\n${TEXT}`,
    });
    await symlink(join(outside, 'sprint-status.yaml'), join(folder, IMPL, 'sprint-status.yaml'));
    const { data } = await ok(next, { detail: 'full' });
    const { troubles, items, phases } = data as unknown as Data;
    expect(troubles.map(({ file, message }) => `${file}: ${message}`)).toEqual([
      `${IMPL}/sprint-status.yaml: it is a link that points outside the project`,
      '_bmad-output/planning-artifacts/epics.md: it is not UTF-8 text',
      '_bmad-output/planning-artifacts/prd.md: it is larger than 4194304 bytes',
    ]);
    expect(phases.map(({ state }) => state)).toEqual(['not started', 'unknown', 'in progress', 'unknown']);
    expect(items.find(({ id }) => id === 'prd')?.state).toBe('unknown');
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'says when a permission is missing',
    async () => {
      const { ok, folder } = await openSession(afterAll);
      await writeFiles(folder, { [`${IMPL}/sprint-status.yaml`]: ledger({ 'epic-1': 'done' }) });
      await chmod(join(folder, IMPL, 'sprint-status.yaml'), 0o000);
      const { data } = await ok(next);
      expect((data as unknown as Data).troubles).toEqual([
        { file: `${IMPL}/sprint-status.yaml`, message: 'permission denied' },
      ]);
    },
  );

  it('bears lines without end and comments that are never closed', async () => {
    const { ok, folder } = await openSession(afterAll);
    await writeFiles(folder, {
      '_bmad-output/planning-artifacts/prd.md': `# PRD\n\nStatus: ${'a '.repeat(60_000)}\n${'<!-- '.repeat(40_000)}\n${'`{{a '.repeat(40_000)}`,
      [`${IMPL}/1-1-setup.md`]: `# Story 1.1: T\n\n**Status: ${'* '.repeat(60_000)}\nStatus: done\n`,
      [`${IMPL}/sprint-status.yaml`]: ledger(
        Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${index + 1}-1-s`, 'done'])),
      ),
    });
    const { data } = await ok(next);
    expect(data['totals']).toMatchObject({ stories: 1_000, done: 1_000 });
  });

  it('says what each kind of architecture is for, and puts what may be skipped behind what is needed (P2-11)', async () => {
    const { folder, fill } = await progressProject(afterAll, '4.44.3');
    const context = await contextIn(folder);
    const ask = async (operation: typeof next, input: object) => {
      const outcome = await execute(operation, input, context, testCall());
      if (!outcome.ok) throw new Error(outcome.error.text);
      return outcome;
    };
    const prd = { 'docs/prd.md': `# PRD\n\n${TEXT}\n## Epic 1 Base\n\n### Story 1.1 Setup\n` };
    await fill({ ...prd, 'docs/architecture.md': `# Architecture\n\n${TEXT}` });
    const { answer } = await ask(next, { detail: 'brief' });
    expect(answer.body).toContain('1. Shard the PRD');
    expect(answer.body).not.toContain('2. ');
    const more = (await ask(next, {})).answer.body;
    expect(more).toContain('2. Shard the architecture');
    expect(more).not.toContain('checklist');
    expect((await ask(next, { detail: 'full' })).answer.body).toContain(
      "3. Run the product owner's master checklist (optional)",
    );
    await fill(prd);
    const begun = (await ask(next, {})).answer.body;
    expect(begun).toMatch(
      /^planning there · solutioning not started\n1\. Write the architecture: .*\n {3}With a user interface: .*\*create-full-stack-architecture.*\n {3}Without a user interface: .*\*create-backend-architecture.*\n(?! {3})/,
    );
    expect(begun).not.toContain('brownfield');
    await fill({ ...prd, 'src/index.js': '1\n' });
    expect((await ask(next, {})).answer.body).toMatch(
      /\n {3}For a change to the existing code: .*\*create-brownfield-architecture/,
    );
  });

  it('needs a project', async () => {
    const folder = await temporaryFolder(afterAll);
    const context = await contextIn(folder, { cwd: '/', home: '/root' });
    const outcome = await execute(next, {}, context, testCall());
    expect(outcome.ok ? undefined : outcome.error.hint).toMatch(/--project/);
  });
});
