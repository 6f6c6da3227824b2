import { isTable, type Table } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import { fenced } from '../../base/text/text.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Material } from './activation.ts';
import { rulesOf, usualRule } from './named-paths.ts';
import { RENDERED, skillFolder, type ResolvedSkill } from './resolve-skill.ts';

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
}

interface SkillParts extends CommonParts {
  skill: ResolvedSkill;
  /** The old name that was asked for, when it stands for this record. */
  forwardedBy: { record: BmadRecord; text: string; skill: ResolvedSkill } | undefined;
  central: Table;
  problems: readonly Problem[];
  /** BMAD's shared scripts. */
  scripts: readonly string[];
  /** What is in the project's `_bmad`; empty when BMAD is not installed there. */
  installed: readonly string[];
  /** Names of scripts the project has installed itself. */
  installedScripts: readonly string[];
  /** Whether there is such a file in the content. */
  has(path: string): boolean;
}

/** A skill with its customization resolved and, where it asks for that, rendered. */
export function skillMaterial(parts: SkillParts): Material {
  const { record, skill } = parts;
  const entry = skill.rendered?.get('workflow.md');
  const body = entry ?? parts.main;
  const used = body + (parts.forwardedBy?.text ?? '') + JSON.stringify(skill.customization);
  const uri = contentUri(
    entry === undefined ? record.bmadRelativePath : `${RENDERED}${record.name}/workflow.md`,
  );
  return {
    notes: (say) => notes(parts, body, say),
    values: usedValues(parts, (key) => used.includes(`{${key}}`), [
      ['skill-root', contentUri(skillFolder(record))],
      ['skill-name', record.name],
    ]),
    context: [
      { title: 'Forwarded', body: forwarded(parts) ?? '' },
      // A rendered file has the customization in it already.
      { title: 'Customization', body: entry === undefined ? (customization(skill) ?? '') : '' },
      { title: 'Central configuration', body: centralConfiguration(parts, body) ?? '' },
    ],
    files: [{ uri, text: body }],
    further: furtherFiles(parts),
    problems: [...parts.problems, ...skill.problems],
    ...(skill.halted
      ? {
          halt: 'HALT: this workflow cannot be rendered. Tell the user what is listed under Problems and do not start it.',
        }
      : {}),
  };
}

function notes(parts: SkillParts, body: string, say: SayStep): string[] {
  const { record, skill, project } = parts;
  const rendered = skill.rendered !== undefined;
  const customized = !rendered && Object.keys(skill.customization).length > 0;
  const folder = rendered ? `${RENDERED}${record.name}` : skillFolder(record);
  const done = [
    'Steps that read `config.yaml` are done: see Values.',
    customized ? '`resolve_customization.py` is done: see Customization.' : '',
    rendered
      ? '`render_skill.py` is done: the file below is its result, and the bmad:// files it names are rendered too.'
      : '',
    /resolve_config\.py|resolve_party\.py/.test(body)
      ? '`resolve_config.py` and `resolve_party.py` are done: see Central configuration.'
      : '',
  ];
  return [
    done.filter(Boolean).join(' '),
    `To invoke a skill the text or menu names: ${say({ operation: 'execute', args: { name: '<name>', kind: 'workflow', project }, open: ['message'] })}.`,
    `Files (\`{skill-root}/x\` or a bare path \`x\`): ${say({ operation: 'read', args: { target: `${contentUri(folder)}/x`, kind: 'resource', project } })}.`,
    ...rootNotes(parts, body, say),
    ...(body.includes('bmad-help.csv')
      ? [`The catalogue \`_bmad/_config/bmad-help.csv\` is ${contentUri('_config/bmad-help.csv')}.`]
      : []),
    ...scriptNotes(parts, body),
    ...standInNotes(parts, body),
  ];
}

/** Scripts that did their work here already, so the model need not look for them. */
const REPLACED_SCRIPTS = new Set([
  'resolve_customization.py',
  'resolve_config.py',
  'render_skill.py',
  'resolve_party.py',
]);

