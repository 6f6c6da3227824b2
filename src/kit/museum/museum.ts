import { jsonIn } from '../../base/parse/json.ts';
import { field, isTable, textField } from '../../base/parse/parse.ts';
import { type LineSection, sectionsOf, withoutExamples } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { shared } from '../../base/values.ts';
import { type Severity, UNKNOWN_CATEGORY as UNKNOWN, CATEGORIES, SEVERITIES } from '../../model/memory.ts';
import { bulletIn, isUnset, plainTitle } from '../text.ts';
import { type KitEntry, texts } from '../memories/entries.ts';

/** What is told about a failure, as far as it is. */
export interface FailureFields {
  happened?: string | undefined;
  cause?: string | undefined;
  impact?: string | undefined;
  lesson?: string | undefined;
  fix?: string | undefined;
  rule?: string | undefined;
}

/** A failure of the museum, whichever of the two families of files it is in. */
export interface Failure extends FailureFields, Place {
  /** `FM-001`, in the family that numbers them. */
  id?: string | undefined;
  title: string;
  /** The title as written, with the category if it has one. */
  heading: string;
  category: string;
  severity: Severity;
  status: 'open' | 'resolved' | 'wontfix' | 'unknown';
  date?: string | undefined;
  agents: string[];
  tags: string[];
  source: string;
}

/** What is read when it is asked for. */
interface Place {
  line: number;
  /** Everything that is written there, for those who search. */
  told: string;
}

const HEADING = /^\[(\d{4}-\d{2}-\d{2})[^\]]{0,20}\]\s*(?:\[([^\]]{1,100})\]\s*)?(.*)/s;
const NUMBERED = /^(FM-\d+)\s*(?:[—–:-]\s*)?(.*)/s;
const CATEGORY = /^[A-Z]{2,}(?:-[A-Z]+)+$/;

/** The failures of a page: a heading with a date or a number each, the fields below it, and older lines with a date. */
export function museumIn(text: string, source: string): readonly Failure[] {
  const last = lastPage();
  const isKnown = last.text === text && (source === '' || last.source === source);
  if (isKnown) return last.failures;
  const failures = failuresOf(text, source);
  if (source !== '') Object.assign(last, { text, source, failures });
  return failures;
}

/** A long page is read once. */
const lastPage = (): { text: string; source: string; failures: readonly Failure[] } =>
  shared('the page of failures that was read last', () => ({ text: '', source: '', failures: [] }));

function failuresOf(text: string, source: string): Failure[] {
  const failures: Failure[] = [];
  const words = createWords();
  let severity: Severity = 'unknown';
  for (const section of sectionsOf(withoutExamples(text))) {
    const { title, level, line, body } = section;
    const numbered = NUMBERED.exec(title);
    const dated = level >= 3 ? HEADING.exec(title) : null;
    if (numbered !== null) failures.push(numberedFailure(numbered, section, source, words));
    else if (dated !== null) failures.push(datedFailure(dated, section, severity, source, words));
    else if (level <= 2) {
      severity = severityOf(title);
      for (const [at, below] of body.entries()) {
        const bullet = bulletIn(below);
        if (bullet?.date === undefined) continue;
        failures.push({
          ...blank(source, line + 1 + at),
          ...named(bullet.text),
          severity,
          date: bullet.date,
          told: bullet.text,
        });
      }
    }
  }
  return failures;
}

function datedFailure(
  [, date = '', bracket, rest = '']: RegExpExecArray,
  section: LineSection,
  severity: Severity,
  source: string,
  words: Words,
): Failure {
  // Some have the category or the severity in brackets where others have the agent, some have both.
  const isKind = bracket !== undefined && (CATEGORY.test(bracket) || words.category(bracket) !== undefined);
  const heading = isKind ? `[${bracket}] ${rest}` : rest;
  const own = bracket === undefined ? 'unknown' : words.severity(bracket);
  const { body } = section;
  const said = body.some((line) => RANKS.test(line)) ? labelledIn(body, words) : undefined;
  const head = {
    ...named(heading, [], words),
    severity: firstKnown(own, words.severity(said?.severity ?? ''), severity),
    status: words.status(said?.status ?? ''),
    date,
    agents: bracket === undefined || isKind || own !== 'unknown' ? [] : [bracket],
    tags: [],
    source,
  };
  return new PageFailure(head, section, words, said);
}

/** What a line begins with that may name a severity or a status. */
const RANKS = /^[^\p{L}\p{N}]*s/iu;

/**
 * A failure below its heading. What decides about its place among others is known, and what else is told is read when it is
 * asked for: of thousands, for a few.
 */
