import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { cp, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Outside } from '../../../src/app/app.ts';
import { projectKey } from '../../../src/base/files/paths.ts';
import { stepLines, type Step } from '../../../src/base/step.ts';
import type { Call } from '../../../src/operations/context.ts';
import type { CallOutcome } from '../../../src/operations/execute.ts';
import { toolCall } from '../../../src/operations/unified/forms.ts';
import { homeBeside, testCall } from '../app.ts';
import { isOnDatabase } from '../team-state.ts';
import { SAMPLE_EXPORT } from './samples.ts';
import { countStep, modelSurface } from './surfaces.ts';

/** The kinds of steps that were taken here or in another worker: a folder each, which only the first can make. */
const TAKEN = 'kinds-of-steps';

/** A call that keeps the steps which are written inside of texts. */
export function recordingCall(): { call: Call; said: Step[] } {
  const said: Step[] = [];
  const say: Call['say'] = (step) => {
    said.push(step);
    return toolCall(step);
  };
  return { call: { ...testCall(), say }, said };
}

/**
 * Takes each new kind of step that an answer or an error recommends, as a model would: it is printed by the MCP surface,
 * read, and called. Throws where one leads nowhere.
 */
export async function takeRecommended(
  outcome: CallOutcome,
  said: readonly Step[],
  folder: string,
  outside: Partial<Outside>,
): Promise<void> {
  // A store on a server is not copied with the project: a step would change what the test looks at.
  if (isOnDatabase || /qdrant/i.test(JSON.stringify([outside.flags, outside.env]))) return;
  const steps = [...said, ...(outcome.ok ? (outcome.answer.steps ?? []) : outcome.error.steps)];
  const fresh = steps.filter((step) => isNew(step, folder));
  // A cursor belongs to an answer of this very place, and asks for more of what was read.
  const here = fresh.filter(({ args = {} }) => 'cursor' in args);
  const elsewhere = fresh.filter((step) => !here.includes(step));
  const cleanUps: (() => Promise<void>)[] = [];
  const onEnd = (cleanUp: () => Promise<void>): void => void cleanUps.push(cleanUp);
  try {
    if (here.length > 0)
      await takeAll(here, await modelSurface(folder, onEnd, { outside: { flags: {}, ...outside } }));
    if (elsewhere.length > 0) {
      const copy = await copyOf(folder, onEnd);
      await writeFile(join(copy, 'sample.jsonl'), SAMPLE_EXPORT);
      const used = outside.home ?? homeBeside(folder);
      const home = existsSync(used) ? await copyOf(used, onEnd) : undefined;
      if (home !== undefined) await moveState(home, folder, copy);
      const flags = { ...inCopy(outside.flags ?? {}, folder, copy), embedder: 'none' };
      const there = { ...outside, flags, ...(home === undefined ? {} : { home }) };
      const surface = await modelSurface(copy, onEnd, { outside: there });
      await takeAll(elsewhere, surface, (text) => text.replaceAll(folder, copy));
    }
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

/** The same flags for the copy: one of them may name the project. */
function inCopy(flags: Outside['flags'], folder: string, copy: string): Outside['flags'] {
  return JSON.parse(
    JSON.stringify(flags).replaceAll(JSON.stringify(folder).slice(1, -1), copy),
  ) as Outside['flags'];
}

async function takeAll(
  steps: readonly Step[],
  surface: Awaited<ReturnType<typeof modelSurface>>,
  change = (text: string): string => text,
): Promise<void> {
  for (const step of surface.stepsIn(change(stepLines(steps, surface.write).join('\n')))) {
    countStep(step);
    const why = await surface.take(step);
    // What is filled in here is a sample: the test may have nothing of that name.
    if (why === 'not_found' && step.text.includes('…')) continue;
    if (why !== undefined) throw new Error(`A recommended step leads nowhere: ${step.text}: ${why}`);
  }
}

/** Of one kind are steps of the same operation with arguments of the same names, in projects alike. */
function isNew({ operation, args = {}, open = [] }: Step, folder: string): boolean {
  const names = [...Object.keys(args), ...open].sort();
  const kind = ['_bmad/_memory', '_bmad', 'bmad', '.bmad-core'].find((part) =>
    existsSync(join(folder, part)),
  );
  return isFirst([operation, ...names, kind].join(' '));
}

function isFirst(kind: string): boolean {
  const name = createHash('sha256').update(kind).digest('hex');
  const folder = join(process.env['BMAD_TEST_FOLDER'] ?? tmpdir(), TAKEN);
  mkdirSync(folder, { recursive: true });
  return mkdirSync(join(folder, name), { recursive: true }) !== undefined;
}

async function copyOf(folder: string, onEnd: (cleanUp: () => Promise<void>) => void): Promise<string> {
  const copy = await realpath(await mkdtemp(join(tmpdir(), 'bmad-copy-')));
  onEnd(() => rm(copy, { recursive: true, force: true }));
  // SQLite removes its log when the last of its users leaves, which may be now.
  for (let tries = 1; ; tries++) {
    try {
      await cp(folder, copy, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
      return copy;
    } catch (error) {
      if (!String(error).includes('ENOENT') || tries === 3) throw error;
    }
  }
}

/** State that is kept with the user is found by the place of the project, so it is put where the copy's is looked for. */
async function moveState(home: string, folder: string, copy: string): Promise<void> {
  const state = join(home, '.local/state/bmad-mcp-server');
  for (const part of existsSync(state) ? await readdir(state) : []) {
    const before = join(state, part, projectKey(folder));
    if (existsSync(before)) await rename(before, join(state, part, projectKey(copy)));
  }
}
