import { saying, type Step } from '../../base/step.ts';
import { byteLength, fenced } from '../../base/text/text.ts';
import { qualifiedName } from '../../model/record.ts';
import {
  LEAST_PART,
  outlineOnly,
  showText,
  type ShowOptions,
  type ShownText,
} from '../catalogue/shown-text.ts';
import type { startOf } from '../catalogue/targets.ts';
import type { Activation, Call, Context, Workspace } from '../context.ts';
import type { textLimits } from '../host-limits.ts';
import {
  GIVEN_BEFORE,
  hasText,
  mayBeLeftOut,
  noteGiven,
  noteReadOn,
  textKey,
  wholeAgain,
} from './given-texts.ts';

/** What is started, and for whom. */
export interface Started {
  activation: Activation;
  workspace: Workspace;
  context: Context;
  call: Call;
  limits: ReturnType<typeof textLimits>;
}

/** A checklist that a task runs, or the document whose template it fills. */
export type Beside = { name: string; text: string } | { writes: string };

export interface Asked extends Pick<ShowOptions, 'section' | 'cursor' | 'detail'> {
  message: string | undefined;
  project: string | undefined;
  origin?: string | undefined;
  /** What goes with it, such as the checklist that a task is to run. */
  beside?: Beside | undefined;
  /** It is for a run that is open. */
  isResumed: boolean;
}

/** The text of a start; `starts` is the work that came with an agent. */
export interface StartText extends ShownText {
  starts?: ReturnType<typeof startOf>;
  given_before?: true;
  steps?: Step[];
}

/** Whether the conversation has the text of some work already, so that it need not be given again. */
export function hasWork({ activation, workspace, call }: Started, asked: Asked): boolean {
  const { message = '', project, detail, isResumed } = asked;
  if (detail === 'full' || isResumed || !mayBeLeftOut(activation)) return false;
  return hasText(call, textKey(activation, workspace, project), message);
}

/** What is told beside the text of some work, also where that was given before: its inputs. */
export async function besideWork({ activation, workspace, context, call }: Started, asked: Asked) {
  const { message = '', project } = asked;
  const key = textKey(activation, workspace, project);
  const told = { ...asked, call, say: saying(call.say) };
  const { knownInputs } = await import('./known-inputs.ts');
  return {
    told: await knownInputs(activation, told, workspace, context),
    /** The text came with it, up to the cursor of the next part. */
    noteWhole(next: string | undefined): void {
      noteGiven(call, key, next, message);
    },
  };
}

/**
 * The text that a workflow or a task is started with; one that the conversation has already comes in a short form. Before it:
 * what is said first, its own head, and last what is known of the run.
 */
export async function workText(
  started: Started,
  asked: Asked,
  [told, start = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { activation, workspace, call, limits } = started;
  const { record, title, body } = activation;
  const { message, project, section, cursor, detail } = asked;
  if (detail !== 'concise' && (section !== undefined || cursor !== undefined)) {
    const maxBytes = Math.max(LEAST_PART, limits.maxBytes);
    const shown = showText(body, { section, cursor, detail, maxBytes });
    if (cursor !== undefined) noteReadOn(call, textKey(activation, workspace, project), cursor, shown.next);
    return shown;
  }
  const isKnown = detail !== 'concise' && hasWork(started, asked);
  const inputs = await besideWork(started, asked);
  const short = [
    `# ${title} (${record.kind} ${qualifiedName(record)})`,
    `Start this ${record.kind} now. ${GIVEN_BEFORE}`,
    ...(message === undefined ? [] : [`## Message from the user\n\n${fenced(message, 'text')}`]),
  ];
  const head = [told, ...(isKnown ? short : [start]), inputs.told, kept].filter(Boolean).join('\n\n');
  if (detail === 'concise') return outlineOnly(`${head}\n\n${body}`);
  if (isKnown) {
    const shown = showText('', { detail, maxBytes: LEAST_PART, head });
    const steps = [wholeAgain(activation, asked)];
    return { ...shown, given_before: true, text: shown.text.trimEnd(), steps };
  }
  const used = byteLength(head) + 2;
  const maxBytes = Math.max(LEAST_PART, limits.maxBytes - used);
  const mostBytes = Math.max(maxBytes, limits.mostBytes - used);
  const shown = showText(body, { detail, maxBytes, mostBytes, head });
  inputs.noteWhole(shown.next);
  return shown;
}
