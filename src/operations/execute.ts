import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import { calledBy, callerOf } from '../base/caller.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { underWay } from '../base/async.ts';
import { saying, type Step } from '../base/step.ts';
import { cutToFit } from '../base/text/markdown.ts';
import { t } from '../base/text/message.ts';
import { answerRoom } from '../base/text/paging.ts';
import { byteLength, kilobytes } from '../base/text/text.ts';
import { type Call, type Context, inProject, type SettingsPort, type Workspace } from './context.ts';
import { checkedInput, type SpokenNames } from './input.ts';
import { withAbsence } from './answer-text.ts';
import { namedOperation } from './offers.ts';
import type { Answer, AnyOperation, Operation, Route } from './operation.ts';
import { unusedState, withPlaceTold, withTrouble } from './project/state-place.ts';
import { refuseOutside, withinQuota } from './bounds.ts';
import { observedCall, type Once, once, projectIn, tellOfEnd, withoutPlaces } from './observed.ts';
import { mayRead, mayRunPrograms, UNIFIED } from './toolsets.ts';

export type CallOutcome =
  | {
      ok: true;
      data: Record<string, unknown>;
      answer: Answer;
      failed: boolean;
      /** It is the answer of an earlier call with the same key. */
      before?: true;
    }
  | { ok: false; error: BmadError };

/** The only door to an operation: checks the input, runs it, checks the output, hides secrets, logs. Never throws. */
export async function execute(
  operation: AnyOperation,
  raw: unknown,
  context: Context,
  call: Call,
): Promise<CallOutcome> {
  const started = performance.now();
  let given: Given | undefined;
  let again: Repeated | undefined;
  let over: (() => void) | undefined;
  let writes = operation.effect !== 'read' && operation.route === undefined;
  const called = observedCall(operation.name, call);
  try {
    call.signal.throwIfAborted();
    const asked = await meantBy(operation, raw, context, call);
    const { meant, input } = asked;
    given = input;
    again = asked.repeated;
    if (meant !== operation) called.meant = meant.name;
    writes = meant.effect !== 'read' && meant.writes?.(input) !== false;
    // Callers that nobody has identified are told apart by their sessions.
    const who = call.caller ?? call.session ?? (writes ? 'anyone' : undefined);
    over = who === undefined ? undefined : await context.turn?.(who, writes);
    call.signal.throwIfAborted();
    const seen = forCall(context, input, call);
    await refuseOutside([operation, meant], seen, call);
    const keyed = writes && call.key !== undefined;
    const work = async (): Promise<Done> => {
      if (writes) await context.announce?.(called);
      // Who can ask again what came of it need not be there until then.
      return ran(asked, seen, keyed ? { ...call, left: call.signal, signal: NEVER } : call, writes);
    };
    const bounded = () => withinQuota([operation, meant], seen, call, work);
    const [done, before] = keyed ? await once(asked, seen, call, bounded) : [await bounded(), false];
    context.log.debug('operation', { name: operation.name, ms: elapsed(started) });
    await tellOfEnd(seen, called, { began: started, writes: writes && !before, input, data: done.made });
    return before ? { ...done.outcome, before: true } : done.outcome;
  } catch (thrown) {
    // Once the caller has left, whatever went wrong is a consequence of that.
    const reason = call.signal.aborted ? new BmadError('cancelled', t`The call was cancelled.`) : thrown;
    const error = BmadError.from(reason, (id, original) =>
      context.log.error('incident', {
        id,
        name: operation.name,
        error: original instanceof Error ? (original.stack ?? original.message) : String(original),
      }),
    );
    context.log.debug('operation failed', { name: operation.name, code: error.code, ms: elapsed(started) });
    const seen = forCall(context, given ?? { project: projectIn(raw) }, call);
    await tellOfEnd(seen, called, { began: started, writes, input: given ?? {}, error });
    const safe = fromTheStart(withoutPlaces(error, call), again).map((text) => context.secrets.redact(text));
    return { ok: false, error: safe.with({ steps: safeSteps(safe.steps, given ?? {}, context) }) };
  } finally {
    over?.();
  }
}

