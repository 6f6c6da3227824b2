import { plural, t } from '../../base/text/message.ts';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { BmadError, ours } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { realFolder } from '../../base/files/files.ts';
import { present, sha256 } from '../../base/values.ts';
import { oneLine } from '../../base/text/text.ts';
import type { Kit } from '../../kit/kit.ts';
import { BUILTIN_VERSION, runBuiltin } from './builtin.ts';
import {
  keepList,
  type LeftOut,
  leftOutOf,
  projectFiles,
  readTree,
  type Tree,
  treeChanges,
  treeOf,
} from './tree.ts';
import { OutputKeeper, endOf, keepLog, keptLog } from './output.ts';
import { readPrograms, type ProgramsRequest } from './programs.ts';
import {
  addReceipt,
  findLatest,
  preparePlace,
  readChain,
  readLatest,
  type Receipt,
  type ReceiptBody,
  receiptPlace,
  type ReceiptSetup,
  RUN_LOCK,
} from './receipts.ts';
import {
  findScript,
  folderInside,
  refuseWindowsLines,
  runScript,
  scriptPaths,
  stackNamed,
  type ProgramSetup,
  type RunResult,
  type Script,
} from './run.ts';
import { type Since, sinceLastPass, type Verification, verifyReceipts } from './verify.ts';
import {
  consentOf,
  headOf,
  lastVerdict,
  personIn,
  requireConsent,
  wayOf,
  type Asking,
  type Consent,
  type TrustSetup,
  type VerifiedSoFar,
} from './trust.ts';
import { Failures } from './runners.ts';
import { VerdictReader } from './verdict.ts';

interface CompletionSetup extends ProgramSetup, ReceiptSetup, Pick<TrustSetup, 'trust' | 'decisions'> {
  root: string;
  /** Takes secrets out of what is shown and kept. */
  hide(text: string): string;
  /** The same for secrets that are known, and not for what only looks like one. */
  hideKnown(text: string): string;
}

interface CompletionRequest {
  stack?: string | undefined;
  workingDir?: string | undefined;
  /** How much of the output is answered, in characters. */
  room: number;
}

interface Caller extends Asking {
  signal: AbortSignal;
  progress(message: string): void;
}

/** Whether what is there is really done, and what was found out about that before. */
export type Completion = Awaited<ReturnType<typeof openCompletion>>;

export { receiptsLog } from './receipts.ts';

export async function openCompletion(setup: CompletionSetup) {
  const { kit } = setup;
  const root = (await realFolder(setup.root)) ?? setup.root;
  const leftOut = leftOutOf(kit, root, setup.state);
  return {
    run: (request: CompletionRequest, caller: Caller) =>
      runCompletion({ setup, kit, root, leftOut }, request, caller),
    /** What a run would start, and whether it may. */
    async consent(workingDir?: string): Promise<Consent> {
      const plan = await planOf({ setup, root }, { workingDir });
      const programs = await readPrograms(plan, await scriptOf(root, kit));
      return consentOf(programs, setup);
    },
    /** What a run would start, as a person would type it; none where nothing would be started. */
    async commands(): Promise<readonly string[]> {
      return (await readPrograms(await planOf({ setup, root }, {}), await scriptOf(root, kit))).commands;
    },
    /** What has been verified so far, and whether a run could verify more. */
    async standing(): Promise<VerifiedSoFar> {
      const place = await receiptPlace(setup);
      const last = await findLatest(place, ({ intact, fromHere }) => lastVerdict(intact, fromHere));
      const programs = await readPrograms(await planOf({ setup, root }, {}), await scriptOf(root, kit));
      const way = await wayOf(programs, setup);
      return { last: last.found, way };
    },
    /** That no receipt proves the work, where one could; what cannot be read says nothing. */
    async unproven(): Promise<string[]> {
      const known = await this.standing().catch(ours(() => undefined));
      if (known === undefined || known.way.may === 'nothing' || known.last?.status === 'PASS') return [];
      return [
        known.last === undefined
          ? t`No receipt proves it: the completion contract has not been run.`
          : t`No receipt proves it: the completion contract did not pass (${known.last.id}).`,
      ];
    },
    /** Whether anything has changed since the last PASS, by a look that is short enough for every call. */
    async since(signal: AbortSignal): Promise<Since | undefined> {
      const place = await receiptPlace(setup);
      const contract = contractOf(await scriptOf(root, kit));
      return sinceLastPass({ root, place, contract, leftOut, env: setup.env }, signal);
    },
    /** The newest, at least so many if there are. */
    async receipts(least: number) {
      const place = await receiptPlace(setup);
      return { ...(await readLatest(place, least)), place };
    },
    /** What is kept of the output of a run, and in it what test runners say of each failure; of older runs nothing is. */
    async output(id: string, room: number) {
      const log = await keptLog(await receiptPlace(setup), id);
      if (log === undefined) return undefined;
      const failures = new Failures();
      const lines = log.split('\n');
      for (const line of lines) failures.line(line, 'stdout');
      const told = failures.told(Math.max(0, room - MOST_END));
      return { failures: told, end: endOf(log, room - told.length), lines: lines.length };
    },
    async verify(caller: Pick<Caller, 'signal' | 'progress'>): Promise<Verification> {
      const place = await receiptPlace(setup);
      const contract = contractOf(await scriptOf(root, kit));
      const tree = () => readTree(root, leftOut, setup.env, caller);
      return verifyReceipts(place, await readChain(place), contract, tree);
    },
  };
}

