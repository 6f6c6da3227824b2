import { unlessShort } from '../../base/errors.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { listInside } from '../../base/files/files.ts';
import { cell, localDay, localHour } from '../../base/text/text.ts';
import {
  isUnset,
  plainTitle,
  rowIn,
  lineEndOf,
  whileLocked,
  asLine,
  textToChange,
  textToRead,
} from '../text.ts';
import { inProject, type Kit, type KitWithMemory } from '../kit.ts';
import { languageOf, type Wording, projectWording } from '../language.ts';
import { conflictsIn } from '../../base/text/diff.ts';
import { sectionsOf, withoutExamples } from '../../base/text/markdown.ts';

export const SESSION_FILE = 'session-state.md';
const SUMMARIES = 'session-summaries';

/** Where the last session left off. */
export interface SessionState {
  agent?: string | undefined;
  date?: string | undefined;
  duration?: string | undefined;
  work: string[];
  files: string[];
  state?: string | undefined;
  next?: string | undefined;
  requests: string[];
}

type Part = 'work' | 'files' | 'state' | 'next' | 'requests';
const PARTS: readonly [Part, RegExp][] = [
  ['work', /^travail effectue|^work done|^what was done/],
  ['files', /^fichiers modifies|^files (?:changed|modified)/],
  ['state', /^etat actuel|^current state/],
  ['next', /^prochaine etape|^(?:recommended )?next step/],
  ['requests', /^requetes inter-?agents|^inter-?agent requests/],
];

/** Undefined if no session has been saved yet: the page of a new project has only dashes. */
export function sessionIn(text: string): SessionState | undefined {
  const found: SessionState = { work: [], files: [], requests: [] };
  for (const { title, body } of sectionsOf(withoutExamples(text))) {
    const part = PARTS.find(([, pattern]) => pattern.test(plainTitle(title)))?.[0];
    const told = body.map((each) => each.trim()).filter((line) => line !== '' && !/^(?:>|-{3,}$)/.test(line));
    for (const [name = '', value = ''] of told.flatMap((line) => [rowIn(line) ?? []])) {
      const key = plainTitle(name);
      if (isUnset(value)) continue;
      if (key === 'agent') found.agent = value;
      else if (key === 'date') found.date = value;
      else if (/^duree|duration/.test(key)) found.duration = value;
    }
    if (part === undefined) continue;
    const said = told.filter((line) => !line.startsWith('|') && !isNothing(line));
    if (part === 'state' || part === 'next') found[part] = said.join('\n') || undefined;
    else found[part] = said.map((line) => line.replace(/^[-*]\s+/, ''));
  }
  const { agent, date, work, files, state, next, requests } = found;
  const told = [agent, date, state, next, ...work, ...files, ...requests].some(
    (value) => value !== undefined,
  );
  return told ? found : undefined;
}

/** The session that was saved last, in whichever of these places, and its page. */
export async function lastSession(
  places: readonly Kit[],
  problems: string[],
): Promise<{ session: SessionState; page: string } | undefined> {
  const found: { session: SessionState; page: string }[] = [];
  for (const place of places) {
    const page = await textToRead(place, SESSION_FILE, problems);
    const session = page === undefined ? undefined : sessionIn(page);
    if (page !== undefined && session !== undefined) found.push({ session, page });
  }
  const at = ({ session }: { session: SessionState }): string => session.date ?? '';
  return found.reduce<(typeof found)[number] | undefined>(
    (last, each) => (last === undefined || at(each) > at(last) ? each : last),
    undefined,
  );
}

/** `(aucun état enregistré)`, `- (none)`, a dash. */
function isNothing(line: string): boolean {
  const bare = line.replace(/^[-*]\s+/, '');
  return isUnset(bare) || /^[*_]?\((?:aucun|none|nothing|no )[^)]*\)[*_]?$/i.test(bare);
}

/** Saves a session as the project's own tool does: one page with the last one, and a copy among the summaries. */
export async function writeSession(
  kit: KitWithMemory,
  project: string,
  session: SessionState & { agent: string },
  now: Date,
): Promise<{ files: string[]; date: string; nothing: string }> {
  return whileLocked(kit, async () => {
    const before = await textToChange(kit, SESSION_FILE);
    const date = `${localDay(now)} ${localHour(now)}`;
    const end = lineEndOf(before ?? '');
    const words = languageOf(before, await projectWording(kit)).session;
    const dated = { ...session, date };
    // A page with a conflict is kept as it is beside the others, and begun anew.
    const usable = before === undefined || conflictsIn(before) !== undefined ? undefined : before;
    const page =
      (usable === undefined ? undefined : filledIn(usable, words, dated)) ?? format(words, project, dated);
    const text = page.replaceAll('\n', end);
    if (before !== undefined) await keepPage(kit, before);
    const stem = `${localDay(now).replaceAll('-', '')}-${localHour(now, '')}-${session.agent}`;
    const summary = await freeName(kit, stem, text);
    // The copy first: the page is the last step, so that anyone who sees it finds the copy too.
    await replaceShared(kit.memory, summary, text);
    await replaceShared(kit.memory, SESSION_FILE, text);
    return { files: [inProject(kit, SESSION_FILE), inProject(kit, summary)], date, nothing: words.work.none };
  });
}