const NEVER = new AbortController().signal;

/** An answer, and its data before it is put into the words of the tool. */
type Done = Once<Extract<CallOutcome, { ok: true }>, Record<string, unknown>>;

async function ran(
  { meant, input, route, repeated, unused }: Meant,
  seen: Context,
  call: Call,
  writes: boolean,
): Promise<Done> {
  const { say } = call;
  const own =
    say === undefined || input['project'] === undefined
      ? call
      : { ...call, say: (step: Step) => say(withProject(step, input)) };
  const fresh = meant.keeps === true ? await unusedState(seen) : undefined;
  const run = () => onOneView(seen, meant.effect === 'read', (view) => meant.run(input, view, own));
  // To follow who calls makes every step of the program slower, and what only reads notes it nowhere.
  const result = await underWay(() => (writes ? calledBy(callerOf(call), run) : run()));
  // What comes by a route is checked against its schema by the tests; here it would only cost time.
  const data = route === undefined ? meant.output.parse(result) : result;
  // What was written stays written: a caller who can still be answered, by a server that ends, has to learn of it.
  if (meant.effect === 'read') call.signal.throwIfAborted();
  const rendered = meant.render(data, saying(own.say));
  const shown = shaped(rendered, meant, repeated, seen);
  // What tells of the place is loaded where there may be something to tell: most calls keep nothing.
  const told = withUnused(fresh === undefined ? shown : await withPlaceTold(shown, fresh), unused);
  const trouble = meant.effect === 'read' ? seen.stateTrouble() : undefined;
  let hidden: unknown;
  return {
    made: data,
    outcome: {
      ok: true,
      // Most callers read the text alone.
      get data() {
        hidden ??= seen.secrets.hideIn(
          route?.within === undefined ? data : { ...route.within, result: data },
        );
        return hidden as Record<string, unknown>;
      },
      answer: redacted(trouble === undefined ? told : withTrouble(told, trouble), input, seen),
      failed: meant.failed?.(data) ?? false,
    },
  };
}

type StateOf = Awaited<ReturnType<Context['state']>>;

function safeSteps(steps: readonly Step[], input: Given, { secrets, tools }: Context): readonly Step[] {
  const possible = steps.filter(({ operation }) => !tools.withheld.operations.has(operation));
  return secrets.hideIn(possible.map((step) => withProject(step, input))) as readonly Step[];
}

function withheld({ name }: AnyOperation, { configFrom, settingKeys }: Context): BmadError {
  return new BmadError('forbidden', t`The operation ${quoted(name)} is turned off.`, {
    subject: name,
    hint: t`${settingKeys['excludeTools'] ?? 'excludeTools'} names it (${configFrom.excludeTools}).`,
  });
}

/** A caller who has named a project means it in the next call as well. */
function withProject(step: Step, { project }: Given): Step {
  return project === undefined ? step : { ...step, args: { project, ...step.args } };
}

interface Meant {
  /** The operation that is run: the one that was called, or the one it stands for. */
  meant: AnyOperation;
  input: Record<string, unknown>;
  route?: Route;
  /** What a caller calls again for more of the answer. */
  repeated: Repeated;
  /** What was given although the operation that is meant does not take it, in words. */
  unused?: string;
}

/** Models fill in what the schema of a tool lists, whether or not it is about this operation. */
function withUnused(answer: Answer, unused: string | undefined): Answer {
  return unused === undefined ? answer : { ...answer, note: [answer.note, unused].filter(Boolean).join(' ') };
}

async function meantBy(operation: AnyOperation, raw: unknown, context: Context, call: Call): Promise<Meant> {
  const asked = allowedInput(operation, raw, {}, context, call);
  const route = operation.route?.(asked);
  const called = { operation, input: asked };
  if (route === undefined) return { meant: operation, input: asked, repeated: called };
  const meant = await namedOperation(route.to);
  const own = (route.form === true ? meant.fromForm?.(route.args) : undefined) ?? route;
  const spoken = {
    // A tool that stands for others says which one it is by a word.
    name: route.within?.['operation'] ?? route.within?.['action'] ?? operation.name,
    args: { ...own.spoken, ...route.spoken },
  };
  const extra = route.form === true ? extraIn(own.args, operation, meant) : [];
  const args = Object.fromEntries(Object.entries(own.args).filter(([key]) => !extra.includes(key)));
  const input = allowedInput(meant, args, spoken, context, call);
  return {
    meant,
    input,
    route,
    repeated: operation.name in UNIFIED ? { operation: meant, input } : called,
    ...(extra.length === 0 ? {} : { unused: t`Not used by ${spoken.name}: ${extra.join(', ')}.` }),
  };
}

