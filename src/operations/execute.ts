import { t } from '../base/text/message.ts';
import { calledBy, callerOf } from '../base/caller.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { underWay } from '../base/pace.ts';
import { saying, type Step } from '../base/step.ts';
import type { Call, Context } from './context.ts';
import { checkedInput, type SpokenNames } from './input.ts';
import { mayRunPrograms } from './may-be-offered.ts';
import { UNIFIED, mayRead, type AnyOperation, type Answer, type Route } from './operation.ts';
import { onOneView } from './one-view.ts';
import { fromTheStart, shaped, type Repeated } from './shaped.ts';

export type CallOutcome =
  | { ok: true; data: Record<string, unknown>; answer: Answer; failed: boolean }
  | { ok: false; error: BmadError };

/** The only door to an operation: checks the input, runs it, checks the output, hides secrets, logs. Never throws. */
export async function execute(
  operation: AnyOperation,
  raw: unknown,
  context: Context,
  call: Call,
): Promise<CallOutcome> {
  const started = performance.now();
  let given: Given = {};
  let again: Repeated | undefined;
  const over = call.caller === undefined ? undefined : await context.turn?.(call.caller);
  try {
    call.signal.throwIfAborted();
    const { meant, input, route, repeated, unused } = await meantBy(operation, raw, context, call);
    given = input;
    again = repeated;
    const { say } = call;
    const own =
      say === undefined || input['project'] === undefined
        ? call
        : { ...call, say: (step: Step) => say(inProject(step, input)) };
    const seen = withOneState(context, call);
    const fresh = meant.keeps === true ? await unusedState(seen, input) : undefined;
    const result = await underWay(() =>
      calledBy(callerOf(call), () =>
        onOneView(seen, meant.effect === 'read', (view) => meant.run(input, view, own)),
      ),
    );
    // What comes by a route is checked against its schema by the tests; here it would only cost time.
    const data = route === undefined ? meant.output.parse(result) : result;
    // What was written stays written: a caller who can still be answered, by a server that ends, has to learn of it.
    if (meant.effect === 'read') call.signal.throwIfAborted();
    const rendered = meant.render(data, saying(own.say));
    const told = await withPlaceTold(shaped(rendered, meant, repeated, context), fresh);
    const answer = withUnused(told, unused);
    context.log.debug('operation', { name: operation.name, ms: elapsed(started) });
    context.observe?.({ operation: operation.name, ms: performance.now() - started });
    return {
      ok: true,
      data: context.secrets.hideIn(
        route?.within === undefined ? data : { ...route.within, result: data },
      ) as Record<string, unknown>,
      answer: redacted(answer, input, context),
      failed: meant.failed?.(data) ?? false,
    };
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
    context.observe?.({ operation: operation.name, ms: performance.now() - started, code: error.code });
    const safe = fromTheStart(error, again).map((text) => context.secrets.redact(text));
    return { ok: false, error: safe.with({ steps: safeSteps(safe.steps, given, context) }) };
  } finally {
    over?.();
  }
}

type StateOf = Awaited<ReturnType<Context['state']>>;

/** The state of a project for which nothing was kept before this call. */
async function unusedState(context: Context, { project }: Given): Promise<StateOf | undefined> {
  try {
    const state = await context.state(typeof project === 'string' ? project : undefined);
    return (await state.unused()) ? state : undefined;
  } catch {
    // The call itself says what is wrong with the project.
    return undefined;
  }
}

/** The first call that keeps something says where. */
async function withPlaceTold(answer: Answer, state: StateOf | undefined): Promise<Answer> {
  const place = await state?.place();
  if (place === undefined || place.unused) return answer;
  const { withPlace } = await import('./project/state-place.ts');
  return withPlace(answer, place);
}

function safeSteps(steps: readonly Step[], input: Given, { secrets, tools }: Context): readonly Step[] {
  const possible = steps.filter(({ operation }) => !tools.withheld.operations.has(operation));
  return secrets.hideIn(possible.map((step) => inProject(step, input))) as readonly Step[];
}

function withheld({ name }: AnyOperation, { configFrom, settingKeys }: Context): BmadError {
  return new BmadError('forbidden', t`The operation ${quoted(name)} is turned off.`, {
    subject: name,
    hint: t`${settingKeys['excludeTools'] ?? 'excludeTools'} names it (${configFrom.excludeTools}).`,
  });
}

/** A caller who has named a project means it in the next call as well. */
function inProject(step: Step, { project }: Given): Step {
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
  const meant = await context.operation(route.to);
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
 * A context in which each project's state is looked for once in a call. To a caller who may only read, memory and code are
 * such that keep no note of having been asked.
 */
function withOneState(context: Context, { mayWrite }: Call): Context {
  const states = new Map<string | undefined, Promise<StateOf>>();
  const state = (project?: string): Promise<StateOf> => {
    const known = states.get(project) ?? context.state(project);
    states.set(project, known);
    return known;
  };
  return {
    ...context,
    state,
    memory: async (project, may) => (await state(project)).memory(mayWrite !== false && may),
    ...(mayWrite === false ? { codebase: (root) => context.codebase(root, false) } : {}),
  };
}

/** The way from one operation to another: what holds for a caller holds for an operation that calls. */
export async function handOver(
  operation: AnyOperation,
  args: Record<string, unknown>,
  context: Context,
  call: Call,
): Promise<Record<string, unknown>> {
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
  const off = from === 'default' ? t`off by default` : t`off (${from})`;
  throw new BmadError('forbidden', t`${operation.name} runs programs, which you may not do over HTTP.`, {
    hint: t`It works on the server's machine with the server's full token, over stdin and on the command line. For all others, the server's owner can turn on ${setting}, which is ${off}.`,
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

function elapsed(started: number): number {
  return Math.round((performance.now() - started) * 10) / 10;
}
