import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { appendLine, replaceShared } from '../../base/files/file-shared.ts';
import { withoutExamples } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { cell, localDay, localHour, localTime } from '../../base/text/text.ts';
import { sha256 } from '../../base/values.ts';
import { headsOf, inOrder } from '../../lines/line.ts';
import type { Noun, View } from '../../lines/view.ts';
import { addToSection, lineEndOf, rowIn, topicOf, whileLocked, asLine, textToChange } from '../text.ts';
import { type KitWithMemory, inProject, type Kit } from '../kit.ts';
import { languageOf, projectWording } from '../language.ts';
import { SHARED_CONTEXT_FILE } from '../memories/entries.ts';
import { type AgentRequest, arrowIn, contextSections, requestIn, requestsIn } from './context-sections.ts';

export const HANDOFF_FILE = 'handoff-log.md';

export interface Handoff extends AgentRequest {
  date: string;
  to: string;
}

/** The rows of the log, which may have no head. */
export function handoffsIn(text: string): Handoff[] {
  return withoutExamples(text).flatMap((line, index) => {
    const [date = '', who = '', what = '', state = ''] = rowIn(line) ?? [];
    const { from = '', to = '' } = arrowIn(who) ?? {};
    if (from === '' || what === '' || !/^\d{4}-\d{2}-\d{2}/.test(date)) return [];
    const id = shortId('H', `${date}|${from}→${to}|${what}`);
    return [{ id, date, from, to, text: what, done: /✅|done|fait|termin/i.test(state), line: index + 1 }];
  });
}

export const requestId = (text: string): string => shortId('R', text);

/** A short id of something that has none of its own in its file: the same words always have the same one. */
function shortId(letter: 'H' | 'R', text: string): string {
  return `${letter}-${sha256(text.normalize('NFC')).slice(0, 8)}`;
}

export interface HandoffWritten {
  id: string;
  files: string[];
  added: boolean;
}

/** Writes down that work goes from one agent to another. The same once more, while it is open, changes nothing. */
export async function writeHandoff(
  kit: KitWithMemory,
  handoff: Pick<Handoff, 'from' | 'to' | 'text'>,
  now: Date,
): Promise<HandoffWritten> {
  return whileLocked(kit, async () => {
    const files = [inProject(kit, HANDOFF_FILE)];
    const known = handoffsIn((await textToChange(kit, HANDOFF_FILE)) ?? '');
    const day = localDay(now);
    const text = asLine(handoff.text);
    const twin = known.find(
      (other) =>
        !other.done &&
        other.date.startsWith(day) &&
        other.from === handoff.from &&
        other.to === handoff.to &&
        other.text === text,
    );
    if (twin !== undefined) return { id: twin.id, files, added: false };
    const row = `| ${day} ${localHour(now)} | ${handoff.from} → ${handoff.to} | ${cell(text)} | ⏳ |`;
    const id = handoffsIn(row)[0]?.id ?? '';
    await appendLine(kit.memory, HANDOFF_FILE, row);
    return { id, files, added: true };
  });
}

/** Puts a request into the inbox that agents look into when they start. */
export async function writeRequest(
  kit: KitWithMemory,
  { from, to, text }: Pick<Handoff, 'from' | 'to' | 'text'>,
): Promise<HandoffWritten> {
  return whileLocked(kit, async () => {
    const page = (await textToChange(kit, SHARED_CONTEXT_FILE)) ?? '';
    const line = `- [ ] [${from}→${to}] ${asLine(text)}`;
    const files = [inProject(kit, SHARED_CONTEXT_FILE)];
    const known = requestsIn(contextSections(page), requestId);
    const id = requestId(`${from}→${to} ${requestIn(line)?.text ?? ''}`);
    if (known.some((other) => other.id === id && !other.done)) return { id, files, added: false };
    await replaceShared(kit.memory, SHARED_CONTEXT_FILE, await withRequests(kit, page, [line]));
    return { id, files, added: true };
  });
}

