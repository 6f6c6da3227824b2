import { attempt, orElse } from '../../base/errors.ts';
import { field, isTable, parseFrontMatter, type Table, tableOf, textField } from '../../base/parse/parse.ts';
import { fenceFollower, outline, withoutComments } from '../../base/text/markdown.ts';
import { behaviourOf, type BmadRecord } from '../../model/record.ts';
import { allTexts, inside, tagText, yamlBlock } from './agent.ts';

interface CharacterPart {
  /** What it is: `Role`, `Principles`, `Rules`. */
  title: string;
  text: string;
}

/** Who an agent is and which rules it follows, in full, for a model that plays the agent without its file. */
export interface AgentCharacter {
  name: string;
  title: string;
  /** The parts of its definition that are not about menus and greetings, the most telling first. */
  parts: CharacterPart[];
  /** What the definition builds on and does not hold itself. */
  elsewhere: string[];
}

/** The part of a definition before its first heading, or all of it if there is none. */
const BEGIN = 'Definition';

/** In this order; what has another title comes after. */
const ORDER = [
  'Role',
  'Overview',
  BEGIN,
  'Identity',
  'Communication style',
  'Focus',
  'Principles',
  'Critical actions',
  'Rules',
  'Customization',
  'Facts',
];

/** What agents of all generations call these parts. */
const TITLES = new Map([
  ['style', 'Communication style'],
  ['communication', 'Communication style'],
  ['core principles', 'Principles'],
  ['activation instructions', 'Rules'],
  ['critical rules', 'Rules'],
  ['persistent facts', 'Facts'],
]);

interface CharacterSource {
  record: BmadRecord;
  main: string;
  customization: Table;
  /** The values of the module's configuration, for the placeholders of the text. */
  values: readonly (readonly [string, string])[];
}

/** Every generation writes an agent in a different form; a form that yields nothing leaves the text unchanged. */
export function agentCharacter({ record, main, customization, values }: CharacterSource): AgentCharacter {
  const elsewhere: string[] = [];
  const { persona } = behaviourOf(record);
  const found =
    persona === 'tags'
      ? fromMarkup(main, elsewhere)
      : persona === 'yaml'
        ? fromYaml(record.bmadRelativePath, main)
        : fromSkill(main, customization, elsewhere);
  // The text of a tag begins right behind it, and its other lines are indented as deep as the tag.
  const isHanging = persona === 'tags';
  const parts = found.filter(({ text }) => text.trim() !== '');
  const told = parts.length > 0 ? parts : [{ title: BEGIN, text: withoutComments(bodyOf(main)).trim() }];
  return {
    name: record.displayName ?? record.name,
    title: record.title ?? '',
    parts: told
      .map(({ title, text }) => ({ title, text: filled(tidyText(text, isHanging), values) }))
      .sort((a, b) => place(a.title) - place(b.title)),
    elsewhere,
  };
}

function place(title: string): number {
  const at = ORDER.indexOf(title);
  return at === -1 ? ORDER.length : at;
}

function titleOf(key: string): string {
  const words = key.replaceAll(/[_-]+/g, ' ').trim().toLowerCase();
  return TITLES.get(words) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

function filled(text: string, values: CharacterSource['values']): string {
  // The kit writes some of them with two braces.
  return values.reduce(
    (told, [key, value]) => told.replaceAll(`{{${key}}}`, () => value).replaceAll(`{${key}}`, () => value),
    text,
  );
}

function listed(items: readonly string[]): string {
  return items.map((item) => `- ${item.replaceAll(/\s+/g, ' ').trim()}`).join('\n');
}

/** How an agent greets, shows its menu and waits: none of it applies when it is asked one question. */
const CEREMONY =
  /^(?:STEP \d|Load persona|Read THIS ENTIRE|Remember:? (?:the )?users?\b|.{0,6}IMMEDIATE ACTION|Show (?:brief )?greeting|Greet |Always greet|STOP and WAIT|On user input|When (?:executing|processing) a menu item|Let \{user_name\} know|Load this complete|Load into memory|DO NOT: Load any other agent|ONLY load dependency files|CRITICAL: On activation|When listing tasks|Display Menu items|Menu triggers use|STAY IN CHARACTER|Stay in character until|Announce: |IMPORTANT: Tell users)/i;

/** The first Markdown file that a text names. */
function namedFile(text: string): string | undefined {
  for (const [word] of text.matchAll(/[\w./{}-]+/g)) {
    const end = word.lastIndexOf('.md');
    if (end > 0) return word.slice(0, end + 3);
  }
  return undefined;
}

/** Compiled agents. What BMAD calls critical actions is written into the steps of the activation. */
function fromMarkup(file: string, elsewhere: string[]): CharacterPart[] {
  const text = withoutComments(file);
  const persona = inside(text, 'persona');
  const named = [...(persona ?? '').matchAll(/<([a-z][\w-]{1,40})>/g)].map(([, tag = '']) => tag);
  const parts = [...new Set(persona === undefined ? ['role', 'identity'] : named)].map((tag) => ({
    title: titleOf(tag),
    text: tagText(persona ?? text, tag) ?? '',
  }));
  const isRule = (rule: string): boolean => !CEREMONY.test(rule);
  const activation = inside(text, 'activation') ?? '';
  const steps = allTexts(activation, 'step').filter(isRule);
  const own = steps.filter((step) => !isBaseProtocol(step));
  for (const step of steps.filter(isBaseProtocol))
    elsewhere.push(`the base protocol (${namedFile(step) ?? 'a file'})`);
  const critical = [...allTexts(inside(text, 'critical-actions') ?? '', 'i').filter(isRule), ...own];
  const block = inside(text, 'rules') ?? '';
  const written = allTexts(block, 'r');
  // The first alphas wrote them as plain lines.
  const rules = (written.length > 0 ? written : ruleLines(block)).filter(isRule);
  return [
    ...parts,
    { title: 'Critical actions', text: listed(critical) },
    { title: 'Rules', text: listed(rules) },
  ];
}

function ruleLines(block: string): string[] {
  return block
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^\s*[-*]?\s*/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('<'));
}

