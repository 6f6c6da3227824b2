import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { ContextSection, Material } from './activation.ts';
import { ownFilesNote, standsNote } from './further-files.ts';
import { rulesOf, usualRule, type PathRule } from './named-paths.ts';
import type { ResolvedSkill } from './resolve-skill.ts';
import { RENDERED, skillFolder } from './skill-folder.ts';
import {
  DONE_SCRIPTS,
  isDoneWithout,
  namedScripts,
  scriptNotes,
  scriptSection,
  withScriptLines,
  type NamedScripts,
} from './script-notes.ts';
import { customizationSections, rosterSection } from './skill-context.ts';
import { withoutDone } from './done-steps.ts';
import { plainSettings, usedValues, valuesOfAll } from './used-values.ts';

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
  const whole = entry ?? parts.main;
  const body = leanText(parts, whole);
  const uri = contentUri(
    entry === undefined ? record.bmadRelativePath : `${RENDERED}${record.name}/workflow.md`,
  );
  const named = namedScripts(parts, [body, ...parts.beside]);
  const rules = rootRules(parts, body, named);
  const isNamed = (setting: string): boolean =>
    [body, ...parts.beside].some((text) => text.includes(setting));
  return {
    notes: (say) => notes(parts, { whole, body }, { named, rules }, say),
    values: skillValues(parts, { whole, body }),
    // A rendered file has the customization in it already.
    context: (say) => [
      ...(entry === undefined ? customizationSections(skill, { ...parts, isNamed }, say) : []),
      ...forwardedCustomization(parts, say),
      ...scriptSection(named, body, say),
      ...rosterSection(parts.central, body),
    ],
    files: [
      ...(forwardedBy === undefined
        ? []
        : [{ uri: contentUri(forwardedBy.record.bmadRelativePath), text: forwardedBy.text }]),
      { uri, text: body, told: (say) => withScriptLines(body, named, say) },
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

/**
 * What is to be followed, without what is done already. A caller under an old name may have settings of its own, and where
 * settings could not be read nothing is known for certain: both get every word.
 */
function leanText(parts: SkillParts, whole: string): string {
  const { skill, forwardedBy, problems } = parts;
  if (forwardedBy !== undefined || problems.length > 0 || skill.problems.length > 0) return whole;
  const values = new Map(plainSettings(valuesOfAll(parts), parts.projectRoot));
  const hasValue = (name: string): boolean => name === 'date' || values.has(name);
  return withoutDone(whole, { customization: skill.customization, hasValue });
}

/** A text, and what is left of it. */
interface Texts {
  whole: string;
  body: string;
}

function skillValues(parts: SkillParts, { whole, body }: Texts): [string, string][] {
  const { record, skill, forwardedBy } = parts;
  const beside = skill.rendered === undefined ? parts.beside : [...skill.rendered.values()];
  const values = valuesOfAll(parts);
  const further = [...beside, forwardedBy?.text ?? '', JSON.stringify(skill.customization)];
  // Values that a step only loads are to be known too, as languages are.
  const texts = [whole, ...further];
  const isNamed = [body, ...further].some((text) => text.includes('{skill-name}'));
  // The help fills in places from a table, by names that its text does not know.
  const all = whole.includes('bmad-help.csv') ? Object.keys(values).map((key) => `{${key}}`) : [];
  return usedValues(
    { ...parts, values },
    [...texts, ...all],
    // Where `{skill-root}` is, the rule for paths says.
    isNamed ? [['skill-name', record.name]] : [],
  );
}

function notes(
  parts: SkillParts,
  { whole, body }: Texts,
  { named, rules }: { named: NamedScripts; rules: readonly PathRule[] },
  say: SayStep,
): string[] {
  const { record, skill, project, central } = parts;
  const folder = skill.rendered === undefined ? skillFolder(record) : `${RENDERED}${record.name}`;
  return [
    ...forwardedNote(parts),
    doneNote(parts, whole) + leftOutNote(parts, { whole, body }),
    `A skill it names: ${say({ operation: 'execute', args: { name: '<name>', kind: 'workflow', project }, open: ['message'] })}.`,
    `Files (\`{skill-root}/x\` or bare \`x\`): ${say({ operation: 'read', args: { target: `${contentUri(folder)}/x`, kind: 'resource', project } })}.`,
    ...(skill.rendered === undefined ? ownFilesNote(parts, body, furtherFiles(parts), say) : []),
    ...rootNotes(parts, rules, say),
    ...(body.includes('bmad-help.csv')
      ? [
          `The catalogue \`_bmad/_config/bmad-help.csv\` is ${contentUri('_config/bmad-help.csv')}.`,
          standsNote(project, say),
        ]
      : []),
    ...(body.includes('--key agents') && isTable(field(central, 'agents'))
      ? [
          `The agents, when they are wanted: ${say({ operation: 'read', args: { target: contentUri('config/current'), kind: 'resource', project } })}.`,
        ]
      : []),
    ...scriptNotes(named, body),
    ...standInNotes(parts, body),
  ].filter((note) => note !== '');
}

/** What need not be done again, in one line. */
function doneNote({ skill, central }: SkillParts, body: string): string {
  const rendered = skill.rendered !== undefined;
  const customized = !rendered && Object.keys(skill.customization).length > 0;
  const isNamed = (script: string): boolean => body.includes(script);
  const gathered = ['resolve_party.py', 'resolve_personas.py'].filter(isNamed);
  const done = [
    '`config.yaml`',
    isNamed('resolve_config.py') ? '`resolve_config.py`' : '',
    customized ? '`resolve_customization.py`' : '',
    ...(isTable(field(central, 'agents')) ? gathered.map((script) => `\`${script}\` (Roster)`) : []),
    rendered
      ? '`render_skill.py` (the file below is its result, and the bmad:// files it names are rendered too)'
      : '',
  ];
  return `Done already: ${done.filter(Boolean).join(', ')}.`;
}

/** A step that is done and stays in the text, since it also says something else. */
const STILL_THERE = /\bconfig\.yaml\b|\bresolve_customization\.py\b/;

/** That the text has been shortened, and where all of it is. */
function leftOutNote({ skill }: SkillParts, { whole, body }: Texts): string {
  const file = skill.rendered === undefined ? 'SKILL.md' : 'workflow.md';
  if (whole === body) return '';
  return STILL_THERE.test(body)
    ? ` Skip any that remain; \`${file}\` has all.`
    : ` Left out; \`${file}\` has it.`;
}

/** How the text names files of BMAD's own folder, apart from those whose work is done. */
function rootRules({ record, has }: SkillParts, body: string, scripts: NamedScripts): PathRule[] {
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
  if (installed.length > 0 || !/isn't installed|is not installed|_bmad\/custom/i.test(body)) return [];
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

function forwardedCustomization({ forwardedBy, has }: SkillParts, say: SayStep): ContextSection[] {
  if (forwardedBy === undefined || forwardedBy.skill.overrides.length === 0) return [];
  const { record, skill } = forwardedBy;
  return customizationSections(skill, { record, has, isNamed: () => true }, say).map((section) => ({
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
