/**
 * The library of the BMAD MCP Server: everything the server serves, for programs. This file has all its types and names;
 * it holds no code and becomes the declaration files of the package as it is.
 */

/** Where content comes from: the project, a folder in `paths`, `BMAD_ROOT`, the user, git, or what is built in. */
export type ContentSource = 'project' | 'cli' | 'env' | 'user' | 'git' | 'package';

/** An agent or a workflow as it lies on disk. */
export interface Resource {
  /** The shortest name that leads to it, as the lists have it. */
  name: string;
  /** Absolute path of its main file. */
  path: string;
  /** The main file, byte for byte. */
  content: string;
  source: ContentSource;
  /** `agent`, `workflow`, or what else can be started like a workflow: `task`, `tool`, `skill`. */
  kind: string;
  module: string;
  /** `bmad://` address of the main file. */
  uri: string;
  /** The origin in words, such as `BMAD 6.12.0 (built in)`. */
  origin: string;
  /** For content from git: the commit that is served. */
  commit?: string;
}

/** Who an agent is and what it offers. What its file does not say is left out. */
export interface AgentMetadata {
  name: string;
  /** Its role, such as `System Architect`. */
  title: string;
  /** What it is called, such as `Winston`. */
  displayName: string;
  description?: string;
  /** Role and identity, a line each. */
  persona?: string;
  /** What its menu offers, in words. */
  capabilities?: string[];
  /** The menu as a user would ask for it: `CA: Produce the architecture`. */
  menuItems?: string[];
  module?: string;
  /** Names of the workflows that its menu starts; `loadWorkflow` takes them. */
  workflows?: string[];
  /** The entries of the menu that start these workflows. */
  workflowMenuItems?: string[];
}

/** One file that `loadFile` can read. */
export interface FileInfo {
  /** Path from the BMAD root, with forward slashes: `bmm/config.yaml`. */
  relativePath: string;
  /** Absolute path on disk; nothing for a file that is made when it is asked for. */
  fullPath?: string;
  source: ContentSource | 'generated';
  mimeType: string;
}

/** One hit of a search, the best first. */
export interface SearchHit {
  name: string;
  kind: string;
  module?: string;
  title?: string;
  description: string;
  phase?: string;
  uri?: string;
  /** Other names it answers to. */
  aliases?: string[];
  /** The origin in words. */
  origin?: string;
  /** From 0 to 1; only scores of one search can be compared. */
  score: number;
  /** Why it is there: `name`, `title: stories; meaning 0.61`. */
  why: string;
}

export interface SearchOptions {
  /** What to look for; `all` without it. */
  type?:
    | 'agents'
    | 'workflows'
    | 'tasks'
    | 'tools'
    | 'skills'
    | 'knowledge'
    | 'templates'
    | 'checklists'
    | 'teams'
    | 'all';
  module?: string;
  /** A phase, such as `plan`. */
  category?: string;
  /** Where it comes from: `project`, `package`, `git`, …, or the name of an origin. */
  origin?: string;
  /** How many hits at most, from 1 to 200; 8 without it. */
  limit?: number;
}

export interface ActivateOptions {
  /** What the user wants of the agent or workflow. */
  message?: string;
  /** Where a name could be one of several. */
  kind?: 'agent' | 'workflow' | 'task';
  module?: string;
}

/** Everything a model needs to become an agent or to run a workflow. */
export interface Activation {
  /** Name with its module: `bmm/bmad-agent-architect`. */
  name: string;
  kind: string;
  title: string;
  /** The whole text for the model, however long it is. */
  text: string;
  /** What could not be used, such as a broken override. */
  problems: string[];
  context: WorkflowContext;
}

/** Where an agent or workflow runs, and what its placeholders stand for. */
export interface WorkflowContext {
  bmadServerRoot?: string;
  projectRoot?: string;
  mcpResources?: string;
  agentManifestPath?: string;
  agentCount?: number;
  placeholders?: {
    project_root?: string;
    bmad_root: string;
    module_root: string;
    config_source: string;
    installed_path: string;
    output_folder?: string;
  };
  moduleInfo?: { name: string; version?: string; bmadVersion?: string };
  originInfo?: { kind: string; displayName: string; priority: number };
}

/** One commit of a git source that is kept on this machine. */
export interface CacheEntry {
  /** The source without credentials: `git+https://host/org/repo.git#ref:/subpath`. */
  source: string;
  commit: string;
  /** Absolute path of the folder with its content. */
  path: string;
  /** Digest of all its files. */
  digest: string;
  files: number;
  bytes: number;
  /** When it was fetched, as ISO 8601. */
  fetchedAt: string;
}

/** The parts of a git source. */
export interface GitUrlSpec {
  protocol: 'https' | 'ssh' | 'file';
  host: string;
  org: string;
  repo: string;
  /** Branch, tag or commit; empty where the default branch is meant. */
  ref: string;
  /** Path within the repository. */
  subpath?: string;
}

