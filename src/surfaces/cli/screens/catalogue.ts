import { placed } from '../../../base/text/text.ts';
import { plural, say, t } from '../../../base/text/message.ts';
import type { Item } from '../../../operations/catalogue/list-items.ts';
import { line, type Line, span, stacked } from '../screen/paint.ts';
import { type Column, type Row, wrapped } from '../screen/text.ts';
import { type Draw, firstSentence, listing, MARKS, type Page, short, titled } from './parts.ts';

/** `bmad list`: agents as people, workflows by phase, all else by name. */
export const listScreen: Draw<'list'> = ({ what, detail, items }, page) => {
  if (items.length === 0 || what === 'resources' || detail === 'brief') return undefined;
  if (what === 'agents') return agentTable(items, detail, page);
  const rows = (own: readonly Item[]): Row[] => own.map((item) => itemRow(item, detail, page));
  if (what !== 'workflows') return listing(ITEM_COLUMNS, rows(items), page);
  const phases = [...new Set(items.map(({ phase }) => phase))].sort(byPhase);
  return listing(
    ITEM_COLUMNS,
    phases.flatMap((phase) => [
      { cells: [], heading: line(span(phaseTitle(phase), 'title')) },
      ...rows(items.filter((item) => item.phase === phase)),
    ]),
    page,
  );
};

export const searchScreen: Draw<'search'> = ({ items }, page) =>
  items.length === 0
    ? undefined
    : listing(
        [
          { title: 'name' },
          { title: 'kind' },
          { title: t`what for`, flexible: true },
          { title: t`found by`, drop: 2 },
          { title: 'module', drop: 1 },
        ],
        items.map((item) => ({
          cells: [
            line(span(item.name, 'name')),
            line(span(say(item.kind), 'muted')),
            line(purpose(item, 'standard')),
            line(span(short(item.why ?? '', 40), 'muted')),
            line(span(item.module ?? '', 'muted')),
          ],
        })),
        page,
      );

function agentTable(items: readonly Item[], detail: string, page: Page): Line[] {
  return listing(
    [
      { title: '' },
      { title: 'name' },
      { title: 'who' },
      { title: t`what for`, flexible: true },
      { title: 'module', drop: 1 },
      { title: 'from', drop: 2 },
    ],
    items.map((item) => ({
      cells: [
        line(item.icon ?? ''),
        line(span(item.name, 'name')),
        line(span(short(item.person ?? item.title ?? '', 40), 'strong')),
        line(purpose(item, detail)),
        line(span(item.module ?? '', 'muted')),
        line(span(item.origin ?? '', 'muted')),
      ],
    })),
    page,
  );
}

const ITEM_COLUMNS: readonly Column[] = [
  { title: 'name' },
  { title: 'what for', flexible: true },
  { title: 'module', drop: 1 },
  { title: 'from', drop: 2 },
];

function itemRow(item: Item, detail: string, page: Page): Row {
  const { width } = page;
  return {
    cells: [
      line(span(item.name, 'name')),
      item.replacedBy === undefined
        ? line(purpose(item, detail, Math.max(60, width)))
        : line(span(t`now ${item.replacedBy}`, 'warn')),
      line(span(item.module ?? '', 'muted')),
      line(span(item.origin ?? '', 'muted')),
    ],
  };
}

/** Two lines of a usual terminal at most, so that a list stays one. */
function purpose({ description, title = '' }: Item, detail: string, most = 160): string {
  const text = description === '' ? title : description;
  return detail === 'full' ? short(text, 2_000) : short(firstSentence(text), most);
}

/** Phases by their number, or in the order of the work; what has none comes last. */
const ORDER = ['analy', 'plan', 'solution', 'implement', 'ship', 'learn', 'anytime'];
function byPhase(a: string | undefined, b: string | undefined): number {
  const place = (phase: string | undefined): number => {
    if (phase === undefined) return 1_000;
    const number = Number.parseInt(phase, 10);
    if (!Number.isNaN(number)) return number;
    const known = ORDER.findIndex((word) => phase.includes(word));
    return known === -1 ? 500 : 100 + known;
  };
  return place(a) - place(b);
}

function phaseTitle(phase: string | undefined): string {
  if (phase === undefined) return t`Any time`;
  const words = say(phase.replace(/^\d+[-_ ]*/, '').replaceAll(/[-_]/g, ' '));
  return words === '' ? phase : words.charAt(0).toUpperCase() + words.slice(1);
}

/** `bmad explain` as a tree: what was asked for, and below it every candidate with what became of it. */
export const explainScreen: Draw<'explain'> = ({ target, is, candidates, layers, ranking }, page) => {
  const { width } = page;
  const tree = candidates.flatMap((candidate, at) => {
    const last = at === candidates.length - 1;
    const branch = line(span(last ? '└─ ' : '├─ ', 'muted'));
    const under = line(span(last ? '   ' : '│  ', 'muted'), '  ');
    const below = { first: under, rest: under };
    const { git } = candidate;
    return [
      ...wrapped(
        line(
          candidate.chosen ? MARKS.good : span('·', 'muted'),
          ' ',
          span(candidate.name, candidate.chosen ? 'name' : undefined),
          span(
            `  ${t`${say(candidate.kind)} from ${candidate.origin}, priority ${candidate.priority}`}`,
            'muted',
          ),
        ),
        width,
        { first: branch, rest: under },
      ),
      ...wrapped(line(candidate.why), width, below),
      ...wrapped([span(candidate.path, 'muted')], width, below),
      ...(git === undefined ? [] : wrapped([span(t`${git.source} at ${git.commit}`, 'muted')], width, below)),
    ];
  });
  const values = listing(
    [{ title: 'value' }, { title: '', flexible: true }, { title: t`set in`, drop: 1 }],
    layers.map(({ key, file, line: at, value, chosen }) => ({
      cells: [
        line(span(key, chosen ? 'name' : 'muted')),
        line(span(short(value, 200), chosen ? undefined : 'struck')),
        line(span(placed({ file: file.split('/').at(-1) ?? file, line: at }), 'muted')),
      ],
    })),
    page,
  );
  const ranks =
    ranking === undefined
      ? []
      : [
          line(
            span(t`Ranking ${ranking.score}`, 'title'),
            span(`  ${t`started ${plural(ranking.uses, 'time')}`}`, 'muted'),
          ),
          ...listing(
            [
              { title: 'signal' },
              { title: 'value', end: true },
              { title: 'weight', end: true },
              { title: 'points', end: true },
            ],
            ranking.signals.map(({ signal, value, weight, points }) => ({
              cells: [line(say(signal)), line(String(value)), line(String(weight)), line(String(points))],
            })),
            page,
          ),
        ];
  return stacked(
    [line(span(target, 'title'), span(`  ${say(is)}`, 'muted')), ...tree],
    titled(t`Values and where they are set`, values),
    ranks,
  );
};
