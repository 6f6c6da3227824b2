import { sectionsOf, withoutComments, withoutExamples } from '../../base/text/markdown.ts';
import { withoutEnds } from '../../base/text/text.ts';
import { isUnset, PLACEHOLDER, plainTitle, rowIn, type Topic, topicOf } from '../text.ts';

/** A section of the shared context: the part that has been filled in. */
export interface ContextSection {
  title: string;
  topic: Topic | undefined;
  /** Number of the heading's line; of the first, where several templates have the same. */
  line: number;
  /** What is left without comments and open placeholders of a template; empty if nothing has been filled in. */
  text: string;
  rows: Record<string, string>[];
  /** All its lines without comments, with their numbers. */
  lines: { text: string; line: number }[];
}

/** The sections of all templates in the file; those of the same title are one. */
export function contextSections(text: string): ContextSection[] {
  // Fenced blocks are blanked to find the headings only: a tree of folders is what a section is there for.
  const shown = withoutComments(text).split(/\r?\n/);
  const found = new Map<string, ContextSection>();
  let open: ContextSection | undefined;
  for (const { level, title, line, body } of sectionsOf(withoutExamples(text))) {
    const lines = body.map((_, at) => ({ text: shown[line + at] ?? '', line: line + 1 + at }));
    if (level > 2 && open !== undefined) {
      open.lines.push({ text: `${'#'.repeat(level)} ${title}`, line }, ...lines);
      continue;
    }
    open = undefined;
    if (level !== 2) continue;
    const key = plainTitle(title);
    open = found.get(key) ?? { title, topic: topicOf(title), line, text: '', rows: [], lines: [] };
    open.lines.push(...lines);
    found.set(key, open);
  }
  const sections = [...found.values()].map((section) => {
    const kept = filledIn(section.lines.map((each) => each.text));
    return { ...section, text: kept.join('\n').trim(), rows: tableRows(kept) };
  });
  const isNamed = !PLACEHOLDER.test(/^# .*$/m.exec(shown.join('\n'))?.[0] ?? '');
  const isUntouched =
    !isNamed && sections.some(({ topic, text: told }) => topic === 'project' && told === '');
  return sections.map((section) =>
    isUntouched && isTemplates(section) ? { ...section, ...ownWords(section) } : section,
  );
}

/**
 * In a file that does not even name its project, a section with an open placeholder is the template's as a whole, and so are
 * boxes that nobody has ticked.
 */
function isTemplates({ topic, lines }: ContextSection): boolean {
  if (topic === 'agents' || topic === 'requests') return false;
  const told = lines.map(({ text }) => text.trim()).filter((text) => text !== '');
  return told.some((text) => PLACEHOLDER.test(text)) || told.every((text) => text.startsWith('- [ ]'));
}

/** What somebody has written above what the template leaves open: no template begins a section with words of its own. */
function ownWords({ lines }: ContextSection): Pick<ContextSection, 'text' | 'rows'> {
  const all = lines.map(({ text }) => text);
  let at = Math.max(
    0,
    all.findIndex((line) => PLACEHOLDER.test(line)),
  );
  const shape = (line = ''): string => /^\s*(\||[-*]\s|`{3}|~{3})/.exec(line)?.[1] ?? '';
  const isOne = (line = '', next = ''): boolean =>
    line.trim() !== '' && (shape(line) === shape(next) || /^[`~]/.test(shape(line)));
  while (at > 0 && isOne(all[at - 1], all[at])) at -= 1;
  const kept = filledIn(all.slice(0, at));
  return { text: kept.join('\n').trim(), rows: tableRows(kept) };
}

