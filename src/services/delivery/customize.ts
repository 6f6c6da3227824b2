import { attempt, noted } from '../../base/errors.ts';
import { breath } from '../../base/async.ts';
import { countAtEnd, escapeXml } from '../../base/text/text.ts';
import { basename } from 'node:path';
import { field, isTable, parseYaml, type Table, tableOf, isEmpty } from '../../base/parse/parse.ts';
import { plural } from '../../base/text/message.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { behaviourOf, type BmadRecord, type Problem } from '../../model/record.ts';
import { optionalText } from '../../sources/tree.ts';
import { CUSTOMIZATION_FOLDERS, customizationFile, customizingSources } from './agent.ts';
import {
  handlerIn,
  handlersOf,
  isMulti,
  listOf,
  menuLine,
  type MergedAgent,
  multiEntry,
  multiHandler,
  multiHandlers,
  ownEntries,
  plain,
  withHandler,
  type Work,
} from './customized-menu.ts';

/**
 * Puts a `customize.yaml` into an agent that was compiled before, the way the installer would compile both together.
 * What is in the text already is not put there twice. Comparisons with the real installers hold this byte for byte.
 */
export async function mergeCustomization(
  compiled: string,
  custom: Table,
  handler: Work['handler'],
): Promise<MergedAgent> {
  const text = compiled.replaceAll('\r\n', '\n');
  const work: Work = {
    text,
    merged: [],
    left: [],
    extra: [],
    custom,
    isEarly: !/<agent id="[^"\n]*\.agent\.yaml"/.test(text),
    menu: {
      isStarred: /\n {4}<item cmd="\*/.test(text),
      hasWorkflows: !text.includes('exec="skill:bmad-party-mode"'),
    },
    handler,
  };
  metadata(work);
  persona(work);
  criticalActions(work);
  memories(work);
  prompts(work);
  await menu(work);
  const { merged, left, extra } = work;
  return { text: compiled === text ? work.text : work.text.replaceAll('\n', '\r\n'), merged, left, extra };
}

/** Critical actions are steps of the activation, before the greeting; what follows is counted on from there. */
function criticalActions(work: Work): void {
  const actions = listOf(work, 'critical_actions').map((item) => plain(item) ?? JSON.stringify(item));
  if (actions.length === 0) return;
  const { text } = work;
  const third = text.indexOf('</step>', text.indexOf('<step n="3">'));
  const greeting = text.search(/^[ \t]*<step n="\d+">Show greeting/m);
  const handlers = text.indexOf('<menu-handlers>');
  if (third === -1 || greeting < third || handlers < greeting) {
    work.left.push('critical_actions');
    return;
  }
  const start = third + '</step>\n'.length;
  const own = text.slice(start, greeting);
  const known = [...own.matchAll(/<step n="\d+">/g)].length;
  const bodies = actions.map((action) => `${action}</step>`.replaceAll(/\n(?=[^\n])/g, '\n  '));
  const there = own.replaceAll(/<step n="\d+">/g, '<step>');
  const steps = bodies.map((body) => `<step>${body}\n`);
  const missing = bodies.slice(countAtEnd(there.trimStart(), steps, '  '));
  const first = known === 0 ? own.slice(0, -1) || '  ' : '  ';
  const added = missing.map(
    (body, index) => `${index === 0 ? first : '  '}<step n="${4 + known + index}">${body}\n`,
  );
  const rest = text
    .slice(greeting, handlers)
    .replaceAll(/^([ \t]*<step n=")(\d+)(?=">)/gm, (_, before: string, number: string) => {
      return before + String(Number(number) + missing.length);
    });
  if (missing.length > 0)
    work.text =
      text.slice(0, start) + (known === 0 ? '' : own) + added.join('') + rest + text.slice(handlers);
  work.merged.push(`critical actions (${actions.length})`);
}

/** What of a list is not at the end of the text yet: a file that was compiled in may have grown since. */
function notYet(items: readonly string[], text: string): readonly string[] {
  return items.slice(countAtEnd(text, items));
}

function memories(work: Work): void {
  const items = listOf(work, 'memories').map((item) => plain(item) ?? JSON.stringify(item));
  if (items.length === 0) return;
  if (work.isEarly) {
    work.extra.push({ title: 'Memories', body: items.map((item) => `- ${item}`).join('\n') });
    return;
  }
  const lines = items.map((item) => `    <memory>${escapeXml(item)}</memory>\n`);
  insertBlock(work, 'memories', lines, `memories (${items.length})`);
}