const scriptOf = (root: string, kit: Kit): Promise<Script | undefined> =>
  findScript(root, scriptPaths(kit.folder));

/** Where and with what a run would be. */
async function planOf(
  { setup, root }: Pick<CompletionProject, 'setup' | 'root'>,
  { stack, workingDir }: Pick<CompletionRequest, 'stack' | 'workingDir'>,
): Promise<ProgramsRequest> {
  const named = stackNamed(stack);
  const { folder, place } = await folderInside(root, workingDir);
  return { ...setup, root, folder: folder === '.' ? '' : folder, place, stack: named };
}

interface CompletionProject {
  setup: CompletionSetup;
  kit: Kit;
  root: string;
  leftOut: LeftOut;
}

function contractOf(script: Script | undefined): Receipt['contract'] {
  return script === undefined
    ? { kind: 'builtin', version: BUILTIN_VERSION }
    : { kind: 'script', path: script.path, sha256: sha256(script.content) };
}

/** How much of the end of the output is answered beside failures, where there are none, and with a PASS that names neither steps nor tests. */
const LEAST_END = 1_500;
const MOST_END = 3_000;
const PASSED_END = 300;

async function runCompletion(project: CompletionProject, request: CompletionRequest, caller: Caller) {
  const { setup, kit, root, leftOut } = project;
  const { signal, progress } = caller;
  const plan = await planOf(project, request);
  const { stack } = plan;
  const folder = plan.folder === '' ? '.' : plan.folder;
  const script = await scriptOf(root, kit);
  if (script !== undefined) refuseWindowsLines(script);
  const programs = await readPrograms(plan, script);
  const consent = await requireConsent(programs, setup, caller);
  const receipts = await receiptPlace(setup);
  await preparePlace(receipts);
  // Tests share ports, databases and build folders: two runs at once would fail each other.
  const lock = {
    waitMs: setup.timeoutMs,
    signal,
    inside: receipts.inside,
    onWait: () => progress(t`Waiting for another verification to finish`),
  };
  return withLock(join(receipts.folder, RUN_LOCK), lock, async () => {
    // While somebody was asked, or another run waited for, it may have become something that nobody has allowed.
    const now = await readPrograms(plan, await scriptOf(root, kit));
    const isAtCommit = consent === undefined || (await headOf(root, setup.env)) === consent.commit;
    if (now.digest !== programs.digest || !isAtCommit) throw changedMeanwhile();
    progress(t`Reading the project's files`);
    const files = await projectFiles(root, leftOut, setup.env, signal);
    const listed = await files.list();
    const [tree, git] = await Promise.all([
      treeOf(root, listed, leftOut, { signal, progress }),
      files.standing(listed),
    ]);
    const reader = new VerdictReader();
    const teller = tellerOf(progress, setup.hide);
    const keeper = new OutputKeeper((line, from) => teller.line(line, reader.line(line, from)));
    const started = new Date();
    const clock = performance.now();
    const run = {
      ...setup,
      ...plan,
      scriptPath: scriptPaths(kit.folder)[0] ?? '',
      keeper,
      reader,
      signal,
    };
    let result: RunResult;
    try {
      result = await (script === undefined ? runBuiltin(run) : runScript(script, run));
    } finally {
      teller.stop();
    }
    const durationMs = Math.round(performance.now() - clock);
    const after = await treeOf(root, await files.list(), leftOut, { signal, progress });
    const shown = withChanges({ ...result, steps: hidden(result.steps, setup.hide) }, tree, after);
    const body = present<ReceiptBody>({
      status: shown.status,
      reason: shown.reason,
      contract: contractOf(script),
      directory: folder,
      stack: stack ?? 'auto',
      stacks: shown.stacks,
      steps: shown.steps,
      by: `${personIn(setup)}@${hostname()}`,
      exit_code: shown.exitCode,
      signal: shown.signal,
      timed_out: shown.timedOut,
      started: started.toISOString(),
      // The clock of the machine may go back in between.
      ended: new Date(started.getTime() + durationMs).toISOString(),
      duration_ms: durationMs,
      git,
      tree: {
        digest: tree.digest,
        files: tree.files,
        listed: tree.listed,
        left_out: tree.unread,
        ...(after.digest === tree.digest ? {} : { after: after.digest }),
      },
    });
    const { receipt, notes, file: receiptFile } = await addReceipt(receipts, body);
    const passed = shown.status === 'PASS';
    if (passed) await keepList(receipts, tree);
    const { text, lines } = keeper.kept;
    const log = setup.hide(text);
    const file = await keepLog(receipts, receipt.id, log).catch(
      ours(({ message }) => {
        notes.push(t`The output could not be kept: ${message}`);
        return undefined;
      }),
    );
    const failures = passed ? '' : setup.hide(reader.failures.told(Math.max(0, request.room - LEAST_END)));
    const { counts } = reader;
    const passedEnd = counts === '' && shown.steps.length === 0 ? PASSED_END : 0;
    const end = passed ? passedEnd : Math.min(MOST_END, request.room - failures.length);
    return {
      ...shown,
      hints: [...shown.hints, ...notes],
      contract: receipt.contract,
      directory: folder,
      durationMs,
      counts,
      failures,
      output: { end: endOf(log, end), lines, file },
      receipt,
      receiptFile,
    };
  });
}

