import { visible } from '../base/text/hidden.ts';
import { basename, dirname } from 'node:path/posix';
import { fold } from '../base/text/suggest.ts';

export type RecordKind =
  | 'agent'
  | 'workflow'
  | 'task'
  | 'skill'
  | 'tool'
  | 'knowledge'
  | 'template'
  | 'checklist'
  | 'team';

/** What can be started; the other kinds are material that workflows use. */
export const STARTABLE: readonly RecordKind[] = ['agent', 'workflow', 'task', 'tool', 'skill'];

/** One thing BMAD offers, as one origin has it. Records of all origins are kept; resolution picks among them. */
export interface BmadRecord {
  kind: RecordKind;
  /** Whether a manifest lists it or it was found on disk. */
  source: 'manifest' | 'filesystem';
  origin: Origin;
  moduleName: string;
  moduleVersion?: string;
  bmadVersion?: string;
  /** The id, unique in its module: `bmad-agent-architect`. */
  name: string;
  /** What people call it: the persona's name of an agent, the menu name of a workflow. */
  displayName?: string;
  title?: string;
  icon?: string;
  description: string;
  /** Path of the main file from the BMAD root: `bmm/plan/bmad-prd/SKILL.md`. */
  bmadRelativePath: string;
  /** The same from the module's folder: `plan/bmad-prd/SKILL.md`. */
  moduleRelativePath: string;
  absolutePath: string;
  exists: boolean;
  status: 'verified' | 'not-in-manifest' | 'no-file-found';
  /** The reader that understood it. */
  generation: string;
  format: RecordFormat;
  phase?: string;
  /** Other names it can be called by. */
  aliases: readonly string[];
  deprecated?: Deprecation;
  /** What an install's manifests say of it beyond that, or its own file where no manifest does. */
  details?: RecordDetails;
  /** The other files it needs, by path from the BMAD root, where it names them all itself. */
  uses?: readonly string[];
  /** The file it stands for, when it only tells the model to load that one. */
  launches?: string;
  /** The fields from which hidden characters were taken out. */
  disguised?: readonly string[];
  /** SHA-256 of the main file. */
  digest: string;
  /** The same of the file beside it that holds its menu and what of it can be changed. */
  customizable?: string;
  /** What all copies have in common that an installer has made of one file, each for the folder it is in. */
  likeness?: string;
}

/** In the words of BMAD's manifests; what nothing says is left out. */
export interface RecordDetails {
  role?: string;
  identity?: string;
  communicationStyle?: string;
  principles?: string;
  author?: string;
  /** Whether it may be started alone, and not only by another. */
  standalone?: boolean;
}

export interface Deprecation {
  /** The id of what replaced it; nothing when the old one is kept in full. */
  successor?: string;
  /** What the successor is asked to do: `create intent`. */
  intent?: string;
}

/** Something that could not be read as it should be. Problems are data: one bad file never hides the rest. */
export interface Problem {
  file: string;
  line?: number;
  message: string;
  /** Worth knowing, though nothing is broken. */
  mild?: true;
}

/** A problem in one line. Parse errors name their file already. */
export function problemText({ file, line, message }: Problem): string {
  return message.startsWith(file)
    ? message
    : `${visible(file)}${line === undefined ? '' : `:${line}`}: ${message}`;
}

/** The name that is unique across modules: `bmm/bmad-prd`. */
export function qualifiedName(record: Pick<BmadRecord, 'moduleName' | 'name'>): string {
  return `${record.moduleName}/${record.name}`;
}

/** The same with what it is: `agent bmm/bmad-agent-pm`. */
export function recordKey(record: Pick<BmadRecord, 'kind' | 'moduleName' | 'name'>): string {
  return `${record.kind} ${qualifiedName(record)}`;
}

/** Whether it is shown in lists; old names and launchers only answer when called. */
export function isListed(record: Pick<BmadRecord, 'deprecated' | 'launches'>): boolean {
  return record.deprecated === undefined && record.launches === undefined;
}

/** An id without BMAD's prefixes, as people say it: `architect`, `prd`. */
export function shortName(name: string): string {
  return name.replace(/^bmad-(?:agent-)?/, '') || name;
}