/** Where the files of BMAD's own folder are that the text names, apart from those whose work is done. */
function rootNotes({ record, project, has }: SkillParts, body: string, say: SayStep): string[] {
  const isDone = (path: string): boolean =>
    /^\w+\/config\.yaml$|bmad-help\.csv$/.test(path) || REPLACED_SCRIPTS.has(path.replace(/^scripts\//, ''));
  const named = rulesOf(body, record, (path) => !isDone(path) && has(path));
  // Up to 6.3 a skill leads to steps that name files of BMAD's folder, even if it names none itself.
  const isEarly = /^6\.[0-3]\./.test(record.bmadVersion ?? '');
  const rules = named.length === 0 && isEarly ? [usualRule(record, has)] : named;
  if (rules.length === 0) return [];
  const written = rules.map((rule) => `\`${rule.written}x\``).join(' or ');
  return [
    `Files the text names as ${written}: ${say({ operation: 'read', args: { target: `bmad://${rules[0]?.folder ?? ''}x`, kind: 'resource', project } })}.`,
  ];
}

/** Scripts are in the content, not on the model's disk: it has to do their work by hand. */
function scriptNotes({ record, files, scripts, installedScripts }: SkillParts, body: string): string[] {
  const named = [
    ...new Set(
      [...body.matchAll(/[\w-]+(\.py\b)?/g)].flatMap(([name, ending]) =>
        ending === undefined ? [] : [name],
      ),
    ),
  ].filter((script) => !REPLACED_SCRIPTS.has(script));
  const shared = named
    .filter((script) => scripts.includes(`scripts/${script}`) && !installedScripts.includes(script))
    .map((script) => `scripts/${script}`);
  const own = files.filter((path) =>
    named.some((script) => path === `${skillFolder(record)}/scripts/${script}`),
  );
  const missing = [...shared, ...own];
  if (missing.length === 0) return [];
  return [
    `These scripts are not on disk here, so they cannot be run. Do what they do by hand; read them for details: ${missing.map(contentUri).join(', ')}.`,
  ];
}

/** Some texts stop when they find no install; this server is one. */
function standInNotes({ installed }: SkillParts, body: string): string[] {
  if (installed.length > 0 || !/isn't installed|is not installed|_bmad\/custom/i.test(body)) return [];
  return [
    'BMAD counts as installed although this project has no `_bmad` folder: this server stands in for it. Overrides may be created as `{project-root}/_bmad/custom/<skill>.toml`.',
  ];
}

function forwarded({ forwardedBy, record }: SkillParts): string | undefined {
  if (forwardedBy === undefined) return undefined;
  const { intent } = forwardedBy.record.deprecated ?? {};
  const asked = intent === undefined ? '' : ` with ${intent}`;
  const own = forwardedBy.skill.overrides.length > 0 ? `\n\n${customization(forwardedBy.skill) ?? ''}` : '';
  return `\`${forwardedBy.record.name}\` is deprecated; it forwards to \`${record.name}\`${asked}. Its own text, to be honored:\n\n${fenced(forwardedBy.text, 'markdown')}${own}`;
}

/** The values of the placeholders that the delivered text really uses. */
export function usedValues(
  { values, projectRoot, today }: CommonParts,
  isUsed: (key: string) => boolean,
  own: readonly [string, string][] = [],
): [string, string][] {
  const known = [...own, ...plainSettings(values, projectRoot), ['date', today] as [string, string]];
  return [['project-root', projectRoot ?? UNKNOWN_PROJECT], ...known.filter(([key]) => isUsed(key))];
}

/** The settings that are texts or can be written as one. */
export function plainSettings(table: Table, projectRoot: string | undefined): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[key, String(value).replaceAll('{project-root}', () => projectRoot ?? '{project-root}')]]
      : [],
  );
}

const UNKNOWN_PROJECT = '(unknown: ask the user for the folder, or pass "project" with the call)';

function customization({ customization: merged, overrides, problems }: ResolvedSkill): string | undefined {
  if (Object.keys(merged).length === 0) return undefined;
  const from =
    overrides.length === 0
      ? problems.length > 0
        ? 'Defaults only; see Problems.'
        : 'Defaults; this project overrides nothing.'
      : `Defaults, overridden by _bmad/${overrides.join(' and _bmad/')}.`;
  return `${from}\n\n${fenced(compactJson(merged), 'json')}`;
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

/** Skills that ask for the merged central configuration get it, with the roster of agents in it. */
function centralConfiguration({ central }: SkillParts, body: string): string | undefined {
  if (!/resolve_config\.py|resolve_party\.py/.test(body)) return undefined;
  const { agents, ...settings } = central;
  const roster = /roster|agents/i.test(body) && isTable(agents) ? { agents: withoutTeams(agents) } : {};
  return fenced(compactJson({ ...settings, ...roster }), 'json');
}

function withoutTeams(roster: Table): Table {
  return Object.fromEntries(
    Object.entries(roster).map(([name, entry]) => {
      if (!isTable(entry)) return [name, entry];
      const { team: _team, module: _module, ...rest } = entry;
      return [name, rest];
    }),
  );
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
