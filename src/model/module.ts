import type { Origin, RecordKind } from './record.ts';

/** The modules of the method itself, in the order in which a plain name means theirs; `bmad-core` is version 4's. */
export const METHOD: readonly string[] = ['bmm', 'bmad-core', 'core'];

/** A BMAD module: a named set of agents and workflows with its own settings and help rows. */
export interface ModuleInfo {
  code: string;
  name: string;
  description: string;
  version?: string;
  origin: Origin;
  /** Whether its install says that it came with the release, and not from somewhere else. */
  ofRelease?: true;
  settings: readonly ModuleSetting[];
  roster: readonly RosterEntry[];
  help: readonly HelpRow[];
}

/** What is said about a module beside it, such as in a marketplace that lists it. */
export type DeclaredModule = Pick<ModuleInfo, 'code'> &
  Partial<Pick<ModuleInfo, 'name' | 'description' | 'version'>>;

/** One configuration value a module asks for, with the value an unattended install would give it. */
export interface ModuleSetting {
  key: string;
  default: string;
  /** How the installer stores the answer: `{project-root}/{value}`. */
  result: string;
  /** Whether a module only proposes it, with placeholders of the installer that are replaced when it is used. */
  proposed?: true;
}

/** An agent as other agents see it: the descriptor used by party mode and help. */
export interface RosterEntry {
  code: string;
  name: string;
  title: string;
  icon: string;
  team: string;
  description: string;
}

/** One line of a module's help catalogue. */
export interface HelpRow {
  /** The module's display name, which is what the catalogue sorts by. */
  module: string;
  skill: string;
  displayName: string;
  menuCode: string;
  description: string;
  action: string;
  args: string;
  phase: string;
  precededBy: string;
  followedBy: string;
  required: boolean;
  outputLocation: string;
  outputs: string;
}

/** A module of BMAD that comes with this package beside the method itself. */
export interface BuiltInModule extends Required<
  Pick<ModuleInfo, 'code' | 'name' | 'description' | 'version'>
> {
  /** Where its makers keep it, for what their package lacks. */
  repository?: string;
  /** How many of each kind lists show. */
  counts: Partial<Record<RecordKind, number>>;
}

/** The columns of a help catalogue, in the order of BMAD's own files, and what they are called here. */
export const HELP_COLUMNS = {
  module: 'module',
  skill: 'skill',
  'display-name': 'displayName',
  'menu-code': 'menuCode',
  description: 'description',
  action: 'action',
  args: 'args',
  phase: 'phase',
  'preceded-by': 'precededBy',
  'followed-by': 'followedBy',
  required: 'required',
  'output-location': 'outputLocation',
  outputs: 'outputs',
} as const satisfies Record<string, keyof HelpRow>;
