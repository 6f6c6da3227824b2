import { say, t } from '../../../base/text/message.ts';
import { commandLine } from '../../../operations/offers.ts';
import type { Action } from '../../../operations/project/next-actions.ts';
import { callsOf, shownOf } from '../../../operations/project/next-text.ts';
import type { Answers } from '../../../operations/registry.ts';
import { line, type Line, span, stacked } from '../screen/paint.ts';
import { padded, wrapped } from '../screen/text.ts';
import { bar, MARKS, problemLines, state, titled, type Draw, type Page } from './parts.ts';

type Standing = Answers['next'];

const SHOWN_DRIFT = 3;
const PHASE_WIDTH = 16;

/** `bmad next` and `bmad status`: the phases as a board, what to do, and the ways to begin something new. */
export const nextScreen: Draw<'next'> = (data, page) => {
  // With all evidence it is a long table, which the text has.
  if (data.detail === 'full') return undefined;
  const { steps: shown, ways } = shownOf(data.actions, data.detail);
  const isBegun = data.phases.some(({ state: word }) => word !== 'not started');
  return stacked(
    board(data, page),
    troubleLines(data, page),
    shown.length > 0
      ? titled(
          say('Next'),
          shown.flatMap((action, at) => actionLines(action, at + 1, page)),
        )
      : isBegun
        ? [line(MARKS.good, ' ', t`Nothing left to do: everything planned is done.`)]
        : [],
    ways.length === 0
      ? []
      : titled(
          t`Something new`,
          ways.flatMap((way) => wayLines(way, page)),
        ),
  );
};

function board({ phases, totals, verification }: Standing, page: Page): Line[] {
  const { width } = page;
  const { waiting_for_review: waiting } = totals;
  const review = waiting === 0 ? '' : t`, ${waiting} waiting for review`;
  const rows = phases.map(({ name, state: word, unmarked, stories, share }) => {
    const counted = stories === undefined ? '' : `  ${stories}${review}`;
    const head = [
      ...padded(line(span(name, 'strong')), PHASE_WIDTH),
      ...bar(share.done, share.total),
      span('  '),
    ];
    return wrapped([...head, state(unmarked === true ? 'there' : word), span(counted, 'muted')], width, {
      rest: line(' '.repeat(Math.min(PHASE_WIDTH, Math.floor(width / 3)))),
    });
  });
  const verdict =
    verification === undefined
      ? []
      : problemLines([verification.says], page, verification.verdict === 'PASS' ? MARKS.good : MARKS.warn);
  return [...rows.flat(), ...verdict];
}

function troubleLines({ drift, troubles }: Standing, page: Page): Line[] {
  const more = drift.length - SHOWN_DRIFT;
  return [
    ...problemLines(
      [
        ...drift.slice(0, SHOWN_DRIFT).map(({ kind, says }) => t`${say(kind)}: ${says}`),
        ...(more > 0 ? [t`and ${more} more places where the project contradicts itself`] : []),
      ],
      page,
      MARKS.warn,
    ),
    ...problemLines(
      troubles.map(({ file, message }) => t`${file} was not read: ${message}`),
      page,
    ),
  ];
}

/** A way to begin something new, with what it is for and its command. */
function wayLines(way: Action, { width }: Page): Line[] {
  const text = line(span(way.what, 'strong'), span(`  ${way.why}`, 'muted'));
  const [step] = way.steps;
  const command = step && commandLine(step);
  return [
    ...wrapped(text, width, { rest: line('   ') }),
    ...(command === undefined ? [] : [[...line('   '), span(command, 'name')]]),
  ];
}

function actionLines(action: Action, number: number, { width }: Page): Line[] {
  const { what, why, says, noted, agent, optional } = action;
  const indent = line('   ');
  const quoted = (text: string, said: string): Line[] =>
    wrapped(line(`${t`${text}:`} "${said}"`), width, { first: indent, rest: indent });
  return [
    ...wrapped(
      line(
        span(what, 'strong'),
        span(
          `${agent === undefined ? '' : `  ${t`with ${agent}`}`}${optional ? `  ${say('optional')}` : ''}`,
          'muted',
        ),
      ),
      width,
      { first: line(span(`${number}. `, 'muted')), rest: indent },
    ),
    ...(says === undefined ? wrapped(line(why), width, { first: indent, rest: indent }) : quoted(why, says)),
    ...(noted === undefined ? [] : quoted(t`The last session noted`, noted)),
    ...callsOf(action).flatMap(({ step, label }) => {
      const command = commandLine(step);
      if (command === undefined) return [];
      const head = label === undefined ? [] : [span(`${t`${label}:`} `, 'muted')];
      return [[...indent, ...head, span(command, 'name')]];
    }),
  ];
}