/** Prompts replace those of the same id, and are added otherwise. */
function prompts(work: Work): void {
  const items = listOf(work, 'prompts').filter(isTable);
  if (items.length === 0) return;
  const contentOf = (item: Table): string => plain(field(item, 'content')) ?? '';
  const idOf = (item: Table): string => plain(field(item, 'id')) ?? '';
  if (work.isEarly) {
    const body = items.map((item) => `### ${idOf(item)}\n\n${contentOf(item)}`).join('\n\n');
    work.extra.push({ title: 'Prompts', body });
    return;
  }
  const lines: string[] = [];
  const blocks = promptsIn(work.text);
  for (const item of items) {
    const id = idOf(item);
    const block = `    <prompt id="${id}">\n      <content>\n${contentOf(item)}\n      </content>\n${PROMPT_END}`;
    const known = blocks.get(id);
    if (known === undefined) lines.push(block);
    else known.text = block;
  }
  let [text, from] = ['', 0];
  for (const { start, end, text: block } of blocks.values())
    if (block !== undefined && start >= from) {
      text += work.text.slice(from, start) + block;
      from = end;
    }
  work.text = text + work.text.slice(from);
  insertBlock(work, 'prompts', lines, `prompts (${items.length})`);
}

const PROMPT_END = '    </prompt>\n';

/** Where the first prompt of each id is, in order. */
function promptsIn(text: string): Map<string, { start: number; end: number; text?: string }> {
  const found = new Map<string, { start: number; end: number; text?: string }>();
  let to = -1;
  for (const { 0: open, 1: id = '', index: start } of text.matchAll(/ {4}<prompt id="([^"\n]*)">\n/g)) {
    if (to < start) to = text.indexOf(PROMPT_END, start + open.length);
    if (to === -1) break;
    if (!found.has(id)) found.set(id, { start, end: to + PROMPT_END.length });
  }
  return found;
}

/** Blocks come in a fixed order: persona, prompts, memories, menu. */
function insertBlock(work: Work, name: 'memories' | 'prompts', lines: readonly string[], told: string): void {
  const { text } = work;
  const [open, close] = [`  <${name}>\n`, `  </${name}>\n`];
  const from = text.indexOf(open, text.indexOf('</activation>'));
  const to = from === -1 ? -1 : text.indexOf(close, from);
  const menuAt = text.lastIndexOf('  <menu>\n');
  const memoriesAt = name === 'prompts' ? text.indexOf('  <memories>\n') : -1;
  const place = memoriesAt === -1 ? menuAt : memoriesAt;
  if (to !== -1) {
    work.text = text.slice(0, to) + notYet(lines, text.slice(0, to)).join('') + text.slice(to);
  } else if (place === -1) {
    work.left.push(name);
    return;
  } else if (lines.length > 0) {
    work.text = text.slice(0, place) + open + lines.join('') + close + text.slice(place);
  }
  work.merged.push(told);
}

export async function menu(work: Work): Promise<void> {
  const key = isEmpty(field(work.custom, 'menu')) && work.isEarly ? 'commands' : 'menu';
  const items = listOf(work, key).filter(isTable);
  const isSeveral = (item: Table): boolean => !work.isEarly && isMulti(item);
  const lines = items.flatMap((item) =>
    isSeveral(item) ? multiEntry(item, work.menu) : (menuLine(item, work.menu) ?? []),
  );
  if (lines.length < listOf(work, key).length) work.left.push('menu entries without a trigger');
  if (lines.length === 0) return;
  const from = work.text.lastIndexOf('  <menu>\n');
  if (from === -1 || !work.text.includes('  </menu>\n', from)) {
    work.left.push('menu');
    return;
  }
  const { end, entries } = ownEntries(work.text.slice(from));
  work.text = work.text.slice(0, from + end) + notYet(lines, entries).join('') + work.text.slice(from + end);
  const ways = (item: Table): string[] =>
    isSeveral(item) ? multiHandlers(item, work.menu) : handlersOf(item, work.menu);
  for (const type of new Set(items.flatMap(ways))) {
    if (work.text.includes(`<handler type="${type}">`)) continue;
    const handler = type === 'multi' ? await multiHandler(work) : await work.handler(type);
    if (handler === undefined) work.left.push(`how to follow "${type}", which no agent of this install says`);
    else work.text = withHandler(work.text, handler);
  }
  if (!work.menu.hasWorkflows && items.some((item) => !isEmpty(field(item, 'workflow'))))
    work.left.push('the workflow of menu entries, which this version takes from "exec" alone');
  work.merged.push(`menu (${plural(lines.length, 'entry', 'entries')})`);
}