/** Takes over the last session of another place, if it is later than the one here; no page is lost. */
export async function bringSession(from: KitWithMemory, to: KitWithMemory): Promise<void> {
  const [theirs, ours] = [await textToChange(from, SESSION_FILE), await textToChange(to, SESSION_FILE)];
  if (theirs === undefined || theirs === ours) return;
  const isLater = (await lastSession([to, from], []))?.page === theirs;
  const left = isLater ? ours : theirs;
  if (left !== undefined) await keepPage(to, left);
  if (isLater || ours === undefined) await replaceShared(to.memory, SESSION_FILE, theirs);
}

/** A page that was written or changed by hand has no copy yet, and would be lost. */
async function keepPage(kit: KitWithMemory, page: string): Promise<void> {
  const session = sessionIn(page);
  if (session === undefined) return;
  const stamp = (session.date ?? 'undated').replace(/[-:]/g, '').replace(/\D+/g, '-') || 'undated';
  const agent = (session.agent ?? 'unknown')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^\.+/, '')
    .slice(0, 100);
  await replaceShared(kit.memory, await freeName(kit, `${stamp}-${agent}`, page), page);
}

/** Another session of the same agent in the same minute keeps its copy. */
async function freeName(kit: KitWithMemory, stem: string, text: string): Promise<string> {
  const taken = new Set(
    (await listInside(kit.memory, SUMMARIES).catch(unlessShort([]))).map(({ name }) => name),
  );
  for (let count = 1; ; count += 1) {
    const name = `${stem}${count === 1 ? '' : `-${count}`}.md`;
    const path = `${SUMMARIES}/${name}`;
    if (!taken.has(name) || (await textToChange(kit, path)) === text) return path;
  }
}

/** The page as it is, in its own words, with another session in it; nothing where it lacks a part that has to be told. */
function filledIn(before: string, words: Wording['session'], session: SessionState): string | undefined {
  const lines = before.split(/\r?\n/);
  const contents = contentsOf(words, session);
  const cells: readonly [RegExp, string | undefined][] = [
    [/^agent$/, session.agent],
    [/^date$/, session.date],
    [/^duree|duration/, session.duration],
  ];
  const told = new Set<string>();
  const made: string[] = [];
  let at = 0;
  for (const { title, body, line: first } of sectionsOf(withoutExamples(before))) {
    const part = PARTS.find(([, pattern]) => pattern.test(plainTitle(title)))?.[0];
    const last = first + body.length;
    const own = lines.slice(first, last);
    const isLast = plainTitle(title).includes('session') && part === undefined;
    made.push(...lines.slice(at, first));
    at = last;
    if (part === undefined) {
      made.push(...own.map((line) => (isLast ? withCell(line, cells, told) : line)));
      continue;
    }
    if (told.has(part)) return undefined;
    told.add(part);
    const about = own.findLastIndex((line) => line.startsWith('>'));
    const rule = own.findLast((line) => /^-{3,}\s*$/.test(line));
    made.push(...own.slice(0, about + 1), '', ...contents[part].split('\n'), '');
    if (rule !== undefined) made.push(rule, '');
  }
  const isWhole = [...PARTS.map(([part]) => part), 'agent', 'date'].every((name) => told.has(name));
  return isWhole ? `${[...made, ...lines.slice(at)].join('\n').trimEnd()}\n` : undefined;
}

/** A row of the table with another value, in the form that the row has. */
function withCell(line: string, cells: readonly [RegExp, string | undefined][], told: Set<string>): string {
  const [name = '', value] = rowIn(line) ?? [];
  const found = cells.find(([pattern]) => pattern.test(plainTitle(name)));
  if (found === undefined || value === undefined) return line;
  told.add(plainTitle(name));
  const start = line.indexOf('|', line.indexOf(name) + name.length);
  return `${line.slice(0, start)}| ${cell(found[1] ?? '—')} |`;
}

function contentsOf(words: Wording['session'], session: SessionState): Record<Part, string> {
  const list = (items: readonly string[], none: string): string =>
    (items.length === 0 ? [none] : items.map(asLine)).map((item) => `- ${item}`).join('\n');
  return {
    work: list(session.work, words.work.none),
    files: list(session.files, words.files.none),
    state: paragraphs(session.state) ?? words.state.none,
    next: paragraphs(session.next) ?? words.next.none,
    requests: list(session.requests, words.requests.none),
  };
}

function format(words: Wording['session'], project: string, session: SessionState): string {
  const contents = contentsOf(words, session);
  const section = ({ heading, about }: Wording['session'][Part], content: string): string =>
    `## ${heading}\n\n> ${about}\n\n${content}\n`;
  const row = (name: string, value: string): string => `| ${name} | ${cell(value)} |`;
  return [
    `# ${words.title} — ${asLine(project)}\n\n> ${words.note}\n`,
    `## ${words.last}\n\n${[
      row(words.field, words.value),
      '|-------|--------|',
      row(`**${words.agent}**`, session.agent ?? '—'),
      row(`**${words.date}**`, session.date ?? '—'),
      row(`**${words.duration}**`, session.duration ?? '—'),
    ].join('\n')}\n`,
    ...PARTS.map(([part]) => section(words[part], contents[part])),
  ].join('\n');
}

/** Several lines stay several, but none of them can begin a section or a block of the page. */
function paragraphs(text: string | undefined): string | undefined {
  const lines = text
    ?.split(/\r?\n/)
    .map((line) => asLine(line).replace(/^(#|`{3}|~{3}|-{3}|>)/, String.raw`\$1`))
    .join('\n')
    .trim();
  return lines === undefined || lines === '' ? undefined : lines;
}
