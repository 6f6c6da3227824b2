import { field, isTable, type Table } from '../../base/parse.ts';
import { contentUri } from '../../base/paths.ts';
import { byteLength, fenced } from '../../base/text.ts';
import { problemText, qualifiedName, type BmadRecord, type Problem } from '../../model/record.ts';
import { RENDERED, skillFolder, type ResolvedSkill } from './resolve-skill.ts';

/** One document that starts an agent or a workflow. */
export interface Activation {
  record: BmadRecord;
  title: string;
  text: string;
  problems: Problem[];
}

export interface ActivationParts {
  record: BmadRecord;
  /** The record's main file, byte for byte. */
  main: string;
  skill: ResolvedSkill;
  /** The old name that was asked for, when it stands for this record. */
  forwardedBy: { record: BmadRecord; text: string; skill: ResolvedSkill } | undefined;
  message: string | undefined;
  central: Table;
  /** The flat configuration of the record's module. */
  values: Table;
  problems: readonly Problem[];
  projectRoot: string | undefined;
  today: string;
  /** The files of the record's folder, and BMAD's shared scripts. */
  files: readonly string[];
  scripts: readonly string[];
  /** Names of scripts the project has installed itself. */
  installedScripts: readonly string[];
}

/**
 * Puts together what the model cannot find out by itself: the message, the values of placeholders, the resolved
 * customization, the file itself, and where the files it mentions can be read. The file is delivered as it is.
 */
export function composeActivation(parts: ActivationParts): Activation {
  const { record, skill } = parts;
  const title =
    [record.displayName ?? record.name, record.icon].filter(Boolean).join(' ') +
    (record.title === undefined ? '' : `, ${record.title}`);
  const entry = skill.rendered?.get('workflow.md');
  const body = entry ?? parts.main;
  const problems = [...parts.problems, ...skill.problems];
  const file =
    entry === undefined
      ? contentUri(record.bmadRelativePath)
      : contentUri(`${RENDERED}${record.name}/workflow.md`);
  const small = (text: string | undefined): boolean =>
    record.kind === 'agent' || byteLength(text ?? '') < LARGE_SECTION;
  const context = [
    // A rendered file has the customization in it already.
    section('Customization', entry === undefined ? customization(skill) : undefined),
    section('Central configuration', centralConfiguration(parts, body)),
  ].filter((text) => text !== undefined);
  const sections = [
    `# ${title} (${record.kind} ${qualifiedName(record)})\n\n${howToUse(parts, body)}`,
    section('Message from the user', parts.message === undefined ? undefined : fenced(parts.message, 'text')),
    section('Forwarded', forwarded(parts)),
    section('Values', values(parts, body)),
    ...context.filter(small),
    section('Problems', problems.map((problem) => `- ${problemText(problem)}`).join('\n')),
    section('Further files', furtherFiles(parts)),
    `## File ${file}\n\n----- BEGIN ${file} -----\n${body}${body.endsWith('\n') ? '' : '\n'}----- END ${file} -----`,
    ...context.filter((text) => !small(text)),
  ];
  return { record, title, text: sections.filter((text) => text !== undefined).join('\n\n'), problems };
}

/** Context larger than this comes after the file, so that the file itself is in the first part of the answer. */
const LARGE_SECTION = 3_000;

function section(title: string, body: string | undefined): string | undefined {
  return body === undefined || body === '' ? undefined : `## ${title}\n\n${body}`;
}

function howToUse(parts: ActivationParts, body: string): string {
  const { record, skill } = parts;
  const folder = skillFolder(record);
  const lead = skill.halted
    ? 'HALT: this workflow cannot be rendered. Tell the user what stands under Problems and do not start it.'
    : record.kind === 'agent'
      ? 'Become this agent now, following the file below, and stay in character until the user dismisses it.'
      : 'Start this workflow now, following the file below.';
  const notes = [
    'The steps that run `resolve_customization.py` or read `config.yaml` are done: use the sections Values and Customization.',
    ...(skill.rendered === undefined
      ? []
      : [
          '`render_skill.py` is done too: the file below is its result. Read the bmad:// files it names with the bmad tool.',
        ]),
    'To invoke a skill the text or menu names: bmad {"operation":"execute","workflow":"<name>","message":"…"}.',
    `Files of this ${record.kind} (\`{skill-root}/x\` or a bare path \`x\`): bmad {"operation":"read","uri":"${contentUri(folder)}/x"}.`,
    ...scriptNotes(parts, body),
  ];
  return `${lead}\n\n${notes.map((note) => `- ${note}`).join('\n')}`;
}