interface FormatBehaviour {
  /** The record is its folder: with a SKILL.md, a name of its own, and settings that a project may override. */
  isSkill?: true;
  /** How an agent writes down who it is: in tags, in a block of YAML, or (if nothing is said) under headings. */
  persona?: 'tags' | 'yaml';
  /** An agent that does its work by commands: `*create-story`. */
  takesCommands?: true;
  /** Customization was compiled into the file; what is edited later has no effect before the next install. */
  isCompiled?: true;
  /** Runs by BMAD's workflow engine, and names its instructions and template in keys. */
  needsEngine?: true;
  /** Names other files by the folders of version 4: `{type}/{name}`. */
  pathsByFolder?: true;
  /** The record is this one file, whatever lies beside it. */
  isAlone?: true;
  /** What lies beside the file does not belong to it when it is delivered. */
  isDeliveredAlone?: true;
}

/**
 * What kind of file the main file of a record is, and all that follows from it. Nothing else compares formats, so that a
 * new one is a line here.
 */
const FORMATS = {
  /** A skill folder. */
  skill: { isSkill: true },
  /** An agent compiled to XML in Markdown. */
  'compiled-agent': { persona: 'tags', isCompiled: true },
  'workflow-yaml': { needsEngine: true },
  /** A workflow in Markdown with steps. */
  'workflow-md': {},
  'v4-agent': { persona: 'yaml', takesCommands: true, pathsByFolder: true, isDeliveredAlone: true },
  'v4-workflow': { pathsByFolder: true, isAlone: true, isDeliveredAlone: true },
  /** A workflow of the custom kit: one file among others of its folder. */
  'kit-workflow': { isAlone: true, isDeliveredAlone: true },
  /** A task or tool in XML. */
  xml: { isAlone: true, isDeliveredAlone: true },
  /** Any other document. */
  document: { isAlone: true },
} as const satisfies Record<string, FormatBehaviour>;

export type RecordFormat = keyof typeof FORMATS;

export function behaviourOf({ format }: { format: RecordFormat }): FormatBehaviour {
  return FORMATS[format];
}

/** Whether the folder of a workflow's main file is one of many workflows side by side, and not its own. */
export function sharesItsFolder({ bmadRelativePath }: { bmadRelativePath: string }): boolean {
  return ['workflows', '.'].includes(basename(dirname(bmadRelativePath)));
}

/** Where the instructions of a workflow in YAML may be that names none: beside it, unless it shares its folder. */
export function instructionsBeside(record: { bmadRelativePath: string }): string[] {
  if (sharesItsFolder(record)) return [];
  const folder = dirname(record.bmadRelativePath);
  return ['md', 'xml'].map((suffix) => `${folder}/instructions.${suffix}`);
}

/** In their usual order. */
const ORIGIN_KINDS = ['project', 'cli', 'env', 'user', 'git', 'package'] as const;
export type OriginKind = (typeof ORIGIN_KINDS)[number];

/** Where content comes from, and how it ranks against the other origins: the lower number wins. */
export interface Origin {
  kind: OriginKind;
  displayName: string;
  /** Absolute path of the BMAD root. */
  root: string;
  priority: number;
  bmadVersion?: string;
  /** For content from git: the source without credentials, and the commit that is served. */
  git?: { source: string; commit: string };
  /** For a built-in module: where its makers keep it. */
  repository?: string;
}

/** What people call a kind of origin beside its own word. */
const SPOKEN: Readonly<Record<string, OriginKind>> = {
  path: 'cli',
  'built-in': 'package',
  builtin: 'package',
};

/** Those that are meant by a word: all of this kind, or the one with this name. */
export function originsCalled(word: string, origins: readonly Origin[]): Origin[] {
  const wanted = kindCalled(word);
  return origins.filter(({ kind, displayName }) =>
    wanted === undefined ? fold(displayName) === fold(word) : kind === wanted,
  );
}

export function kindCalled(word: string): OriginKind | undefined {
  const wanted = fold(word);
  return (
    ORIGIN_KINDS.find((kind) => kind === wanted) ??
    (Object.hasOwn(SPOKEN, wanted) ? SPOKEN[wanted] : undefined)
  );
}

/** All words by which one of these can be asked for. */
export function originWords(origins: readonly Origin[]): string[] {
  return [...new Set(origins.flatMap(({ kind, displayName }) => [kind, displayName]))];
}

/** The same, for a message. */
export const originList = (origins: readonly Origin[]): string =>
  originWords(origins)
    .map((word) => JSON.stringify(word))
    .join(', ');