/** What every way in has in common. All of it is optional; without it, the process is asked. */
export interface Surroundings {
  /** Variables, instead of those of the process. git needs `PATH` and, for credentials, what it has in a terminal. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user, instead of the one the system names. */
  home?: string;
  /** Folder for what is fetched; without it, `BMAD_CACHE` or the cache folder of the user. */
  cache?: string;
  /** Takes the lines of the log; without it there is no log. */
  log?: (line: string) => void;
  /** How much is logged: warnings and errors without it. */
  logLevel?: 'silent' | 'error' | 'warn' | 'info' | 'debug';
}

export interface OpenOptions extends Surroundings {
  /** Project folder; without it, found from the working directory as the programs do it. */
  project?: string;
  /** Further folders with BMAD content, the first before the others. */
  paths?: readonly string[];
  /** Git sources, besides those of the configuration. */
  git?: readonly string[];
  /** Which origins take part; `auto`, all of them, without it. */
  discovery?: 'auto' | 'local' | 'user' | 'strict';
}

/** All BMAD content as one project sees it. */
export interface Bmad {
  /** Absolute path of the project; nothing when no folder can be taken for it. */
  readonly project: string | undefined;
  /** What was asked for and could not be used when the content was read last. */
  readonly warnings: readonly string[];
  /** The main file of an agent. Throws a `BmadError`: `not_found`, `ambiguous`. */
  loadAgent(name: string): Promise<Resource>;
  /** The main file of a workflow, task or plain skill. Throws a `BmadError`: `not_found`, `ambiguous`. */
  loadWorkflow(name: string): Promise<Resource>;
  /** Names of all agents, in a fixed order. Never throws: nothing is listed when nothing can be read. */
  listAgents(): Promise<string[]>;
  /** Names of all workflows, in a fixed order. Never throws. */
  listWorkflows(): Promise<string[]>;
  /** Who an agent is and what it offers. Never throws: `null` when there is no such agent. */
  getAgentMetadata(name: string): Promise<AgentMetadata | null>;
  /** The same of all agents. Never throws. */
  listAgentsWithMetadata(): Promise<AgentMetadata[]>;
  /** Every file that can be read, sorted by path. Never throws. */
  listAllFiles(): Promise<FileInfo[]>;
  /** A text file by its path from the BMAD root, or by its `bmad://` address. Throws a `BmadError`. */
  loadFile(relativePath: string): Promise<string>;
  /** Agents and workflows by words in their names, titles and descriptions. Throws a `BmadError` on bad arguments. */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>;
  /** What the tool `bmad` delivers for `execute`, whole. Throws a `BmadError`: `not_found`, `ambiguous`. */
  activate(name: string, options?: ActivateOptions): Promise<Activation>;
  /** The local folder of a git source, as `GitSourceResolver.resolve` finds it. */
  resolveGitSource(gitUrl: string): Promise<string>;
  /** Reads all content anew. Throws a `BmadError` when the project can no longer be used. */
  refresh(): Promise<void>;
  /** Ends what still runs, git included. Later calls fail with `cancelled`, or list nothing. */
  close(): void;
}

/** Reads the content for a project. Throws a `BmadError` when an option cannot be used. */
export declare function openBmad(options?: OpenOptions): Promise<Bmad>;

/** Git repositories with BMAD content, fetched once and kept on this machine. */
export declare class GitSourceResolver {
  /** Nothing is read or run before the first call. */
  constructor(options?: Surroundings);
  /**
   * The local folder with the content of a git source, fetched if it is not there yet. A source that is configured gives
   * its approved commit; any other what its remote has now, or the last copy when the remote cannot be asked. The folder
   * is shared and must not be changed. Throws a `BmadError`: `invalid_input`, `not_found`, `unavailable`.
   */
  resolve(gitUrl: string): Promise<string>;
  /** Everything that is kept. */
  listCache(): Promise<CacheEntry[]>;
  /** Removes everything that is kept, for all projects of the user. Lock files stay. */
  clearCache(): Promise<void>;
  /** Takes a git source apart. Nothing runs. Throws a `BmadError`: `invalid_input`. */
  parseGitUrl(gitUrl: string): GitUrlSpec;
  /** Ends what still runs. */
  close(): void;
}

/** Every way a call can fail. */
export type ErrorCode =
  | 'invalid_input'
  | 'not_found'
  | 'ambiguous'
  | 'conflict'
  | 'forbidden'
  | 'too_large'
  | 'unavailable'
  | 'cancelled'
  | 'internal';

/** Every error that is thrown here. */
export declare class BmadError extends Error {
  readonly name: 'BmadError';
  readonly code: ErrorCode;
  /** What to do next. */
  readonly hint: string | undefined;
  /** The name or address that was asked for. */
  readonly subject: string | undefined;
  /** Names or addresses that exist and are close to it. */
  readonly suggestions: readonly string[];
  constructor(
    code: ErrorCode,
    message: string,
    details?: { hint?: string; subject?: string; suggestions?: readonly string[]; cause?: unknown },
  );
  /** Message, suggestions and hint, as a person should read them. */
  get text(): string;
}
