import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { escapeXml } from '../../base/text/entities.ts';
import type { MenuDialect } from './compiled-menu.ts';
import { plain, type Work } from './compiled-work.ts';

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