class PageFailure implements Failure {
  declare readonly id?: string | undefined;
  declare readonly title: string;
  declare readonly heading: string;
  declare readonly category: string;
  declare readonly severity: Severity;
  declare readonly status: Failure['status'];
  declare readonly date?: string | undefined;
  declare readonly agents: string[];
  declare readonly tags: string[];
  declare readonly source: string;
  readonly line: number;
  readonly #section: LineSection;
  readonly #words: Words;
  #said: Said | undefined;

  constructor(
    head: Omit<Failure, keyof FailureFields | keyof Place>,
    section: LineSection,
    words: Words,
    said: Said | undefined,
  ) {
    Object.assign(this, head);
    this.line = section.line;
    this.#section = section;
    this.#words = words;
    this.#said = said;
  }

  get happened(): string | undefined {
    return this.#own().happened;
  }
  get cause(): string | undefined {
    return this.#own().cause;
  }
  get impact(): string | undefined {
    return this.#own().impact;
  }
  get lesson(): string | undefined {
    return this.#own().lesson;
  }
  get fix(): string | undefined {
    return this.#own().fix;
  }
  get rule(): string | undefined {
    return this.#own().rule;
  }
  get told(): string {
    return toldText(this.heading, this.#section.body);
  }

  #own(): Said {
    return (this.#said ??= labelledIn(this.#section.body, this.#words));
  }
}

function numberedFailure(
  [, id = '', title = '']: RegExpExecArray,
  section: LineSection,
  source: string,
  words: Words,
): Failure {
  const own = labelledIn(section.body, words);
  const { severity, date, agents, tags } = own;
  const list = (text: string | undefined): string[] =>
    text === undefined ? [] : text.split(',').flatMap((part) => (isUnset(part) ? [] : [part.trim()]));
  const known = list(tags);
  const head = {
    id,
    ...named(title, known, words),
    severity: firstKnown(words.severity(severity ?? ''), severityAmong(known)),
    status: words.status(own.status ?? ''),
    date,
    agents: list(agents).filter((agent) => agent !== 'unknown'),
    tags: known,
    source,
  };
  return new PageFailure(head, section, words, own);
}

/** The log of the other family: one failure per line. Anything that is not JSON is reported and skipped. */
export function museumLog(text: string, source: string, problems: string[]): Failure[] {
  const failures: Failure[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = jsonIn(line);
    if (value === undefined) {
      problems.push(t`${source}:${index + 1} is not valid JSON and was skipped.`);
      continue;
    }
    if (!isTable(value)) continue;
    const part = (name: string): string | undefined => textField(value, name)?.trim() || undefined;
    const tags = texts(field(value, 'tags'));
    failures.push({
      ...blank(source, index + 1),
      id: part('failure_id'),
      ...named(part('title') ?? '', tags),
      severity: firstKnown(severityOf(part('severity') ?? ''), severityAmong(tags)),
      status: statusOf(part('status') ?? ''),
      date: part('timestamp'),
      agents: texts(field(value, 'agents')),
      happened: part('description'),
      cause: part('root_cause'),
      fix: part('fix'),
      rule: part('rule_added'),
      tags,
      told: ['title', 'description', 'root_cause', 'fix', 'rule_added']
        .flatMap((name) => part(name) ?? [])
        .join('\n'),
    });
  }
  return failures;
}

function firstKnown(...severities: Severity[]): Severity {
  return severities.find((severity) => severity !== 'unknown') ?? 'unknown';
}

function blank(source: string, line: number): Failure {
  return {
    title: '',
    heading: '',
    category: UNKNOWN,
    severity: 'unknown',
    status: 'unknown',
    agents: [],
    tags: [],
    source,
    line,
    told: '',
  };
}

/** `CC-FAIL — title` in two parts. A category may also be among the tags. */
function named(
  heading: string,
  tags: readonly string[] = [],
  { category: known }: Pick<Words, 'category'> = { category: categoryOf },
): { category: string; title: string; heading: string } {
  const ahead = categoryAhead(heading, known);
  if (ahead !== undefined) return { ...ahead, heading };
  const tagged = tags.map(known).find((category) => category !== undefined);
  // What looks like a category and is none is left in the title, where it can be read.
  return { category: tagged ?? UNKNOWN, title: heading.trim(), heading };
}

function statusOf(text: string): Failure['status'] {
  const plain = plainTitle(text);
  if (/^(?:resolved|resolu|closed)/.test(plain)) return 'resolved';
  if (/^(?:open|ouvert)/.test(plain)) return 'open';
  return /^wontfix|^won't fix|^sans suite/.test(plain) ? 'wontfix' : 'unknown';
}

const LABELS = [
  ['happened', /^(?:ce qui s'est passe|what happened|description)$/],
  ['cause', /^(?:cause racine|root cause|cause)$/],
  ['impact', /^impact$/],
  ['lesson', /^(?:lecon|lesson)s?(?: apprises?| learn(?:ed|t))?$/],
  ['rule', /^(?:regle|rule)s?(?: instauree| ajoutee| added| established)?s?$/],
  ['fix', /^(?:correctif|correction|fix)$/],
  ['severity', /^(?:severite|severity)$/],
  ['status', /^(?:statut|status)$/],
  ['date', /^date$/],
  ['agents', /^agent(?: s|s)?(?: implique s| impliques?| involved)?$/],
  ['tags', /^tags?$/],
] as const;
type Label = (typeof LABELS)[number][0];
/** What is written behind each label. */
type Said = Partial<Record<Label, string>>;

/** `**Leçon** : …`, as a separate line or a bullet, with or without the marks: its name and its value. */
function labelIn(line: string): [name: string, value: string] | undefined {
  const colon = line.indexOf(':');
  const head = line
    .slice(0, colon)
    .trim()
    .replace(/^[-*]\s/, '')
    .trim();
  const name = head.replace(/^\*\*|\*\*$/g, '').trim();
  if (colon === -1 || name.length < 3 || name.length > 40 || name.includes('*')) return undefined;
  const told = line.slice(colon + 1).trim();
  return [name, told.replace(/^\*\*/, '').trim() || told];
}

/** What words of a page stand for. It has few names of fields, agents and kinds, and each of them thousands of times. */
interface Words {
  label(name: string): Label | undefined;
  category(word: string): ReturnType<typeof categoryOf>;
  severity(word: string): Severity;
  status(word: string): Failure['status'];
}

function createWords(): Words {
  return {
    label: remembered(labelOf),
    category: remembered(categoryOf),
    severity: remembered(severityOf),
    status: remembered(statusOf),
  };
}

function remembered<T>(read: (word: string) => T): (word: string) => T {
  const known = new Map<string, T>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined || known.has(word)) return before as T;
    const made = read(word);
    known.set(word, made);
    return made;
  };
}

function labelOf(name: string): Label | undefined {
  const plain = plainTitle(name);
  return plain === '' ? undefined : LABELS.find(([, pattern]) => pattern.test(plain))?.[0];
}

function labelledIn(body: LineSection['body'], words: Pick<Words, 'label'> = { label: labelOf }): Said {
  const found: Said = {};
  let last: Label | undefined;
  for (const text of body) {
    const [name, value] = labelIn(text) ?? ['', ''];
    const label = words.label(name);
    const told = text.trim();
    if (label !== undefined) {
      last = found[label] === undefined && !isUnset(value) ? label : undefined;
      if (last !== undefined) found[last] = value;
    } else if (told === '' || /^(?:-{3,}$|>)/.test(told)) last = undefined;
    else if (last !== undefined) found[last] += ` ${told}`;
  }
  return found;
}

/** The severity that is written among the fields. */
function saidSeverity(body: LineSection['body']): Severity {
  return severityOf(labelledIn(body).severity ?? '');
}

type Told = Required<{ [Name in keyof FailureFields]: FailureFields[Name] }> & Pick<Failure, 'status'>;

function fieldsOf({ happened, cause, impact, lesson, fix, rule, status = '' }: Said): Told {
  return { happened, cause, impact, lesson, fix, rule, status: statusOf(status) };
}

/** A heading and what is below it, without lines and remarks. */
function toldText(heading: string, body: LineSection['body']): string {
  let told = heading;
  for (const text of body) {
    const line = text.trim();
    if (line !== '' && !line.startsWith('>') && !/^-{3,}$/.test(line))
      told += `${told === '' ? '' : '\n'}${line}`;
  }
  return told;
}

export const MUSEUM_FILE = 'failure-museum.md';
export const MUSEUM_LOG = 'failure-museum.jsonl';

/** The failures of the page as something to recall. Where there is a log, numbered ones are there and say more. */
export function failuresIn(text: string, source: string, logged: boolean): KitEntry[] {
  return museumIn(text, source)
    .filter(({ id }) => !logged || id === undefined)
    .map(entryOf);
}

/** The log of the other family: one failure a line. */
export function loggedFailures(text: string, source: string, problems: string[]): KitEntry[] {
  return museumLog(text, source, problems).map(entryOf);
}

function entryOf({ id, agents, told, tags, date, source, line }: Failure): KitEntry {
  const agent = agents[0] ?? 'team';
  return { type: 'failures', agent, names: [agent], text: told, tags, date, source, line, number: id };
}

type ToldFailure = FailureFields & Pick<Failure, 'title' | 'category' | 'severity' | 'status'>;

/** Reads it back, and any other text that is remembered about a failure, in either language of the museum. */
export function failureIn(text: string, tags: readonly string[]): ToldFailure {
  const [line = '', ...rest] = text.trim().split(/\r?\n/);
  // `[critical] title`, as answers have it.
  const [mark = '', own = ''] = /^\[([^\]]{1,40})\]\s*/.exec(line) ?? [];
  const ahead = severityOf(own);
  const { title, category } = named(ahead === 'unknown' ? line : line.slice(mark.length), tags);
  const { status, ...fields } = fieldsOf(labelledIn(rest));
  const about = {
    title,
    category,
    status,
    severity: firstKnown(ahead, saidSeverity(rest), severityAmong(tags)),
  };
  const isLabelled = Object.values(fields).some((value) => value !== undefined);
  if (isLabelled || rest.length === 0) return { ...about, ...fields };
  // Words without labels are all about what happened.
  return { ...about, happened: rest.join('\n').trim() || undefined };
}