/** Lines that say something: no open placeholders, no tables without rows, no headings over nothing. */
function filledIn(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      const block = lines.slice(at, firstFrom(lines, at + 1, (other) => other.trim().startsWith(mark)) + 1);
      // A tree with open placeholders is the template's, not the project's.
      if (!PLACEHOLDER.test(block.join('\n'))) kept.push(...block);
      at += block.length - 1;
    } else if (isTableHead(lines, at)) {
      const rows = lines.slice(
        at + 2,
        firstFrom(lines, at + 2, (other) => !other.trim().startsWith('|')),
      );
      const filled = rows
        .filter((row) => !isOpenRow(row))
        .map((row) => row.replace(/`?\{\{[^{}]*\}\}`?/g, '—'));
      if (filled.length > 0) kept.push(line, lines[at + 1] ?? '', ...filled);
      at += rows.length + 1;
    } else if (line.trim() === '' || /^\s*>/.test(line) || !isUnset(line)) {
      kept.push(line);
    }
  }
  const told = kept.some((line) => !/^\s*(?:$|>|#{3,}\s|-{3,}\s*$)/.test(line));
  return told ? withoutBareHeadings(kept).filter((line) => !/^-{3,}\s*$/.test(line)) : [];
}

/** What is in the first column is the template's; a row says something when there is more. */
function isOpenRow(line: string): boolean {
  const [first = '', ...others] = rowIn(line) ?? [];
  return others.length === 0 ? isUnset(first) : others.every(isUnset);
}

function isTableHead(lines: readonly string[], at: number): boolean {
  const next = (lines[at + 1] ?? '').trim();
  return (lines[at] ?? '').trim().startsWith('|') && next.includes('-') && /^\|[\s|:-]*$/.test(next);
}

function withoutBareHeadings(lines: readonly string[]): string[] {
  const kept: string[] = [];
  // From the end, where it is known what follows: looking ahead from each heading takes long in a long file.
  let next: string | undefined;
  for (const line of lines.toReversed()) {
    const isBare = isHeading(line) && (next === undefined || isHeading(next));
    if (!isBare) kept.push(line);
    if (line.trim() !== '') next = line;
  }
  return kept.toReversed();
}

function isHeading(line: string): boolean {
  return /^#{3,}\s/.test(line);
}

/** Where the first line is that fits, from a place on; behind the last one if there is none. */
function firstFrom(lines: readonly string[], start: number, fits: (line: string) => boolean): number {
  let at = start;
  while (at < lines.length && !fits(lines[at] ?? '')) at += 1;
  return at;
}

/** The rows of the tables in a text, by the names of their columns. */
function tableRows(lines: readonly string[]): Record<string, string>[] {
  const rows: Record<string, string>[] = [];
  let head: string[] | undefined;
  for (const [at, line] of lines.entries()) {
    const row = rowIn(line);
    if (row === undefined) {
      if (!line.trim().startsWith('|')) head = undefined;
    } else if (isTableHead(lines, at)) head = row;
    else if (head !== undefined) {
      const names = head;
      rows.push(
        Object.fromEntries(
          row.map((value, index) => [names[index] || `column ${index + 1}`, isUnset(value) ? '' : value]),
        ),
      );
    }
  }
  return rows;
}

/** An agent in the table of the team. */
interface TeamRow {
  id: string;
  name: string;
  icon: string;
  domain: string;
  /** What is said behind the id: `if the stack is Go`. */
  note?: string | undefined;
}

export function teamIn(sections: readonly ContextSection[]): TeamRow[] {
  const found = new Map<string, TeamRow>();
  for (const { topic, rows } of sections)
    if (topic === 'agents')
      for (const row of rows) {
        const [first = '', name = '', icon = '', domain = ''] = Object.values(row);
        const [marked = '', id = ''] = /^[`*]*([\w.-]+)[`*]*/.exec(first) ?? [];
        const note = withoutEnds(first.slice(marked.length).trim(), '_*').replace(/^\(|\)$/g, '');
        if (id !== '' && !found.has(id)) found.set(id, { id, name, icon, domain, ...(note ? { note } : {}) });
      }
  return [...found.values()];
}

/** Something one agent asks of another. */
export interface AgentRequest {
  id: string;
  from: string;
  /** No one in particular if missing: work without an owner. */
  to?: string | undefined;
  text: string;
  done: boolean;
  line: number;
}

/** The requests between agents, with the arrow in either form, with and without a box to tick. */
export function requestsIn(
  sections: readonly ContextSection[],
  idOf: (text: string) => string,
): AgentRequest[] {
  return sections.flatMap(({ topic, lines }) =>
    topic !== 'requests'
      ? []
      : lines.flatMap(({ text, line }) => {
          const request = requestIn(text);
          if (request === undefined) return [];
          const { from, to, text: what, done } = request;
          const named = to === '' || to === '?' ? {} : { to };
          return [{ id: idOf(`${from}→${to} ${what}`), from, ...named, text: what, done, line }];
        }),
  );
}

/** `dev → qa`, with the arrow in either form: who stands on its left and on its right. */
export function arrowIn(text: string): { from: string; to: string } | undefined {
  const [arrow] = text.matchAll(/→|->/g);
  if (arrow === undefined) return undefined;
  return { from: text.slice(0, arrow.index).trim(), to: text.slice(arrow.index + arrow[0].length).trim() };
}

interface RequestLine {
  from: string;
  to: string;
  text: string;
  done: boolean;
}

/** `- [ ] [dev→qa] text`, with and without a box to tick. */
export function requestIn(line: string): RequestLine | undefined {
  const bare = line
    .trim()
    .replace(/^[-*]\s/, '')
    .trimStart();
  const [box = '', tick = ' '] = /^\[([ xX])\]/.exec(bare) ?? [];
  const [whole = '', inside = ''] = /^\[([^\]]*)\]/.exec(bare.slice(box.length).trimStart()) ?? [];
  const arrow = arrowIn(inside);
  const text = bare.slice(box.length).trimStart().slice(whole.length).trim();
  return arrow === undefined || text === '' ? undefined : { ...arrow, text, done: tick !== ' ' };
}
