import { saying, type Step } from '../../base/step.ts';
import { byteLength } from '../../base/text/text.ts';
import {
  LEAST_PART,
  showText,
  withoutText,
  type ShowOptions,
  type ShownText,
} from '../catalogue/shown-text.ts';
import type { startOf } from '../catalogue/targets.ts';
import type { Activation, Call, Context, Workspace } from '../context.ts';
import type { textLimits } from '../host-limits.ts';

/** What is started, and for whom. */
export interface Started {
  activation: Activation;
  workspace: Workspace;
  context: Context;
  call: Call;
  limits: ReturnType<typeof textLimits>;
}

export interface Asked extends Pick<ShowOptions, 'section' | 'cursor' | 'detail'> {
  message: string | undefined;
  project: string | undefined;
  /** The address of a file that is to be worked through, such as the checklist that a task runs. */
  along?: string | undefined;
}

/** The text of a start; `starts` is the work that came with an agent. */
export interface StartText extends ShownText {
  starts?: ReturnType<typeof startOf>;
  steps?: Step[];
}

/** Room for what is said under a text. */
const NOTE = 250;

/** A text with what stands before it, as far as one answer takes it. */
export function startShown(
  head: string,
  body: string,
  { limits }: Pick<Started, 'limits'>,
  { detail }: Pick<Asked, 'detail'>,
): ShownText {
  const used = byteLength(head) + 2;
  const maxBytes = Math.max(LEAST_PART, limits.maxBytes - used);
  const mostBytes = Math.max(maxBytes, limits.mostBytes - used);
  return showText(body, { detail, maxBytes, mostBytes, head });
}

/** Whether texts come in one answer, whatever else there is to say. */
export function fitTogether(
  texts: readonly string[],
  { limits }: Pick<Started, 'limits'>,
  { detail }: Pick<Asked, 'detail'>,
): boolean {
  const size = texts.reduce((sum, text) => sum + byteLength(text) + 2, NOTE);
  return detail === 'full' || size <= limits.mostBytes;
}

/** The documents that there are for some work. */
export async function inputsOf({ activation, workspace, context, call }: Started, asked: Asked) {
  const { knownInputs } = await import('./known-inputs.ts');
  return knownInputs(activation, { ...asked, call, say: saying(call.say) }, workspace, context);
}

/** The text that a workflow or a task is started with. Before it: what is said first, its own head, and its run. */
export async function workText(
  started: Started,
  asked: Asked,
  [told, start = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { activation, workspace, call, limits } = started;
  const { section, cursor, detail, along, project } = asked;
  if (detail !== 'brief' && (section !== undefined || cursor !== undefined))
    return showText(activation.body, {
      section,
      cursor,
      detail,
      maxBytes: Math.max(LEAST_PART, limits.maxBytes),
    });
  const head = [told, start, await inputsOf(started, asked), kept].filter(Boolean).join('\n\n');
  if (detail === 'brief') return withoutText(head, activation);
  if (along === undefined) return startShown(head, activation.body, started, asked);
  const { delivery } = workspace;
  const { record } = activation;
  const whole = await delivery.activation(record, undefined, project, saying(call.say), { along: [along] });
  if (fitTogether([head, whole.body], started, asked)) return startShown(head, whole.body, started, asked);
  const read = {
    operation: 'read',
    args: { target: along, kind: 'resource' },
    why: 'Read the checklist first',
  };
  return { ...startShown(head, activation.body, started, asked), steps: [read] };
}