/** Name, title and icon are attributes of the agent; its title is what it is described by too. */
export function metadata(work: Work): void {
  const own = tableOf(field(tableOf(field(work.custom, 'agent')), 'metadata'));
  for (const [key, value] of Object.entries(own)) {
    const shown = plain(value);
    if (shown === undefined || shown === '') continue;
    const isKnown = ['name', 'title', 'icon', 'capabilities'].includes(key) || (key === 'id' && work.isEarly);
    const changed = isKnown ? withAttribute(work.text, key, shown) : undefined;
    if (changed === undefined) {
      work.left.push(`agent.metadata.${key}`);
      continue;
    }
    work.text = key === 'title' ? withDescription(changed, shown) : changed;
    work.merged.push(key);
  }
}

/** Replaces an attribute of the agent; values are not escaped, so the next attribute tells where one ends. */
function withAttribute(text: string, name: string, value: string): string | undefined {
  const start = text.search(/^<agent id="/m);
  const end = start === -1 ? -1 : text.indexOf('\n', start);
  if (end === -1) return undefined;
  const tag = text.slice(start, end);
  const from = tag.indexOf(` ${name}="`);
  if (from === -1) return undefined;
  const begin = from + name.length + 3;
  const stop = tag.slice(begin).search(/"(?: (?:name|title|icon|capabilities|localskip)="|>$)/);
  if (stop === -1) return undefined;
  const shown = name === 'capabilities' ? escapeXml(value) : value;
  return text.slice(0, start + begin) + shown + text.slice(start + begin + stop);
}

function withDescription(text: string, title: string): string {
  return text.replace(/^(---\n(?:.*\n)?description: ").*(")$/m, (_, before: string, after: string) => {
    return before + title + after;
  });
}

const FIELDS = ['role', 'identity', 'communication_style', 'principles'];

/** Later compilers replace the whole persona, as the file says; the first builder replaced what was filled in. */
export function persona(work: Work): void {
  const own = Object.entries(tableOf(field(work.custom, 'persona'))).filter(([, value]) => !isEmpty(value));
  const lines = new Map<string, string>();
  for (const [key, value] of own) {
    const shown = FIELDS.includes(key) ? personaText(key, value, work.isEarly) : undefined;
    if (shown === undefined) work.left.push(`persona.${key}`);
    else lines.set(key, `    <${key}>${escapeXml(shown)}</${key}>\n`);
  }
  if (lines.size === 0) return;
  const opening = '  <persona>\n';
  const closing = '  </persona>\n';
  const from = work.text.indexOf(opening, work.text.indexOf('</activation>'));
  const to = work.text.indexOf(closing, from);
  if (from === -1 || to === -1) {
    work.left.push('persona');
    return;
  }
  const before = work.text.slice(from + opening.length, to);
  const inside = FIELDS.map((key) => lines.get(key) ?? (work.isEarly ? elementOf(before, key) : '')).join('');
  work.text = work.text.slice(0, from + opening.length) + inside + work.text.slice(to);
  work.merged.push('persona');
}

function personaText(key: string, value: unknown, isEarly: boolean): string | undefined {
  if (Array.isArray(value))
    return key === 'principles' ? value.map((item) => plain(item) ?? '').join(' ') : undefined;
  const text = plain(value);
  if (text === undefined || isEarly) return text;
  const oneLine = text.trim().replaceAll(/\n+/g, ' ');
  return key === 'principles' ? oneLine : oneLine.replaceAll(/\s+/g, ' ');
}

function elementOf(text: string, name: string): string {
  const start = text.indexOf(`    <${name}>`);
  const end = text.indexOf(`</${name}>\n`, start);
  return start === -1 || end === -1 ? '' : text.slice(start, end + name.length + 4);
}

/** A file that says something of an agent. */
export interface CustomizationLayer {
  file: string;
  table: Table;
  /** In the home folder, where the project has its own. */
  isLost?: boolean;
}

