import { stepLines } from '../../../base/step.ts';
import type { BmadError } from '../../../base/errors.ts';
import { commandLine } from '../../../operations/offers.ts';
import type { Answer } from '../../../operations/operation.ts';
import type { Answers } from '../../../operations/registry.ts';
import { line, type Line, span, textOf } from '../screen/paint.ts';
import { markdown, PROSE_WIDTH } from '../screen/markdown.ts';
import { lineWidth, wrapped } from '../screen/text.ts';
import { explainScreen, listScreen, searchScreen } from './catalogue.ts';
import { doctorScreen, removeScreen, setupScreen } from './doctor.ts';
import { MARKS, type Draw, type Page } from './parts.ts';
import { nextScreen } from './progress.ts';
import {
  deliveriesScreen,
  inboxScreen,
  memoriesScreen,
  recallScreen,
  receiptsScreen,
  runsScreen,
  sessionsScreen,
  sourcesScreen,
  tasksScreen,
  usageScreen,
} from './work.ts';

export { helpLines } from './parts.ts';

/** Screens are drawn from the data of their operation; its output schema has checked that. */
export const SCREENS: { readonly [K in keyof Answers]?: Draw<K> } = {
  list: listScreen,
  search: searchScreen,
  explain: explainScreen,
  next: nextScreen,
  inbox: inboxScreen,
  doctor: doctorScreen,
  memory_list: memoriesScreen,
  recall_structured: recallScreen,
  task_list: tasksScreen,
  get_workflow_status: runsScreen,
  list_sessions: sessionsScreen,
  list_receipts: receiptsScreen,
  sources_list: sourcesScreen,
  delivery_list: deliveriesScreen,
  usage_show: usageScreen,
  setup: setupScreen,
  remove: removeScreen,
};

/** Who looks: how much fits, and in which language. */
export type Sight = Pick<Page, 'width'>;

/** The lines of an answer for a person: its screen, or its text as Markdown. */
export function answerLines(
  operation: string,
  data: Record<string, unknown>,
  { body }: Pick<Answer, 'body'>,
  { width }: Sight,
): Line[] {
  const draw = SCREENS[operation as 'next'];
  const drawn = draw?.(data as Answers['next'], { width, now: Date.now() });
  return drawn?.flatMap((each) => fitting(each, width)) ?? markdown(body, width);
}

/** A title or a place may be wider than a narrow terminal. What is to be copied is broken by the terminal alone. */
function fitting(spans: Line, width: number): Line[] {
  const isCommand = spans.some(({ text, style }) => style === 'name' && text.startsWith('bmad '));
  return isCommand || lineWidth(spans) <= width ? [spans] : wrapped(spans, width);
}

/** What is said about an answer: its note, and the steps that its screen has not shown. */
export function remarkLines(
  { note, steps = [] }: Pick<Answer, 'note' | 'steps'>,
  more: readonly string[],
  shown: readonly Line[],
  { width }: Sight,
): Line[] {
  const prose = Math.min(width, PROSE_WIDTH);
  const above = shown.map(textOf).join('\n');
  const open = steps.filter((step) => !above.includes(commandLine(step) ?? '\n'));
  return [
    ...[note, ...more]
      .flatMap((text) => (text === undefined ? [] : text.split('\n')))
      .filter((text) => text.trim() !== '')
      .flatMap((text) => wrapped([span(text.trim(), 'muted')], prose)),
    ...stepLines(open, commandLine).flatMap((text) => stepLine(text, prose)),
  ];
}

/** `→ See all evidence: bmad next --detail full`. A command is copied, so only the terminal itself breaks it. */
function stepLine(text: string, width: number): Line[] {
  const at = text.indexOf(': bmad ');
  const arrow = { first: line(span('→ ', 'muted')), rest: line('  ') };
  if (at === -1) return wrapped([span(text)], width, arrow);
  const [why, command] = [span(text.slice(0, at + 1)), span(text.slice(at + 2), 'name')];
  const whole = [...arrow.first, why, span(' '), command];
  if (lineWidth(whole) <= width) return [whole];
  return [...wrapped([why], width, arrow), [...arrow.rest, command]];
}

/** An error: what happened, and what to do about it. */
export function errorLines(error: BmadError, { width }: Sight): Line[] {
  const prose = Math.min(width, PROSE_WIDTH);
  const [first = '', ...rest] = error.textWith(commandLine).split('\n');
  return [
    ...(error.code === 'cancelled'
      ? wrapped([span(first, 'muted')], prose)
      : wrapped(line(first), prose, { first: line(MARKS.bad, ' '), rest: line('  ') })),
    ...rest.flatMap((text) =>
      text.includes(': bmad ')
        ? stepLine(text.trim(), prose)
        : wrapped([span(text.trim(), 'muted')], prose, { first: line('  '), rest: line('  ') }),
    ),
  ];
}
