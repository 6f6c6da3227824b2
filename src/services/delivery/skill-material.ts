import { posix } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import { field, isTable, type Table } from '../../base/parse/parse.ts';
import type { SayStep } from '../../base/step.ts';
import { byteLength, fenced } from '../../base/text/text.ts';
import { those } from '../../base/values.ts';
import type { BmadRecord } from '../../model/record.ts';
import {
  type ContextSection,
  DONE_SCRIPTS,
  isDoneWithout,
  type Material,
  missingScripts,
  type MissingScripts,
  scriptSection,
} from './activation.ts';
import { standsNote } from './workflow.ts';
import { type PathRule, rulesOf, usualRule } from './named-paths.ts';
import { RENDERED, type ResolvedSkill, skillFolder, usedValues, valuesOfAll } from './resolve-skill.ts';

/** What every format needs. */
export interface CommonParts {
  record: BmadRecord;
  /** The record's main file, byte for byte. */
  main: string;
  /** The flat configuration of the record's module. */
  values: Table;
  projectRoot: string | undefined;
  /** The project as the caller named it, to be named again in the calls that follow. */
  project: string | undefined;
  today: string;
  /** The files of the folder the main file is in. */
  files: readonly string[];
  /** The texts of those that belong to it: steps and references. */
  beside: readonly string[];
}

interface SkillParts extends CommonParts {
  skill: ResolvedSkill;
  /** The old name that was asked for, when it stands for this record. */
  forwardedBy: { record: BmadRecord; text: string; skill: ResolvedSkill } | undefined;
  central: Table;
  /** BMAD's shared scripts. */
  scripts: readonly string[];
  /** What is in the project's `_bmad`; empty when BMAD is not installed there. */
  installed: readonly string[];
  /** Names of scripts the project has installed itself. */
  installedScripts: readonly string[];
  /** Whether there is such a file in the content. */
  has(path: string): boolean;
}

const UNRENDERED =
  'HALT: this workflow cannot be rendered. Tell the user what is listed under Problems and do not start it.';

/** A skill with its customization resolved and, where it asks for that, rendered. */
export function skillMaterial(parts: SkillParts): Material {
  const { record, skill, forwardedBy } = parts;
  const entry = skill.rendered?.get('workflow.md');
  const body = entry ?? parts.main;
  const uri = contentUri(
    entry === undefined ? record.bmadRelativePath : `${RENDERED}${record.name}/workflow.md`,
  );
  const missing = missingScripts(parts, [body, ...parts.beside]);
  const rules = rootRules(parts, body, missing);
  const isNamed = (setting: string): boolean =>
    [body, ...parts.beside].some((text) => text.includes(setting));
  return {
    notes: (say) => notes(parts, body, rules, say),
    values: skillValues(parts, body),
    // A rendered file has the customization in it already.
    context: (say) => [
      ...scriptSection(missing, say),
      ...(entry === undefined ? customizationSections(skill, isNamed) : []),
      ...forwardedCustomization(parts),
      ...rosterSection(parts.central, body),
    ],
    files: those(
      forwardedBy && { uri: contentUri(forwardedBy.record.bmadRelativePath), text: forwardedBy.text },
      { uri, text: body },
    ),
    further: furtherFiles(parts),
    problems: skill.problems,
    ...(skill.halted ? { halt: UNRENDERED } : {}),
  };
}

function skillValues(parts: SkillParts, body: string): [string, string][] {
  const { record, skill, forwardedBy } = parts;
  const beside = skill.rendered === undefined ? parts.beside : [...skill.rendered.values()];
  const values = valuesOfAll(parts);
  const texts = [body, ...beside, forwardedBy?.text ?? '', JSON.stringify(skill.customization)];
  // The help fills in places from a table, by names that its text does not know.
  const all = body.includes('bmad-help.csv') ? Object.keys(values).map((key) => `{${key}}`) : [];
  return usedValues(
    { ...parts, values },
    [...texts, ...all],
    // Where `{skill-root}` is, the rule for paths says.
    texts.some((text) => text.includes('{skill-name}')) ? [['skill-name', record.name]] : [],
  );
}