/** A compiled agent as it is in force, and what there is to say of its customization. */
export interface CustomizedAgent {
  text: string;
  notes: string[];
  /** What its version leaves out of the agent, to be followed all the same. */
  extra: { title: string; body: string }[];
  problems: Problem[];
}

/**
 * Customization of agents that installers compiled, from alpha.1 to 6.2.0. The file of the agent's own root counts, and
 * over it that of the project; both may have been edited since anything was compiled. Where neither says anything, the
 * user's in the home folder does.
 */
export function createCustomizations(catalogue: Catalogue) {
  // An installer leaves the same template for each agent.
  const parsed = new Map<string, unknown>();
  const tableIn = (file: string, text: string): unknown => {
    if (!parsed.has(text)) parsed.set(text, parseYaml(file, text));
    return parsed.get(text);
  };

  /** The files that say something, the weakest first. One that cannot be used is a problem and says nothing. */
  async function layersOf(record: BmadRecord, problems: Problem[]): Promise<CustomizationLayer[]> {
    const { first, otherwise } = customizingSources(record, catalogue);
    const own = await layersIn(first, record, problems);
    return own.length > 0 ? own : layersIn(otherwise, record, problems);
  }

  /** The same, after those of the user that do not count because there are others. */
  async function allLayersOf(record: BmadRecord): Promise<CustomizationLayer[]> {
    const counting = await layersOf(record, []);
    const ofUser = await layersIn(customizingSources(record, catalogue).otherwise, record, []);
    const lost = ofUser.filter(({ file }) => counting.every((layer) => layer.file !== file));
    return [...lost.map((layer) => ({ ...layer, isLost: true })), ...counting];
  }

  async function layersIn(
    sources: Catalogue['sources'],
    record: BmadRecord,
    problems: Problem[],
  ): Promise<CustomizationLayer[]> {
    const found: CustomizationLayer[] = [];
    for (const { tree, origin } of sources) {
      for (const folder of CUSTOMIZATION_FOLDERS) {
        const path = `${folder}/${customizationFile(record)}`;
        const file = origin.kind === 'project' ? `${basename(tree.root)}/${path}` : tree.place(path);
        const text = await optionalText(tree, path).catch(noted(problems, file, undefined));
        if (text === undefined) continue;
        const table = attempt(() => tableIn(file, text), noted(problems, file, undefined));
        if (isTable(table) && !isEmpty(table)) found.push({ file, table });
        else if (!isTable(table) && !isEmpty(table))
          problems.push({ file, message: 'it is not a table of values, so it has no effect' });
        break;
      }
    }
    return found;
  }

  /** The explanation of a way to act, as another agent of the same root has it. */
  async function handlerOf(record: BmadRecord, type: string): Promise<string | undefined> {
    const source = catalogue.sources.find(({ origin }) => origin === record.origin);
    const others = catalogue.records.filter(
      (other) => other.origin === record.origin && other.exists && behaviourOf(other).isCompiled,
    );
    if (source === undefined) return undefined;
    for (const { bmadRelativePath } of others) {
      const text = await optionalText(source.tree, bmadRelativePath).catch(noted([], '', undefined));
      const handler = handlerIn((text ?? '').replaceAll('\r\n', '\n'), type);
      if (handler !== undefined) return handler;
    }
    return undefined;
  }

  return {
    allLayersOf,
    /** The agent with everything that its customization says. */
    async apply(record: BmadRecord, compiled: string): Promise<CustomizedAgent> {
      const agent: CustomizedAgent = { text: compiled, notes: [], extra: [], problems: [] };
      for (const { file, table } of await layersOf(record, agent.problems)) {
        const before = agent.text;
        const { text, merged, left, extra } = await mergeCustomization(before, table, (type) =>
          handlerOf(record, type),
        );
        agent.text = text;
        agent.extra.push(...extra);
        const how = text === before ? 'was compiled into this file already' : 'is merged into this file';
        if (merged.length > 0)
          agent.notes.push(`\`${file}\` ${how} (${merged.join(', ')}): do not merge it again.`);
        for (const what of left) agent.problems.push({ file, message: `not used: ${what}` });
      }
      return agent;
    },
    /** What is wrong with the customizations, whether or not somebody starts the agents. */
    async check(): Promise<Problem[]> {
      const problems: Problem[] = [];
      const compiled = catalogue.winners.filter((record) => behaviourOf(record).isCompiled);
      for (const record of compiled) {
        await breath();
        await layersOf(record, problems);
      }
      return problems;
    },
  };
}