/** These say where to look: to leave them out would answer another question. */
const PLACES = new Set(['project', 'origin']);

/** What a tool lists for others of its operations. */
function extraIn(args: Given, tool: AnyOperation, { input, synonyms = {} }: AnyOperation): string[] {
  return Object.keys(args).filter(
    (key) => key in tool.input.shape && !(key in input.shape) && !(key in synonyms) && !PLACES.has(key),
  );
}

/**
 * A context that is about the project which the call names, and in which each project's state is looked for once. To a caller
 * who may only read, memory and code are such that keep no note of having been asked.
 */
function forCall(context: Context, { project }: Given, { mayWrite }: Call): Context {
  const states = new Map<string | undefined, Promise<StateOf>>();
  const view = inProject(
    {
      ...context,
      state(named) {
        const known = states.get(named) ?? context.state(named);
        states.set(named, known);
        return known;
      },
      stateTrouble: () => (states.size === 0 ? undefined : context.stateTrouble()),
    },
    typeof project === 'string' ? project : undefined,
  );
  if (mayWrite !== false) return view;
  return {
    ...view,
    memory: async () => (await view.state()).memory(false),
    codebase: (root) => context.codebase(root, false),
  };
}

/** The way from one operation to another: what holds for a caller holds for an operation that calls. */
export async function handOver<O extends z.ZodObject>(
  operation: Operation<z.ZodObject, O>,
  args: Record<string, unknown>,
  context: Context,
  call: Call,
): Promise<z.input<O>> {
  const input = allowedInput(operation, args, {}, context, call);
  // What an operation gives is checked against its schema by the tests; once more here would only cost time.
  return operation.run(input, context, call);
}

/** The input of a call that may be made; what never may be is refused before its input is looked at. */
function allowedInput(
  operation: AnyOperation,
  raw: unknown,
  spoken: SpokenNames,
  context: Context,
  call: Call,
): Record<string, unknown> {
  if (context.tools.withheld.operations.has(operation.name)) throw withheld(operation, context);
  if (!mayRead(operation)) refuseWrites(operation, context, call);
  refusePrograms(operation, context, call);
  const input = checkedInput(operation, raw, spoken);
  if (operation.writes?.(input) === true) refuseWrites(operation, context, call);
  const typed =
    call.typed === true ? undefined : operation.typedOnly?.find((name) => input[name] !== undefined);
  if (typed !== undefined)
    throw new BmadError('forbidden', t`${operation.name} takes "${typed}" on the command line only.`, {
      hint: t`Ask the user to run it in a terminal.`,
    });
  const starting = operation.runsProgramsWith?.find((name) => input[name] === true);
  if (starting !== undefined)
    refusePrograms({ name: t`${operation.name} with "${starting}"`, runsPrograms: true }, context, call);
  return input;
}

/** Told to a caller who may only read: a surface knows by it that another token would help. */
export const WRITING_HINT = 'Connect with a token that allows writing; ask the person who runs the server.';

function refuseWrites(
  { name, writes }: AnyOperation,
  { config, configFrom, settingKeys }: Context,
  call: Call,
): void {
  if (!config.readOnly && call.mayWrite !== false) return;
  if (!config.readOnly)
    throw new BmadError('forbidden', t`${name} writes, but your access is read-only.`, {
      hint: WRITING_HINT,
    });
  const setting = settingKeys['readOnly'] ?? 'readOnly';
  throw new BmadError('forbidden', t`${name} writes, but the server is read-only.`, {
    hint: t`${setting} is on (${configFrom.readOnly}).${writes === undefined ? '' : t` It can still show what it would do.`}`,
  });
}

