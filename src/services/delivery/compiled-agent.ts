import { plural } from '../../base/text/message.ts';
import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { countAtEnd } from '../../base/text/ends.ts';
import { escapeXml } from '../../base/text/entities.ts';
import { handlersOf, menuLine, ownEntries, withHandler } from './compiled-menu.ts';
import { isMulti, multiEntry, multiHandler, multiHandlers } from './compiled-multi.ts';
import { metadata, persona } from './compiled-persona.ts';
import { isEmpty, listOf, plain, type MergedAgent, type Work } from './compiled-work.ts';

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

async function menu(work: Work): Promise<void> {
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
