import { escapeXml } from '../../base/text/text.ts';
import { field, isTable, type Table, isEmpty } from '../../base/parse/parse.ts';

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

/** An entry that offers several things in one line: `multi` is the line, each trigger one of the things. */
export function isMulti(item: Table): boolean {
  return plain(field(item, 'multi')) !== undefined && Array.isArray(field(item, 'triggers'));
}

/** Such an entry as the compilers from the middle alphas on write it. */
export function multiEntry(item: Table, dialect: MenuDialect): string {
  const handlers = waysOf(item).map(
    (way) => `      <handler ${attributesOf(way, dialect).join(' ')}></handler>\n`,
  );
  return `    <item type="multi">${escapeXml(plain(field(item, 'multi')) ?? '')}\n${handlers.join('')}    </item>\n`;
}

/** The ways to act that it uses, in the order in which a compiler meets them. */
export function multiHandlers(item: Table, { hasWorkflows }: MenuDialect): string[] {
  const types = hasWorkflows ? ['exec', 'action', 'workflow'] : ['exec', 'action'];
  const used = waysOf(item).flatMap((way) =>
    way.flatMap((step) => {
      const route = plain(field(step, 'route')) ?? '';
      const type = plain(field(step, 'type')) ?? '';
      return [
        ...(route === '' ? [] : [isWorkflow(route) && hasWorkflows ? 'workflow' : 'exec']),
        ...(hasWorkflows && (plain(field(step, 'workflow')) ?? '') !== '' ? ['workflow'] : []),
        ...((plain(field(step, 'action')) ?? '') === '' ? [] : ['action']),
        ...(types.includes(type) ? [type] : []),
      ];
    }),
  );
  return ['multi', ...used];
}

/** What each trigger does: a list of tables that together say it. */
function waysOf(item: Table): Table[][] {
  const triggers = field(item, 'triggers');
  return (Array.isArray(triggers) ? triggers : [])
    .filter(isTable)
    .flatMap((group) => Object.keys(group).map((name) => field(group, name)))
    .map((steps) => (Array.isArray(steps) ? steps.filter(isTable) : []));
}

const isWorkflow = (route: string): boolean => /\.ya?ml$/.test(route);

function attributesOf(way: readonly Table[], { hasWorkflows }: MenuDialect): string[] {
  const last = (key: string, isFor: (value: string) => boolean = () => true): string =>
    way.map((step) => plain(field(step, key)) ?? '').findLast((value) => value !== '' && isFor(value)) ?? '';
  const type = last('type');
  const pairs: [string, string][] = [
    ['exec', last('route', (route) => !hasWorkflows || !isWorkflow(route))],
    ['workflow', hasWorkflows ? last('route', isWorkflow) : ''],
    ['action', last('action')],
    ['data', last('data')],
    ['type', type === 'exec' ? '' : type],
  ];
  return [
    `match="${escapeXml(last('input'))}"`,
    ...pairs.filter(([, value]) => value !== '').map(([name, value]) => `${name}="${value}"`),
  ];
}

/**
 * How to follow such an entry. No agent of an install uses it, so none explains it: the words are those of BMAD's compilers.
 * The alphas say "execute", as they do of everything else, and from 6.1 on there are no workflows.
 */
export async function multiHandler({ menu: { hasWorkflows }, handler }: Work): Promise<string> {
  const others = `${await handler('exec')}${await handler('workflow')}`;
  const verb = /EXECUTE the file|Execute workflow\.xml/.test(others) ? 'Execute' : 'Process';
  const lines = [
    'When menu item has: type="multi" with nested handlers',
    '1. Display the multi item text as a single menu option',
    '2. Parse all nested handlers within the multi item',
    '3. For each nested handler:',
    "   - Use the 'match' attribute for fuzzy matching user input (or Exact Match of character code in brackets [])",
    `   - ${verb} based on handler attributes (${hasWorkflows ? 'exec, workflow, action' : 'exec, action'})`,
    "4. When user input matches a handler's 'match' pattern:",
    '   - For exec="path/to/file.md": follow the `handler type="exec"` instructions',
    ...(hasWorkflows
      ? ['   - For workflow="path/to/workflow.yaml": follow the `handler type="workflow"` instructions']
      : []),
    '   - For action="...": Perform the specified action directly',
    '5. Support both exact matches and fuzzy matching based on the match attribute',
    '6. If no handler matches, prompt user to choose from available options',
  ].map((line) => `           ${line}\n`);
  return `        <handler type="multi">\n${lines.join('')}        </handler>`;
}

/** A compiled agent with a customization in it. */
export interface MergedAgent {
  text: string;
  /** What of the customization the text has now: `name`, `persona`, `menu (2 entries)`. */
  merged: string[];
  /** What the installers of this generation leave out, or what has no place in this text. */
  left: string[];
  /** What they leave out although an agent could follow it: the memories and prompts of the early alphas. */
  extra: { title: string; body: string }[];
}

/** One state of the work: the text so far, and what there is to tell of it. */
export interface Work extends MergedAgent {
  custom: Table;
  /** The builder of the first alphas: persona field by field, neither memories nor prompts. */
  isEarly: boolean;
  menu: MenuDialect;
  handler(type: string): Promise<string | undefined>;
}

export function plain(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The entries of a list that say something; what is not a list is left, with a word about it. */
export function listOf(work: Work, key: string): unknown[] {
  const value = field(work.custom, key);
  if (isEmpty(value)) return [];
  if (Array.isArray(value)) return value.filter((item) => !isEmpty(item));
  work.left.push(`${key}, which is not a list`);
  return [];
}
