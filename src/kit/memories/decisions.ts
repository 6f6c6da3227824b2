import { unlessMissing } from '../../base/errors.ts';
import { appendLine, replaceShared } from '../../base/files/file-shared.ts';
import { modifiedInside, readInside, realFolder } from '../../base/files/files.ts';
import { type LineSection, sectionsOf, withoutExamples } from '../../base/text/markdown.ts';
import { asLine, textToRead, bulletIn, rowIn, struckText } from '../text.ts';
import type { Kit } from '../kit.ts';
import type { KitEntry, KitReading } from './entries.ts';
import { utf8Text } from '../../base/text/text.ts';
import { lineText } from './write.ts';

/** A decision on a plain line names no one. */
const NOBODY = 'team';

/** Decisions in all the forms of the log: dated tables, lines with a date, and headed paragraphs. */
export function decisionsIn(text: string, source: string): KitEntry[] {
  return sectionsOf(withoutExamples(text)).flatMap((section) => {
    const day = /^\[?(\d{4}-\d{2}-\d{2})\]?/.exec(section.title)?.[1];
    const found: KitEntry[] = [];
    let head: string[] | undefined;
    const prose: string[] = [];
    let isLog = day === undefined;
    for (const [at, line] of section.body.entries()) {
      const number = section.line + 1 + at;
      const bullet = bulletIn(line);
      const row = rowIn(line);
      if (bullet === undefined && row === undefined) prose.push(line);
      else isLog &&= bullet?.date !== undefined;
      if (bullet !== undefined && struckText(bullet.text) !== undefined) continue;
      if (bullet !== undefined) found.push(entry(bullet.text, source, number, { date: bullet.date ?? day }));
      else if (row !== undefined && head === undefined) head = row.map((name) => name.toLowerCase());
      else if (row !== undefined && row.some((part) => !/^[—–-]?$/.test(part)))
        found.push(decisionRow(row, head ?? [], source, number, day));
    }
    if (section.level < 2 || (found.length > 0 && !isLog)) return found;
    // Lines of the log that were added below a paragraph, at the end of the file, are not a part of it.
    return [...paragraph({ ...section, body: prose }, source, day), ...found];
  });
}

function decisionRow(
  row: readonly string[],
  head: readonly string[],
  source: string,
  line: number,
  day: string | undefined,
): KitEntry {
  const agentAt = head.indexOf('agent');
  const dateAt = head.indexOf('date');
  const text = row.filter((part, index) => index !== agentAt && index !== dateAt && part !== '').join(' — ');
  return entry(text, source, line, { date: dateAt < 0 ? day : row[dateAt], agent: row[agentAt] });
}

function paragraph({ title, line, body }: LineSection, source: string, date: string | undefined): KitEntry[] {
  const text = body
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^-{3,}$/.test(part))
    .join('\n');
  return text === '' ? [] : [entry(`${title}\n${text}`, source, line, { date })];
}

function entry(
  text: string,
  source: string,
  line: number,
  { date, agent = NOBODY }: { date?: string | undefined; agent?: string | undefined },
): KitEntry {
  return { type: 'decisions', agent, names: [agent], text, tags: [], date, source, line };
}

const MAX_BYTES = 20_000_000;

/** Also `DECISION:arch`, as some types have a kind. */
const isDecision = ({ type, text }: TraceLine): boolean =>
  /^DECISION(?::|$)/.test(type) && text.trim() !== '';

/** The decisions of a trace as something to recall. An agent is there with its name: `dev/Amelia`. */
function tracedIn(text: string, source: string): KitEntry[] {
  return traceIn(text)
    .filter(isDecision)
    .map(({ date, agent = NOBODY, text: told, line }) => {
      const names = agent.split('/').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
      const [who = NOBODY] = names;
      return {
        type: 'decisions',
        agent: who,
        names: [who, ...names],
        text: told.trim(),
        tags: [],
        date,
        source,
        line,
      };
    });
}

