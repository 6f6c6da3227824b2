import { isTable, type Table } from '../../base/parse/parse.ts';
import { byteLength, fenced } from '../../base/text/text.ts';
import type { ContextSection } from './activation.ts';
import type { ResolvedSkill } from './resolve-skill.ts';

/** What is longer would push the text itself out of the first answer. */
const LARGE = 3_000;

/** Names of empty settings, in characters: of more it is enough to know which are not empty. */
const LONG_LIST = 100;

/** Whether the texts of a skill name a setting. */
type IsNamed = (setting: string) => boolean;

/** The merged customization: in a line what is empty, then the values. What the project has set itself comes first. */
export function customizationSections(skill: ResolvedSkill, isNamed: IsNamed): ContextSection[] {
  const { overrides, problems } = skill;
  if (Object.keys(skill.customization).length === 0) return [];
  const { filled, empty } = parted(skill.customization, isNamed);
  const from =
    overrides.length === 0
      ? problems.length > 0
        ? 'Only the defaults apply; Problems says why.'
        : 'The project overrides nothing.'
      : `The project overrides the defaults in _bmad/${overrides.join(' and _bmad/')}.`;
  const none = empty.length === 0 ? '' : ` Empty: ${empty.join(', ')}.`;
  const most = ' Customized values lists all that is set; the rest is empty.';
  const values = fenced(compactJson(filled), 'json');
  const isOwn = overrides.length > 0 && byteLength(values) < LARGE;
  const others = Object.keys(filled).length === 0 ? '' : ' The rest is under Customized values.';
  const told = others !== '' && none.length > LONG_LIST ? most : none + others;
  return [
    { title: 'Customization', body: from + told, first: true },
    ...(Object.keys(filled).length === 0 ? [] : [{ title: 'Customized values', body: values, first: isOwn }]),
  ];
}

/** The values that say something, and the names of those that do not, as far as a text needs to know. */
function parted(table: Table, isNamed: IsNamed): { filled: Table; empty: string[] } {
  const empty: string[] = [];
  const isEmpty = (value: unknown): boolean =>
    value === '' ||
    (Array.isArray(value) && value.length === 0) ||
    (isTable(value) && Object.keys(value).length === 0);
  const entries = Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    if (!isTable(value) || isEmpty(value)) {
      if (!isEmpty(value)) return [[name, value]];
      empty.push(name);
      return [];
    }
    const kept = Object.entries(value).filter(([, item]) => !isEmpty(item));
    const names = Object.keys(value).filter((key) => isEmpty(value[key]) && isNamed(key));
    // One prefix for all of a table: `{workflow.on_complete}` is what texts call it.
    if (names.length > 0) empty.push(`\`${name}.\` ${names.join(', ')}`);
    return kept.length === 0 ? [] : [[name, Object.fromEntries(kept)]];
  });
  return { filled: Object.fromEntries(entries), empty };
}

/** JSON with one line for each key of a table, and one for each item of a list of tables. */
function compactJson(table: Table): string {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(table)) {
    if (!isTable(value)) {
      lines.push(`${JSON.stringify(name)}: ${JSON.stringify(value)}`);
      continue;
    }
    const inner = Object.entries(value).map(
      ([key, item]) => `  ${JSON.stringify(key)}: ${compactValue(item)}`,
    );
    lines.push(`${JSON.stringify(name)}: {\n${inner.join(',\n')}\n}`);
  }
  return `{${lines.join(',\n')}}`;
}

function compactValue(value: unknown): string {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isTable)) return JSON.stringify(value);
  return `[\n    ${value.map((item) => JSON.stringify(item)).join(',\n    ')}\n  ]`;
}

/** Who the agents are, for texts that gather them before anything else; others ask for them when they need them. */
export function rosterSection({ agents }: Table, text: string): ContextSection[] {
  if (!GATHERS.test(text) || !isTable(agents)) return [];
  return [{ title: 'Roster', body: fenced(compactJson({ agents: withoutTeams(agents) }), 'json') }];
}

export const GATHERS = /resolve_party\.py|resolve_personas\.py/;

function withoutTeams(roster: Table): Table {
  return Object.fromEntries(
    Object.entries(roster).map(([name, entry]) => {
      if (!isTable(entry)) return [name, entry];
      const { team: _team, module: _module, ...rest } = entry;
      return [name, rest];
    }),
  );
}