/** A page with lines added to its inbox, which it gets if it has none. */
async function withRequests(kit: Kit, page: string, lines: readonly string[]): Promise<string> {
  const isInbox = ({ level, title }: { level: number; title: string }): boolean =>
    level === 2 && topicOf(title) === 'requests';
  const end = lineEndOf(page);
  const heading = `## ${languageOf(page, await projectWording(kit)).requests}`;
  const gap = page === '' ? '' : page.endsWith('\n') ? end : `${end}${end}`;
  return (
    addToSection(page, isInbox, lines, { gap: false }) ??
    `${page}${gap}${[heading, '', ...lines].join(end)}${end}`
  );
}

/** Adds to the log and the inbox what those of another place have and these do not. */
export async function bringHandoffs(from: KitWithMemory, to: KitWithMemory): Promise<void> {
  for (const isRequest of [false, true]) {
    const [there, here] = [await pageOf(from, isRequest), await pageOf(to, isRequest)];
    const known = new Set(here.all.map(({ id }) => id));
    const lines = there.page.split(/\r?\n/);
    const added = there.all.filter(({ id }) => !known.has(id)).map(({ line }) => lines[line - 1] ?? '');
    if (added.length === 0) continue;
    if (isRequest) await replaceShared(to.memory, here.path, await withRequests(to, here.page, added));
    else for (const row of added) await appendLine(to.memory, here.path, row);
  }
}

/** Whether two say the same between the same agents, and are as far: a hand-off that was written into both files is one. */
export function isTwin(one: AgentRequest, other: AgentRequest, idOf: (name: string) => string): boolean {
  const between = ({ from, to = '' }: AgentRequest): string => `${idOf(from)}→${idOf(to)}`;
  return one.done === other.done && one.text === other.text && between(one) === between(other);
}

/**
 * Ticks off a row of the log or a request of the inbox, by its exact id, and with it its open twin in the other file. The log
 * has ids of agents and the inbox their tags; `idOf` makes them one. `changed` is false when it was done before.
 */
export async function completeHandoff(kit: KitWithMemory, id: string, idOf = (name: string) => name) {
  return whileLocked(kit, async () => {
    const isRequest = id.startsWith('R');
    const own = await pageOf(kit, isRequest);
    const found =
      own.all.find((each) => each.id === id && !each.done) ?? own.all.find((each) => each.id === id);
    if (found === undefined) throw unknown(id, own.all);
    const files = [inProject(kit, own.path)];
    if (found.done) return { id, text: found.text, files, changed: false };
    await tick(kit, own, found.line);
    const other = await pageOf(kit, !isRequest);
    const [twin, ...more] = other.all.filter((each) => isTwin(each, found, idOf));
    if (twin !== undefined && more.length === 0) {
      await tick(kit, other, twin.line);
      files.push(inProject(kit, other.path));
    }
    return { id, text: found.text, files, changed: true };
  });
}

/** Whether it is open or done in these pages. */
export async function hasHandoff(kit: KitWithMemory, id: string): Promise<boolean> {
  return (await pageOf(kit, id.startsWith('R'))).all.some((each) => each.id === id);
}

interface Page {
  path: string;
  page: string;
  all: readonly AgentRequest[];
  mark(line: string): string;
}

async function pageOf(kit: KitWithMemory, isRequest: boolean): Promise<Page> {
  const path = isRequest ? SHARED_CONTEXT_FILE : HANDOFF_FILE;
  const page = (await textToChange(kit, path)) ?? '';
  return isRequest
    ? { path, page, all: requestsIn(contextSections(page), requestId), mark: ticked }
    : { path, page, all: handoffsIn(page), mark: rowDone };
}

async function tick(kit: KitWithMemory, { path, page, mark }: Page, line: number): Promise<void> {
  const lines = page.split('\n');
  lines[line - 1] = mark(lines[line - 1] ?? '');
  await replaceShared(kit.memory, path, lines.join('\n'));
}

function ticked(line: string): string {
  if (/\[ \]/.test(line)) return line.replace('[ ]', '[x]');
  const [, indent = '', rest = ''] = /^(\s*)(?:[-*]\s+)?(.*)$/s.exec(line) ?? [];
  return `${indent}- [x] ${rest}`;
}

