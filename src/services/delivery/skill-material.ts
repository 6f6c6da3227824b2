import { posix } from 'node:path';
import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { ContextSection, Material } from './activation.ts';
import { standsNote } from './further-files.ts';
import { rulesOf, usualRule, type PathRule } from './named-paths.ts';
import type { ResolvedSkill } from './resolve-skill.ts';
import { RENDERED, skillFolder } from './skill-folder.ts';
import {
  DONE_SCRIPTS,
  isDoneWithout,
  missingScripts,
  scriptSection,
  type MissingScripts,
} from './script-notes.ts';
import { customizationSections, GATHERS, rosterSection } from './skill-context.ts';
import { usedValues, valuesOfAll } from './used-values.ts';

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
    files: [
      ...(forwardedBy === undefined
        ? []
        : [{ uri: contentUri(forwardedBy.record.bmadRelativePath), text: forwardedBy.text }]),
      { uri, text: body },
    ],
    further: furtherFiles(parts),
    problems: [...parts.problems, ...skill.problems],
    ...(skill.halted
      ? {
          halt: 'HALT: this workflow cannot be rendered. Tell the user what is listed under Problems and do not start it.',
        }
      : {}),
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
  return [
    ...forwardedNote(parts),
    resolvedNote(parts, body),
    `Start a skill that it names: ${say({ operation: 'execute', args: { name: '<name>', kind: 'workflow', project }, open: ['message'] })}.`,
    filesNote(parts, say),
    ...rootNotes(parts, rules, say),
    ...(body.includes('bmad-help.csv')
      ? [
          `The catalogue \`_bmad/_config/bmad-help.csv\` is ${contentUri('_config/bmad-help.csv')}.`,
          standsNote(project, say),
        ]
      : []),
    ...(body.includes('--key agents') && isTable(field(central, 'agents'))
      ? [
          `When the agents are needed: ${say({ operation: 'read', args: { target: contentUri('config/current'), kind: 'resource', project } })}.`,
        ]
      : []),
    ...standInNotes(parts, body),
  ];
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

function rootNotes({ project }: SkillParts, rules: readonly PathRule[], say: SayStep): string[] {
  if (rules.length === 0) return [];
  const written = rules.map((rule) => `\`${rule.written}x\``).join(' or ');
  return [
    `Files the text names as ${written}: ${say({ operation: 'read', args: { target: `bmad://${rules[0]?.folder ?? ''}x`, kind: 'resource', project } })}.`,
  ];
}

/** Some texts stop when they find no install; this server is one. */
function standInNotes({ installed }: SkillParts, body: string): string[] {
  if (installed.length > 0 || !/(?:isn't|is not) installed/i.test(body)) return [];
  return [
    'BMAD counts as installed, though there is no `_bmad` folder; overrides may be created in `{project-root}/_bmad/custom/`.',
  ];
}

function forwardedNote({ forwardedBy, record }: SkillParts): string[] {
  if (forwardedBy === undefined) return [];
  const { intent } = forwardedBy.record.deprecated ?? {};
  const asked = intent === undefined ? '' : ` with ${intent}`;
  return [
    `\`${forwardedBy.record.name}\` is deprecated; it forwards to \`${record.name}\`${asked}. Honor its own text, which comes first.`,
  ];
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