/** Scripts that did their work here already, so the model need not look for them. */
const REPLACED_SCRIPTS = new Set([
  'resolve_customization.py',
  'resolve_config.py',
  'render_skill.py',
  'resolve_party.py',
]);

function scriptNotes({ scripts, installedScripts }: ActivationParts, body: string): string[] {
  const named = new Set([...body.matchAll(/_bmad\/scripts\/([\w-]+\.py)/g)].map((match) => match[1] ?? ''));
  const missing = [...named].filter(
    (script) =>
      !REPLACED_SCRIPTS.has(script) &&
      !installedScripts.includes(script) &&
      scripts.includes(`scripts/${script}`),
  );
  if (missing.length === 0) return [];
  const list = missing.map((script) => contentUri(`scripts/${script}`)).join(', ');
  return [
    `This project has no \`_bmad/scripts\`. Where the text runs one, do by hand what it does, or read it first: ${list}.`,
  ];
}

function forwarded({ forwardedBy, record }: ActivationParts): string | undefined {
  if (forwardedBy === undefined) return undefined;
  const { intent } = forwardedBy.record.deprecated ?? {};
  const asked = intent === undefined ? '' : ` with ${intent}`;
  const own = forwardedBy.skill.overrides.length > 0 ? `\n\n${customization(forwardedBy.skill) ?? ''}` : '';
  return `\`${forwardedBy.record.name}\` is deprecated; it forwards to \`${record.name}\`${asked}. Its own text, to be honored:\n\n${fenced(forwardedBy.text, 'markdown')}${own}`;
}

/** The values of the placeholders that the delivered text really uses. */
function values(parts: ActivationParts, body: string): string {
  const { record, projectRoot, skill } = parts;
  const used = body + (parts.forwardedBy?.text ?? '') + JSON.stringify(skill.customization);
  const root = projectRoot ?? '(unknown: ask the user for the folder, or pass "project" with the call)';
  const lines = [`- \`{project-root}\`: ${root}`];
  const add = (key: string, value: string): void => {
    if (used.includes(`{${key}}`))
      lines.push(
        `- \`{${key}}\`: ${value.replaceAll('{project-root}', () => projectRoot ?? '{project-root}')}`,
      );
  };
  add('skill-root', contentUri(skillFolder(record)));
  add('skill-name', record.name);
  for (const [key, value] of Object.entries(parts.values)) if (typeof value === 'string') add(key, value);
  add('date', parts.today);
  return lines.join('\n');
}

function customization({ customization: merged, overrides }: ResolvedSkill): string | undefined {
  if (Object.keys(merged).length === 0) return undefined;
  const from =
    overrides.length === 0
      ? 'Defaults; this project overrides nothing.'
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
function centralConfiguration({ central }: ActivationParts, body: string): string | undefined {
  if (!/resolve_config\.py|resolve_party\.py/.test(body)) return undefined;
  const { agents, ...settings } = central;
  const roster =
    /roster|agents/i.test(body) && isTable(agents) ? { agents: withoutKeys(agents, ['team', 'module']) } : {};
  return fenced(compactJson({ ...settings, ...roster }), 'json');
}

function withoutKeys(tables: Table, keys: readonly string[]): Table {
  return Object.fromEntries(
    Object.entries(tables).map(([name, entry]) => [
      name,
      isTable(entry)
        ? Object.fromEntries(
            Object.keys(entry)
              .filter((key) => !keys.includes(key))
              .map((key) => [key, field(entry, key)]),
          )
        : entry,
    ]),
  );
}

function furtherFiles({ record, files, skill }: ActivationParts): string {
  const folder = `${skillFolder(record)}/`;
  const own = files.filter(
    (path) => path !== record.bmadRelativePath && !/\/(?:customize\.toml|tests\/)/.test(path),
  );
  const uris = own
    .map((path) => path.slice(folder.length))
    .map((path) =>
      skill.rendered?.has(path) === true
        ? contentUri(`rendered/${record.name}/${path}`)
        : contentUri(folder + path),
    );
  return uris
    .filter((uri) => !uri.endsWith(`rendered/${record.name}/workflow.md`))
    .map((uri) => `- ${uri}`)
    .join('\n');
}