/** What a trace says was decided. It grows with every step of the work, and most of what is added is something else. */
export class TracedDecisions {
  readonly #kit: Kit;
  #stamp: string | undefined;
  #known: KitReading = { entries: [], problems: [] };

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  /** The same object for as long as it says the same. */
  async read(): Promise<KitReading> {
    const path = await tracePath(this.#kit);
    const stamp = path === undefined ? '' : `${path}@${(await modifiedInside(this.#kit.root, path)) ?? ''}`;
    if (this.#stamp === stamp) return this.#known;
    const problems: string[] = [];
    const text = path === undefined ? undefined : await textToRead(this.#kit, path, problems, this.#kit.root);
    const next = { entries: tracedIn(text ?? '', path ?? ''), problems };
    if (JSON.stringify(next) !== JSON.stringify(this.#known)) this.#known = next;
    this.#stamp = stamp;
    return this.#known;
  }
}

/** Takes decisions out of the trace. Nobody does that but who removes a memory for good, and asked for it. */
export async function dropTraced(kit: Kit, texts: readonly string[]): Promise<string | undefined> {
  const path = await tracePath(kit);
  if (path === undefined) return undefined;
  const root = (await realFolder(kit.root)) ?? kit.root;
  const bytes = await readInside(root, path, MAX_BYTES).catch(unlessMissing);
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  if (text === undefined) return undefined;
  const wanted = new Set(texts.map(lineText));
  const gone = new Set(
    traceIn(text)
      .filter((line) => isDecision(line) && wanted.has(lineText(line.text)))
      .map(({ line }) => line),
  );
  if (gone.size === 0) return undefined;
  const rest = text.split('\n').filter((_, index) => !gone.has(index + 1));
  await replaceShared(root, path, rest.join('\n'));
  return path;
}

const TYPE =
  /^(?:ACTIVATED|ACTION|DECISION|REMEMBER|RECALL|HANDOFF|CHECKPOINT|TOOL|RULE|WARN|ERROR|GIT-COMMIT|FAILURE)(?:[:→].*)?$/;

export interface TraceLine {
  date: string;
  agent?: string | undefined;
  type: string;
  text: string;
  line: number;
}

/** The lines of a trace, with the type before or after the agent; commit headings are skipped. */
export function traceIn(text: string): TraceLine[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, date = '', first = '', second, rest = ''] =
      /^\[(\d{4}-\d{2}-\d{2}[^\]]{0,30})\]\s*\[([^\]]{1,100})\]\s*(?:\[([^\]]{1,100})\]\s*)?(.*)/s.exec(
        line,
      ) ?? [];
    if (date === '') return [];
    const isTyped = TYPE.test(first);
    const type = isTyped ? first : (second ?? '');
    const agent = isTyped ? second : first;
    return [{ date, type, text: rest, line: index + 1, ...(agent === undefined ? {} : { agent }) }];
  });
}

/** Where the project keeps its trace; nothing when it keeps none. */
export async function tracePath(kit: Kit): Promise<string | undefined> {
  const [folder, name] =
    kit.family === 'bmad' ? ['_bmad-output', 'BMAD_TRACE.md'] : ['_grimoire-output', 'Grimoire_TRACE.md'];
  for (const path of [`${folder}/${name}`, name])
    if ((await modifiedInside(kit.root, path)) !== undefined) return path;
  return undefined;
}

/** Adds a line to the trace of a project that keeps one. Answers the file. */
export async function appendTrace(
  kit: Kit,
  { agent, type, text }: { agent: string; type: string; text: string },
  now: Date,
): Promise<string | undefined> {
  const path = await tracePath(kit);
  if (path === undefined) return undefined;
  const root = (await realFolder(kit.root)) ?? kit.root;
  const moment = now.toISOString().replace(/\.\d+Z$/, 'Z');
  await appendLine(root, path, `[${moment}] [${asLine(agent)}] [${type}] ${asLine(text)}`);
  return path;
}

/** A line of the log of decisions has no room for who decided; the copy of it in another file may say it. */
export function withAgents(entries: KitEntry[], copies: readonly KitEntry[] = entries): KitEntry[] {
  const known = new Map<string, KitEntry>();
  for (const copy of copies)
    if (copy.type === 'decisions' && copy.agent !== NOBODY) known.set(lineText(copy.text), copy);
  if (known.size === 0) return entries;
  return entries.map((each) => {
    if (each.type !== 'decisions' || each.agent !== NOBODY) return each;
    const copy = known.get(lineText(each.text));
    return copy === undefined ? each : { ...each, agent: copy.agent, names: copy.names };
  });
}