function refusePrograms(
  operation: Pick<AnyOperation, 'name' | 'runsPrograms'>,
  context: Context,
  call: Call,
): void {
  if (mayRunPrograms(operation, context, call)) return;
  const setting = context.settingKeys['contractsOverHttp'] ?? 'contractsOverHttp';
  const from = context.configFrom.contractsOverHttp;
  const off = from.layer === 'default' ? t`off by default` : t`off (${from})`;
  throw new BmadError('forbidden', t`${operation.name} runs programs, which you may not do over HTTP.`, {
    hint: t`It works on the server's machine with the server's full token (--http-auth token has one made), over stdin and on the command line. For all others, the server's owner can turn on ${setting}, which is ${off}.`,
  });
}

type Given = Readonly<Record<string, unknown>>;

function redacted(answer: Answer, input: Given, context: Context): Answer {
  const { secrets } = context;
  const { steps = [], asStored, ...rest } = answer;
  const { body, note, exact } = rest;
  return {
    ...rest,
    ...(steps.length === 0 ? {} : { steps: safeSteps(steps, input, context) }),
    body: exact === true || asStored === true ? secrets.hide(body) : secrets.redact(body),
    ...(note === undefined ? {} : { note: secrets.redact(note) }),
  };
}

const elapsed = (started: number): number => Math.round((performance.now() - started) * 10) / 10;

/** From this size on nobody counts: command lines and programs take what there is. */
const UNLIMITED = 400_000;
/** Room for the note, with what is said here. */
const NOTE = 600;
/** Arguments that make an answer smaller or say which part of it is wanted. */
const NARROWING = ['query', 'limit', 'type', 'agent', 'branch', 'status', 'run_id', 'module', 'category'];

/** A call that gives more of the same answer when it is made again. */
interface Repeated {
  operation: AnyOperation;
  input: Readonly<Record<string, unknown>>;
}

/**
 * The last check of every answer: one that its operation has not kept small itself is cut at a good place, and says so.
 * Operations with a cursor or a budget of their own have shaped their answers already; files are never changed.
 */
function shaped(
  { again: more, ...answer }: Answer,
  { input: { shape }, answersData, effect }: AnyOperation,
  repeated: Repeated,
  { config }: SettingsPort,
): Answer {
  if (more !== undefined)
    return { ...answer, steps: [...(answer.steps ?? []), askedAgain(repeated, more.args, more.why)] };
  const limit = config.answerBytes;
  const isOwn = 'cursor' in shape || 'budget' in shape || answersData === true || answer.exact === true;
  if (isOwn || limit >= UNLIMITED || repeated.input['detail'] === 'full') return answer;
  const size = byteLength(answer.body);
  if (size + byteLength(answer.note ?? '') <= limit) return answer;
  const body = cutToFit(answer.body, answerRoom(limit, NOTE));
  // For what writes, a run is where something is kept, and makes no answer smaller.
  const ways = NARROWING.filter((name) => name in shape && (name !== 'run_id' || effect === 'read'));
  const narrowing = ways.length === 0 ? '' : t` To narrow it: ${ways.join(', ')}.`;
  const said = t`CUT after ${kilobytes(byteLength(body))} of ${kilobytes(size)}.${narrowing}`;
  const whole = 'detail' in shape ? [askedAgain(repeated, { detail: 'full' }, t`Read all of it`)] : [];
  return {
    ...answer,
    body,
    note: [answer.note, said].filter(Boolean).join(' '),
    steps: [...(answer.steps ?? []), ...whole],
  };
}

/** What counts for the first part of an answer only, though some tools always want it. */
const FIRST_ONLY = new Set(['message', 'context', 'params']);
/** What is longer is not written out again. */
const REPEATED_LENGTH = 200;