function isBaseProtocol(step: string): boolean {
  return /^.{0,6}BASE PROTOCOL/i.test(step);
}

const BOOKKEEPING =
  /^(?:I?IDE-FILE-RESOLUTION|REQUEST-RESOLUTION|agent|persona|commands|dependencies|loading|transformation|help-display-template|fuzzy-matching|startup)$/;

/** Version 4: the persona table, the instructions, and any other keys the author has added. */
function fromYaml(file: string, main: string): CharacterPart[] {
  const table = yamlBlock(file, main);
  const own = Object.entries(tableOf(field(table, 'persona')));
  const more = Object.keys(table).filter((key) => !BOOKKEEPING.test(key));
  return [
    ...own.map(([key, value]) => ({ title: titleOf(key), text: asText(value) })),
    { title: 'Customization', text: textField(tableOf(field(table, 'agent')), 'customization') ?? '' },
    ...more.map((key) => {
      const value = field(table, key);
      const isList = key === 'activation-instructions' && Array.isArray(value);
      const kept = isList ? value.filter((rule) => !CEREMONY.test(asText(rule))) : value;
      return { title: titleOf(key), text: asText(kept) };
    }),
  ];
}

/** Values of YAML as a person would write them down. */
function asText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return listed(value.map(asText));
  if (!isTable(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([key, inner]) => `${key}: ${asText(inner)}`)
    .join('\n');
}

const LEFT = /^(?:conventions|on activation|activation|capabilities|external skills|menu|commands)\b/i;

/** Skills and agents that people wrote: the merged `[agent]` table over the sections of the text. */
function fromSkill(main: string, customization: Table, elsewhere: string[]): CharacterPart[] {
  const table = tableOf(field(customization, 'agent'));
  const fromTable = ['role', 'identity', 'communication_style', 'principles', 'persistent_facts'].map(
    (key) => {
      const value = field(table, key);
      const items = Array.isArray(value) ? value.map(asText) : [];
      // Files are named here; what they say is for a session that can read them.
      const files = items.filter((item) => item.startsWith('file:'));
      elsewhere.push(...files.map((item) => `facts in ${item.slice(5).trim()}`));
      const kept = items.filter((item) => !item.startsWith('file:'));
      return { title: titleOf(key), text: Array.isArray(value) ? listed(kept) : asText(value) };
    },
  );
  const has = new Set(fromTable.filter(({ text }) => text !== '').map(({ title }) => title));
  const fromText = sectionsOf(bodyOf(main))
    .filter(({ title }) => !LEFT.test(title))
    .map(({ title, text }) => ({ title: titleOf(title), text }))
    // The table is the text with the project's overrides in it.
    .filter(({ title }) => !has.has(title));
  return [...fromTable, ...fromText];
}

/** A text split at its first two levels of headings. What comes before them, or below its title, is a separate part. */
function sectionsOf(body: string): CharacterPart[] {
  const headings = outline(body).filter(({ level }) => level <= 2);
  const [first] = headings;
  const isTitled = first?.level === 1 && headings.filter(({ level }) => level === 1).length === 1;
  const own = headings.map(({ title, start }, at) => ({
    title,
    text: body
      .slice(start, headings[at + 1]?.start)
      .split('\n')
      .slice(1)
      .join('\n'),
  }));
  const begin = [body.slice(0, first?.start), ...(isTitled ? own.splice(0, 1).map(({ text }) => text) : [])];
  return [{ title: BEGIN, text: withoutComments(begin.join('\n')) }, ...own];
}

function bodyOf(main: string): string {
  return attempt(() => parseFrontMatter('', main.replaceAll('\r\n', '\n')).body, orElse(main));
}

/**
 * A text without the indentation common to all its lines, trailing blanks and runs of blank lines. Deeper indentation
 * is kept, and code fences are not changed. The first line of a hanging text does not count: it begins after something
 * else.
 */
export function tidyText(text: string, isHanging = false): string {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
  const common = commonIndent(isHanging && lines[0]?.trim() !== '' ? lines.slice(1) : lines);
  const kept: string[] = [];
  const isFenced = fenceFollower();
  for (const whole of lines) {
    const line = whole.slice(Math.min(common, indentOf(whole)));
    if (isFenced(line.trimStart())) kept.push(line);
    else if (line.trim() !== '' || kept.at(-1) !== '') kept.push(line.trimEnd());
  }
  return kept.join('\n').replace(/^\n+/, '').trimEnd();
}

function commonIndent(lines: readonly string[]): number {
  const indents = lines.filter((line) => line.trim() !== '').map(indentOf);
  return indents.length === 0 ? 0 : indents.reduce((least, each) => Math.min(least, each));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