const changedMeanwhile = (): BmadError =>
  new BmadError('conflict', t`What the project runs changed before it could be run.`, {
    hint: t`Nothing was run. Try again.`,
  });

const hidden = (steps: RunResult['steps'], hide: (text: string) => string): RunResult['steps'] =>
  steps.map((step) => ({ ...step, command: hide(step.command) }));

/** Files that the run itself wrote make it unclear what was verified; the reader has to know. */
function withChanges(result: RunResult, before: Tree, after: Tree): RunResult {
  const left =
    before.unread === 0
      ? []
      : [t`${plural(before.unread, 'file')} could not be read, so this verdict proves nothing later.`];
  if (before.digest === after.digest) return { ...result, hints: [...result.hints, ...left] };
  const changes = treeChanges(before.list, after.list);
  const named = changes.slice(0, 5).map(({ path, change }) => `${path} (${change})`);
  const more = changes.length > named.length ? t` and ${changes.length - named.length} more` : '';
  const hint = t`Files changed during the run: ${named.join(', ')}${more}. The receipt covers the files as they were before the run; add generated files to .gitignore.`;
  return { ...result, hints: [...result.hints, ...left, hint] };
}

const EVERY_MS = 250;
const SILENT_MS = 10_000;

/** Tells how far it is: steps at once, other lines now and then, and in silence that it still runs. */
function tellerOf(progress: (message: string) => void, hide: (text: string) => string) {
  const started = performance.now();
  let told = 0;
  const tell = (message: string): void => {
    told = performance.now();
    progress(hide(oneLine(message, 200)));
  };
  const timer = setInterval(() => {
    if (performance.now() - told >= SILENT_MS)
      tell(t`Still running after ${Math.round((performance.now() - started) / 1_000)} s`);
  }, SILENT_MS / 2);
  timer.unref();
  return {
    line(line: string, step: boolean): void {
      if (line.trim() !== '' && (step || performance.now() - told >= EVERY_MS)) tell(line);
    },
    stop: () => clearInterval(timer),
  };
}
