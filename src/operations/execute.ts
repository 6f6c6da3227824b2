import { BmadError } from '../base/errors.ts';
import type { Call, Context } from './context.ts';
import type { AnyOperation, Answer } from './operation.ts';

export type Outcome =
  | { ok: true; data: Record<string, unknown>; answer: Answer; failed: boolean }
  | { ok: false; error: BmadError };

/** The only door to an operation: checks the input, runs it, checks the output, hides secrets, logs. Never throws. */
export async function execute(
  operation: AnyOperation,
  raw: unknown,
  context: Context,
  call: Call,
): Promise<Outcome> {
  const started = performance.now();
  try {
    call.signal.throwIfAborted();
    const input = checkedInput(operation, raw);
    const data = operation.output.parse(await operation.run(input, context, call));
    call.signal.throwIfAborted();
    const answer = operation.render(data);
    context.log.debug('operation', { name: operation.name, ms: elapsed(started) });
    return { ok: true, data, answer: redacted(answer, context), failed: operation.failed?.(data) ?? false };
  } catch (thrown) {
    const error = BmadError.from(thrown, (id, original) =>
      context.log.error('incident', {
        id,
        name: operation.name,
        error: original instanceof Error ? (original.stack ?? original.message) : String(original),
      }),
    );
    context.log.debug('operation failed', { name: operation.name, code: error.code, ms: elapsed(started) });
    return { ok: false, error };
  }
}

/** Also for an operation that hands over to another: its arguments are checked in the same words. */
export function checkedInput(operation: AnyOperation, raw: unknown): Record<string, unknown> {
  const parsed = operation.input.safeParse(raw ?? {});
  if (parsed.success) return parsed.data;
  const known = Object.keys(operation.input.shape);
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  const message =
    issue?.code === 'unrecognized_keys'
      ? `${operation.name}: there is no argument ${issue.keys.map((key) => JSON.stringify(key.slice(0, 60))).join(', ')}.`
      : `${operation.name}: ${path === '' ? 'the arguments are' : `"${path}" is`} not valid. ${issue?.message.slice(0, 300) ?? ''}`;
  throw new BmadError('invalid_input', message, {
    ...(path === '' ? {} : { subject: path }),
    hint: `Arguments: ${known.join(', ')}.`,
  });
}

function redacted(answer: Answer, { secrets }: Context): Answer {
  const { body, note } = answer;
  return {
    ...answer,
    body: secrets.redact(body),
    ...(note === undefined ? {} : { note: secrets.redact(note) }),
  };
}

function elapsed(started: number): number {
  return Math.round((performance.now() - started) * 10) / 10;
}
