import { plural, say, t } from '../../../base/text/message.ts';
import {
  FIRST_WISH,
  firstWords,
  isConnected,
  type Result,
  restLines,
  SAID,
} from '../../../operations/server/setup-text.ts';
import { line, type Line, span, stacked } from '../screen/paint.ts';
import { type Row, wrapped } from '../screen/text.ts';
import { listing, MARKS, muted, problemLines, titled, type Draw } from './parts.ts';

/**
 * `bmad setup` and `bmad remove`: every host with a tick or a cross, then what to say there. A change that is only shown, and
 * a text to paste, are as they are in the answer.
 */
export const setupScreen: Draw<'setup'> = ({ dry_run: dry, results, handshakes, notes }, page) => {
  if (dry || results.some(({ outcome }) => outcome === 'printed')) return undefined;
  const connected = results.filter(isConnected);
  return stacked(
    listing([{ title: '' }, { title: '' }, { title: '', flexible: true }], results.map(hostRow), page),
    handshakes.flatMap(({ hosts, ok, tools, trouble = '' }) =>
      problemLines(
        [
          ok
            ? t`The server answers with ${plural(tools, 'tool')}: ${hosts.join(', ')}`
            : t`Handshake FAILED for ${hosts.join(', ')}: ${trouble}`,
        ],
        page,
        ok ? MARKS.good : MARKS.bad,
      ),
    ),
    notes.flatMap((note) => wrapped(muted(note), page.width)),
    titled(t`Still to do`, problemLines(restLines(connected), page, MARKS.warn)),
    connected.length === 0
      ? []
      : [
          ...wrapped(line(span(firstWords(connected), 'strong')), page.width),
          ...wrapped(line(span(say(FIRST_WISH), 'name')), page.width, {
            first: line('  '),
            rest: line('  '),
          }),
        ],
  );
};

export const removeScreen: Draw<'remove'> = (data, page) =>
  setupScreen({ ...data, handshakes: [], notes: [] }, page);

const MARK_OF: Readonly<Partial<Record<Result['outcome'], Line[number]>>> = {
  refused: MARKS.bad,
  absent: span('·', 'muted'),
  shared: MARKS.warn,
};

/** What was done for one host, where, and what else belongs to it. */
function hostRow(result: Result): Row {
  const { name, scope, file, installed, outcome, problem = '', commands = [], copy } = result;
  const { dropped = [], kept = [] } = result;
  const more = [
    ...(installed || !isConnected(result) ? [] : [t`It does not seem to be installed.`]),
    ...(commands.length === 0 ? [] : [t`Its commands: ${commands.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [t`Left out, because the project had added it: ${dropped.join(', ')}`]),
    ...(kept.length === 0 ? [] : [t`Kept in the entry: ${kept.join(', ')}`]),
    ...(copy === undefined || outcome !== 'updated' ? [] : [t`The file as it was: ${copy}`]),
  ];
  const below = line(...(problem === '' ? [] : [`${problem} `]), span(more.join(' '), 'muted'));
  return {
    cells: [
      line(MARK_OF[outcome] ?? MARKS.good, ' ', span(name, 'strong')),
      line(say(SAID[outcome]) + (scope === 'project' ? t` in this project` : '')),
      muted(file),
    ],
    ...(problem === '' && more.length === 0 ? {} : { below }),
  };
}