function notes(parts: SkillParts, body: string, rules: readonly PathRule[], say: SayStep): string[] {
  const { project, central } = parts;
  return those(
    forwardedNote(parts),
    resolvedNote(parts, body),
    `Start a skill that it names: ${say({ operation: 'execute', args: { name: '<name>', kind: 'workflow', project }, open: ['message'] })}.`,
    filesNote(parts, say),
    rootNote(parts, rules, say),
    body.includes('bmad-help.csv') && [
      `The catalogue \`_bmad/_config/bmad-help.csv\` is ${contentUri('_config/bmad-help.csv')}.`,
      standsNote(project, say),
    ],
    body.includes('--key agents') &&
      isTable(field(central, 'agents')) &&
      `When the agents are needed: ${say({ operation: 'read', args: { target: contentUri('config/current'), kind: 'resource', project } })}.`,
    // Some texts stop when they find no install; this server is one.
    parts.installed.length === 0 &&
      /(?:isn't|is not) installed/i.test(body) &&
      'BMAD counts as installed, though there is no `_bmad` folder; overrides may be created in `{project-root}/_bmad/custom/`.',
  );
}

/** What is done already, in one sentence. */
function resolvedNote({ skill, central }: SkillParts, body: string): string {
  if (skill.rendered !== undefined)
    return 'The configuration and the customization are already in the text and in the bmad:// files that it names, as `render_skill.py` would put them there; steps that load or render them can be skipped.';
  const roster =
    GATHERS.test(body) && isTable(field(central, 'agents')) ? ', and the agents under Roster' : '';
  return `The configuration and the customization are resolved below${roster}; steps that load them can be skipped.`;
}

/** How its files are read; what is on the disk can be read and run there. */
function filesNote({ record, skill, project }: SkillParts, say: SayStep): string {
  const folder = skill.rendered === undefined ? skillFolder(record) : `${RENDERED}${record.name}`;
  const call = say({
    operation: 'read',
    args: { target: `${contentUri(folder)}/x`, kind: 'resource', project },
  });
  return record.origin.kind === 'project' && skill.rendered === undefined
    ? `Its files (\`{skill-root}/x\` or \`x\`) are in ${posix.dirname(record.absolutePath)}; or read them: ${call}.`
    : `Read its files (\`{skill-root}/x\` or \`x\`), and have sub-agents read them: ${call}.`;
}

/** How the text names files of BMAD's own folder, apart from those whose work is done. */
function rootRules({ record, has }: SkillParts, body: string, scripts: MissingScripts): PathRule[] {
  const isDone = (path: string): boolean => {
    const script = path.replace(/^scripts\//, '');
    if (DONE_SCRIPTS.has(script) || isDoneWithout(script, scripts)) return true;
    return /^\w+\/config\.yaml$|^config(?:\.user)?\.toml$|bmad-help\.csv$/.test(path);
  };
  const named = rulesOf(body, record, (path) => !isDone(path) && has(path));
  // Up to 6.3 a skill leads to steps that name files of BMAD's folder, even if it names none itself.
  const isEarly = /^6\.[0-3]\./.test(record.bmadVersion ?? '');
  return named.length === 0 && isEarly ? [usualRule(record, has)] : named;
}

function rootNote({ project }: SkillParts, rules: readonly PathRule[], say: SayStep): string | undefined {
  if (rules.length === 0) return undefined;
  const written = rules.map((rule) => `\`${rule.written}x\``).join(' or ');
  return `Files the text names as ${written}: ${say({ operation: 'read', args: { target: `bmad://${rules[0]?.folder ?? ''}x`, kind: 'resource', project } })}.`;
}

function forwardedNote({ forwardedBy, record }: SkillParts): string | undefined {
  if (forwardedBy === undefined) return undefined;
  const { intent } = forwardedBy.record.deprecated ?? {};
  const asked = intent === undefined ? '' : ` with ${intent}`;
  return `\`${forwardedBy.record.name}\` is deprecated; it forwards to \`${record.name}\`${asked}. Honor its own text, which comes first.`;
}

function forwardedCustomization({ forwardedBy }: SkillParts): ContextSection[] {
  if (forwardedBy === undefined || forwardedBy.skill.overrides.length === 0) return [];
  return customizationSections(forwardedBy.skill, () => true).map((section) => ({
    ...section,
    title: `${section.title} of ${forwardedBy.record.name}`,
  }));
}

function furtherFiles({ record, files, skill }: SkillParts): string[] {
  const folder = `${skillFolder(record)}/`;
  const own = files.filter(
    (path) => path !== record.bmadRelativePath && !/\/(?:customize\.toml|tests\/)/.test(path),
  );
  return own
    .map((path) => path.slice(folder.length))
    .filter((path) => skill.rendered === undefined || path !== 'workflow.md')
    .map((path) =>
      skill.rendered?.has(path) === true
        ? contentUri(`${RENDERED}${record.name}/${path}`)
        : contentUri(folder + path),
    );
}

/** What is longer would push the text itself out of the first answer. */
const LARGE = 3_000;

/** Names of empty settings, in characters: of more it is enough to know which are not empty. */
const LONG_LIST = 100;

/** Whether the texts of a skill name a setting. */
type IsNamed = (setting: string) => boolean;

/** The merged customization: in a line what is empty, then the values. What the project has set itself comes first. */
function customizationSections(skill: ResolvedSkill, isNamed: IsNamed): ContextSection[] {
  const { overrides, problems } = skill;
  if (Object.keys(skill.customization).length === 0) return [];
  const { filled, empty } = parted(skill.customization, isNamed);
  const isOfUser = overrides.some(({ shown, file }) => shown !== `_bmad/${file}`);
  const from =
    overrides.length === 0
      ? problems.length > 0
        ? 'Only the defaults apply; Problems says why.'
        : 'The project overrides nothing.'
      : `${isOfUser ? 'The user overrides' : 'The project overrides'} the defaults in ${overrides.map(({ shown }) => shown).join(' and ')}.`;
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
function rosterSection({ agents }: Table, text: string): ContextSection[] {
  if (!GATHERS.test(text) || !isTable(agents)) return [];
  return [{ title: 'Roster', body: fenced(compactJson({ agents: withoutTeams(agents) }), 'json') }];
}

const GATHERS = /resolve_party\.py|resolve_personas\.py/;

function withoutTeams(roster: Table): Table {
  return Object.fromEntries(
    Object.entries(roster).map(([name, entry]) => {
      if (!isTable(entry)) return [name, entry];
      const { team: _team, module: _module, ...rest } = entry;
      return [name, rest];
    }),
  );
}