/** What people write for the severities and categories of failures: one reading, in any case and in both languages. */

/** Words that say it in the middle of a heading, and those that have to be all there is. */
const SEVERITY_WORDS: readonly [Severity, mark: RegExp, within: RegExp, alone: RegExp][] = [
  [
    'critical',
    /🔴/u,
    /\b(?:critiques?|critical|bloquante?s?|blockers?|blocking)\b/,
    /^(?:high|hautes?|elevee?s?|majeure?s?|major|severes?|graves?)$/,
  ],
  ['important', /🟡|🟠/u, /\bimportante?s?\b/, /^(?:medium|moyenn?e?s?|moderate|moderee?s?)$/],
  ['micro', /🟢/u, /\bmicro\b/, /^(?:low|basses?|faibles?|minor|mineure?s?|trivial)$/],
];

/** The severity that a heading, a tag or a word stands for, by its colour or by its words. */
export function severityOf(text: string): Severity {
  const plain = plainTitle(text).replace(/^(?:severite|severity|gravite|priorite|priority)\b\s*/, '');
  const found = SEVERITY_WORDS.find(
    ([, mark, within, alone]) => mark.test(text) || within.test(plain) || alone.test(plain),
  );
  return found?.[0] ?? 'unknown';
}

/** The severest of what some tags stand for. */
function severityAmong(tags: readonly string[]): Severity {
  const found = new Set(tags.map(severityOf));
  return SEVERITIES.find((severity) => found.has(severity)) ?? 'unknown';
}