/** The last cell is the state; a row without one gets it. */
function rowDone(line: string): string {
  if (line.includes('⏳')) {
    const at = line.lastIndexOf('⏳');
    return `${line.slice(0, at)}✅${line.slice(at + '⏳'.length)}`;
  }
  const end = line.endsWith('\r') ? '\r' : '';
  const cells = rowIn(line) ?? [];
  return cells.length > 3
    ? `${line.slice(0, line.lastIndexOf('|', line.trimEnd().length - 2) + 1)} ✅ |${end}`
    : `${line.trimEnd().replace(/\|?$/, '|')} ✅ |${end}`;
}

function unknown(id: string, all: readonly { id: string; text: string; done: boolean }[]): BmadError {
  const open = all.filter((each) => !each.done);
  return new BmadError('not_found', t`There is no handoff or request with the id ${quoted(id)}.`, {
    subject: id.slice(0, 100),
    suggestions: open.slice(0, 5).map((each) => each.id),
    ...(open.length === 0
      ? { hint: t`None are open. Ids begin with H- (handoffs) or R- (requests).` }
      : {
          steps: [
            { operation: 'get_project_context', args: { section: 'agents' }, why: t`See what is open` },
          ],
        }),
  });
}

/** A hand-off that is a line, and not a row of the kit's log. */
export interface LinedHandoff extends Handoff {
  /** Whether it is also a request, which agents look for when they start. */
  inbox: boolean;
}

const saidSchema = z.looseObject({
  from: z.string(),
  to: z.string(),
  text: z.string(),
  date: z.string(),
  inbox: z.boolean().default(false),
});

/** What lines say about a hand-off: `hand` says what it is, `done` that nobody needs to do it any more. */
export const HANDOFFS: Noun<LinedHandoff> = {
  noun: 'handoff',
  fold(id, events) {
    const told = inOrder(events).find((event) => event.do === 'hand' && event.erased !== true);
    const said = saidSchema.safeParse(told?.data).data;
    if (said === undefined) return undefined;
    const { from, to, text, date, inbox } = said;
    return { id, from, to, text, date, inbox, done: events.some((event) => event.do === 'done'), line: 0 };
  },
  isOver: ({ done }) => done,
};

/**
 * Whether hand-offs and failures of a project are lines: where it has the kit's own folder, the kit's files are what its
 * tools and its people read, change by hand and merge.
 */
export const keepsLines = ({ memory, keptWith }: Pick<Kit, 'memory' | 'keptWith'>): boolean =>
  memory === undefined || keptWith !== undefined;

/** All there are, in no order; the same list for as long as nothing was said. */
export async function linedHandoffs(view: View): Promise<readonly LinedHandoff[]> {
  const handoffs = view.of(HANDOFFS);
  await view.look();
  return handoffs.all();
}

/** Hands over, unless just that is open since today. Nobody waits for anybody: two who say the same are both heard. */
export async function handOver(
  view: View,
  given: Pick<LinedHandoff, 'from' | 'to' | 'text' | 'inbox'>,
  now: Date,
): Promise<{ id: string; added: boolean }> {
  const handoffs = view.of(HANDOFFS);
  await view.look();
  const [date, text] = [localTime(now).slice(0, 16).replace('T', ' '), asLine(given.text)];
  const twin = handoffs
    .open()
    .find(
      (other) =>
        other.date.startsWith(localDay(now)) &&
        other.from === given.from &&
        other.to === given.to &&
        other.text === text,
    );
  if (twin !== undefined) return { id: twin.id, added: false };
  const id = `H-${randomBytes(6).toString('hex')}`;
  await view.log.append([{ of: `handoff/${id}`, after: [], do: 'hand', data: { ...given, text, date } }]);
  return { id, added: true };
}

/** Ticks one off; nothing where no line knows it. */
export async function finishHandoff(
  view: View,
  id: string,
): Promise<{ text: string; changed: boolean } | undefined> {
  const handoffs = view.of(HANDOFFS);
  await view.look();
  const found = handoffs.get(id);
  if (found === undefined) return undefined;
  const after = headsOf(handoffs.eventsOf(id));
  if (!found.done) await view.log.append([{ of: `handoff/${id}`, after, do: 'done', data: {} }]);
  return { text: found.text, changed: !found.done };
}