/** The same call with something changed, without what it need not repeat. */
function askedAgain(
  { operation: { name, input: schema }, input }: Repeated,
  changed: Readonly<Record<string, unknown>>,
  why: string,
): Step {
  const unset = (key: string) => schema.shape[key]?.safeParse(undefined);
  const given = Object.entries(input).filter(([key, value]) => {
    if (key in changed) return false;
    const usual = unset(key);
    if (usual?.success !== true) return true;
    return !('cursor' in changed && FIRST_ONLY.has(key)) && !isDeepStrictEqual(usual.data, value);
  });
  const isLong = ([, value]: [string, unknown]): boolean =>
    typeof value === 'string' && value.length > REPEATED_LENGTH;
  const kept = given.filter((entry) => !isLong(entry));
  const open = given.filter(isLong).map(([key]) => key);
  return {
    operation: name,
    args: { ...Object.fromEntries(kept), ...changed },
    ...(open.length === 0 ? {} : { open }),
    why,
  };
}

/** The error of a cursor that does not fit, with the call that begins again. */
function fromTheStart(error: BmadError, repeated: Repeated | undefined): BmadError {
  if (error.subject !== 'cursor' || error.steps.length > 0 || repeated === undefined) return error;
  const { cursor: _cursor, ...input } = repeated.input;
  return error.with({ steps: [askedAgain({ ...repeated, input }, {}, t`Begin again`)] });
}

/**
 * Runs a call on one state of the content. What was there a moment ago may be gone when it is read: then one that only
 * reads is answered from the state that there is now.
 */
async function onOneView<T>(
  context: Context,
  onlyReads: boolean,
  run: (view: Context) => Promise<T>,
): Promise<T> {
  let looked = oneView(context);
  for (;;) {
    try {
      return await run(looked.view);
    } catch (error) {
      if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
      // Names are looked up before anything is written.
      if (!onlyReads && error.reason !== 'name') return looked.explained(error);
      if (onlyReads && !looked.again && (await looked.isOver()))
        looked = { ...oneView(context), again: true };
      else return await beside(error, await looked.everywhere(), run).catch(looked.explained);
    }
  }
}

/** What is not there may be in a built-in module that lists leave out. */
async function beside<T>(
  error: BmadError,
  view: Context | undefined,
  run: (view: Context) => Promise<T>,
): Promise<T> {
  if (view === undefined) throw error;
  return run(view).catch((other: unknown) => {
    if (!(other instanceof BmadError)) throw other;
    const isNews = other.code !== 'not_found' || (error.reason === 'name' && other.reason !== 'name');
    throw isNews || error.suggestions.length === 0 ? other : error;
  });
}

interface OneView {
  view: Context;
  /** Whether it is the second that was looked at. */
  again: boolean;
  isOver(): Promise<boolean>;
  /** The same with all built-in modules, where there are some that it was without. */
  everywhere(): Promise<Context | undefined>;
  /** Throws the error, with the reason where what is missing is content. */
  explained(this: void, thrown: unknown): Promise<never>;
}

/** A context in which each project's content is looked at once, and whether there is another state of it by now. */
function oneView(context: Context): OneView {
  const seen = new Map<string | undefined, Promise<Workspace>>();
  return {
    again: false,
    view: {
      ...context,
      workspace(project = context.project) {
        const workspace = seen.get(project) ?? context.workspace(project);
        seen.set(project, workspace);
        return workspace;
      },
      refresh(project) {
        seen.clear();
        return context.refresh(project);
      },
    },
    async isOver() {
      for (const [project, workspace] of seen)
        if ((await workspace.catch(() => undefined)) !== (await context.workspace(project))) return true;
      return false;
    },
    async explained(thrown) {
      const isMissing = thrown instanceof BmadError && ['name', 'content'].includes(thrown.reason ?? '');
      if (!isMissing) throw thrown;
      const [workspace] = await Promise.all(seen.values());
      throw workspace === undefined ? thrown : withAbsence(thrown, workspace, context.config.discovery);
    },
    async everywhere() {
      const whole = new Map<string | undefined, Promise<Workspace>>();
      for (const [project, seenAs] of seen) {
        const workspace = await seenAs;
        if ((await workspace.beside()).length > 0) whole.set(project, workspace.everything());
      }
      if (whole.size === 0) return undefined;
      return {
        ...context,
        workspace: (project = context.project) => whole.get(project) ?? context.workspace(project),
      };
    },
  };
}