type Category = (typeof CATEGORIES)[number];

const CATEGORY_WORDS: readonly [Category, RegExp][] = [
  [
    'CC-FAIL',
    /^(?:cc fail(?:ed|ure|s)?|(?:echec )?(?:du )?contrat(?: de completion)?|completion contract.*)$/,
  ],
  [
    'WRONG-ASSUMPTION',
    /^(?:wrong assumptions?|(?:mauvaises?|fausses?) hypotheses?|hypotheses? (?:fausses?|erronees?))$/,
  ],
  ['CONTEXT-LOSS', /^(?:context loss|lost context|pertes? de contexte|contexte perdu)$/],
  ['HALLUCINATION', /^hallucinations?$/],
  ['ARCH-MISTAKE', /^(?:arch(?:itecture)? (?:mistake|error)s?|erreurs? d'archi(?:tecture)?)$/],
  ['PROCESS-SKIP', /^(?:process skip(?:ped)?|skipped (?:process|steps?)|etapes? (?:sautee?|oubliee?)s?)$/],
];

/** The category that a word stands for; nothing where it is none. */
export function categoryOf(word: string): Category | undefined {
  const plain = plainTitle(word.replaceAll('_', ' ')).replaceAll('-', ' ');
  return CATEGORY_WORDS.find(([, pattern]) => pattern.test(plain))?.[0];
}

const LONGEST = 40;

/** `CC-FAIL — title`, `[cc-fail] title` or `Mauvaise hypothèse : titre` in its two parts. */
function categoryAhead(
  heading: string,
  known = categoryOf,
): { category: Category; title: string } | undefined {
  const [, inBrackets, rest = ''] = /^\[([^\]]{3,40})\](.*)/s.exec(heading) ?? [];
  if (inBrackets !== undefined) {
    const category = known(inBrackets);
    return category === undefined ? undefined : { category, title: afterMark(rest) || heading };
  }
  // A word in capitals needs no mark after it; anything else could be a sentence.
  const [capitals = ''] = /^[A-Z][A-Z-]{2,39}(?=\s|$)/.exec(heading) ?? [];
  const [marked = ''] = /^[^:—–]{3,40}?(?=\s*[:—–]|\s-\s)/.exec(heading.slice(0, LONGEST + 2)) ?? [];
  for (const word of [capitals, marked]) {
    const category = word === '' ? undefined : known(word);
    if (category !== undefined) return { category, title: afterMark(heading.slice(word.length)) || heading };
  }
  return undefined;
}

function afterMark(text: string): string {
  return text
    .trim()
    .replace(/^[—–:-]\s*/, '')
    .trim();
}
