import { field, type Table } from '../../base/parse/parse.ts';
import { escapeXml } from '../../base/text/entities.ts';

/** How the installer that compiled an agent writes the entries of its menu. */
export interface MenuDialect {
  /** Triggers begin with a star: up to the middle alphas. */
  isStarred: boolean;
  /** Entries name workflows: up to 6.0. */
  hasWorkflows: boolean;
}

/** The keys of an entry that become attributes, in the order of the compilers. */
const ATTRIBUTES = ['workflow', 'validate-workflow', 'exec', 'tmpl', 'data', 'action'];

const text = (item: Table, key: string): string => {
  const value = field(item, key);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
};

/** Which of the ways to act an entry uses; each is explained to the agent by a handler. */
export function handlersOf(item: Table, { hasWorkflows }: MenuDialect): string[] {
  return ATTRIBUTES.filter((key) => text(item, key) !== '' && (hasWorkflows || !key.endsWith('workflow')));
}

/** An entry as the compiler writes it; nothing for one without a trigger, which it leaves out. */
export function menuLine(item: Table, dialect: MenuDialect): string | undefined {
  const { isStarred, hasWorkflows } = dialect;
  const trigger = text(item, 'trigger');
  if (trigger === '') return undefined;
  const shown = isStarred && !trigger.startsWith('*') ? `*${trigger}` : trigger;
  const attributes = ATTRIBUTES.flatMap((key) => {
    if (key === 'validate-workflow' && !isStarred) return [];
    if (key === 'workflow' && !hasWorkflows) return [];
    // Where a workflow is copied to comes before where it was copied from.
    const value = (key === 'workflow' && isStarred && text(item, 'workflow-install')) || text(item, key);
    return value === '' ? [] : [` ${key}="${value}"`];
  });
  return `    <item cmd="${shown}"${attributes.join('')}>${escapeXml(text(item, 'description'))}</item>\n`;
}

/** What closes every menu and is no part of the agent. */
const CLOSING = /^ {4}<item cmd="(?:\*exit|\*dismiss|DA or fuzzy match|PM or fuzzy match on party-mode)/;

/** The place behind an agent's own entries, and those entries as lines. */
export function ownEntries(menu: string): { end: number; entries: string } {
  const lines = menu.slice(0, Math.max(0, menu.indexOf('  </menu>\n'))).split('\n');
  let last = lines.length - 1;
  while (last > 1 && CLOSING.test(lines[last - 1] ?? '')) last -= 1;
  const entries = lines
    .slice(0, last)
    .map((line) => `${line}\n`)
    .join('');
  return { end: entries.length, entries };
}

/** The block that explains one way to act to an agent, as it stands behind other blocks. */
export function handlerIn(compiled: string, type: string): string | undefined {
  const start = compiled.indexOf(`<handler type="${type}">`);
  const end = start === -1 ? -1 : compiled.indexOf('</handler>', start);
  if (end === -1) return undefined;
  const block = compiled.slice(start, end + '</handler>'.length);
  // The first block of an agent is set further in; the line that closes it is not.
  const indent = /\n([ \t]*)<\/handler>$/.exec(block)?.[1] ?? '';
  const isFollowedByBlank = compiled.startsWith('\n\n', end + '</handler>'.length);
  return indent + block + (isFollowedByBlank ? '\n' : '');
}

/** A compiled agent with one more handler; unchanged if it has no place for handlers. */
export function withHandler(compiled: string, handler: string): string {
  const opening = '<handlers>\n';
  const start = compiled.indexOf(opening) + opening.length;
  const closing = compiled.indexOf('</handlers>', start);
  const end = compiled.lastIndexOf('\n', closing);
  if (start < opening.length || closing === -1 || end < start - 1) return compiled;
  const inner = compiled.slice(start, end);
  const added = inner.trim() === '' ? `${inner.slice(2)}${handler}` : `${inner}\n${handler}`;
  return compiled.slice(0, start) + added + compiled.slice(end);
}
