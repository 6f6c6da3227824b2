/**
 * The library of the BMAD MCP Server: everything the server serves, for programs. This file has all its
 * types and names, contains no code, and becomes the declaration files of the package.
 */

/** Where content comes from: the project, a folder in `paths`, `BMAD_ROOT`, the user, git, or the package itself. */
export type ContentSource = 'project' | 'cli' | 'env' | 'user' | 'git' | 'package';

/** An agent or a workflow on disk. */
export interface Resource {
  /** The shortest unique name, as used in the lists. */
  name: string;
  /** Absolute path of its main file. */
  path: string;
  /** The main file, byte for byte. */
  content: string;
  source: ContentSource;
  /** `agent`, `workflow`, or another kind that can be started like a workflow: `task`, `tool`, `skill`. */
  kind: string;
  module: string;
  /** `bmad://` address of the main file. */
  uri: string;
  /** The origin in words, such as `BMAD 6.12.0 (built in)`. */
  origin: string;
  /** For content from git: the commit that is served. */
  commit?: string;
  /** The origin whose content would be served if this one did not have something of that name. */
  insteadOf?: string;
  /** The instructions that a workflow in YAML is followed by. */
  instructions?: { uri: string; content: string };
  /** The other files of a workflow, such as its instructions, template and checklist; `loadFile` takes their addresses. */
  files?: { uri: string; bytes: number }[];
  /** How many more there are. */
  filesLeftOut?: number;
  /** Files that a workflow names and that do not exist, in words. */
  missing?: string[];
}

/** Who an agent is and what it offers. Fields its file does not provide are left out. */
export interface AgentMetadata {
  name: string;
  /** Its role, such as `System Architect`. */
  title: string;
  /** What it is called, such as `Winston`. */
  displayName: string;
  description?: string;
  /** Role and identity, one line each. */
  persona?: string;
  /** What its menu offers, in words. */
  capabilities?: string[];
  /** The menu entries as shown to a user: `CA: Produce the architecture`. */
  menuItems?: string[];
  module?: string;
  /** Names of the workflows that its menu starts; `loadWorkflow` takes them. */
  workflows?: string[];
  /** The menu entries that start these workflows. */
  workflowMenuItems?: string[];
}

/** One file that `loadFile` can read. */
export interface FileInfo {
  /** Path from the BMAD root, with forward slashes: `bmm/config.yaml`. */
  relativePath: string;
  /** Absolute path on disk; undefined for a file that is generated on request. */
  fullPath?: string;
  source: ContentSource | 'generated';
  mimeType: string;
}

export interface SearchOptions {
  /** What to look for; `all` by default. */
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
  /** Maximum number of hits, from 1 to 200; 8 by default. */
  limit?: number;
}

export interface ActivateOptions {
  /** What the user wants from the agent or workflow. */
  message?: string;
  /** Selects one of several things with the same name. */
  kind?: 'agent' | 'workflow' | 'task';
  module?: string;
}

/** Everything a model needs to become an agent or to run a workflow. */
export interface Activation {
  /** Name with module: `bmm/bmad-agent-architect`. */
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
  /** The agents that are offered, as the manifest at `agentManifestPath` lists them. */
  agentManifestData?: AgentManifestEntry[];
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
  originInfo?: {
    kind: string;
    displayName: string;
    priority: number;
    /** The origin whose content would be served if this one did not have something of that name. */
    insteadOf?: string;
  };
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
  /** Branch, tag or commit; empty for the default branch. */
  ref: string;
  /** Path within the repository. */
  subpath?: string;
}

/** Options that all entry points share. All are optional and default to those of the process. */
export interface Surroundings {
  /** Environment variables, instead of those of the process. git needs `PATH` and its usual variables for credentials. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, instead of the system's. */
  home?: string;
  /** Folder for fetched content; by default `BMAD_CACHE` or the user's cache folder. */
  cache?: string;
  /** Receives the log lines; without it nothing is logged. */
  log?: (line: string) => void;
  /** How much to log; warnings and errors by default. */
  logLevel?: 'silent' | 'error' | 'warn' | 'info' | 'debug';
}

export interface OpenOptions extends Surroundings {
  /** Project folder; by default found from the working directory, as the programs do. */
  project?: string;
  /** Additional folders with BMAD content, in order of priority. */
  paths?: readonly string[];
  /** Git sources, in addition to the configured ones. */
  git?: readonly string[];
  /** Which origins to use; `auto`, all of them, by default. */
  discovery?: 'auto' | 'local' | 'user' | 'strict';
}

/** All BMAD content as one project sees it. */
export interface Bmad {
  /** Absolute path of the project; undefined if no suitable folder was found. */
  readonly project: string | undefined;
  /** What was requested but could not be used when the content was last read. */
  readonly warnings: readonly string[];
  /** The main file of an agent. Throws a `BmadError`: `not_found`, `ambiguous`. */
  loadAgent(name: string): Promise<Resource>;
  /** The main file of a workflow, task or plain skill. Throws a `BmadError`: `not_found`, `ambiguous`. */
  loadWorkflow(name: string): Promise<Resource>;
  /** Names of all agents, in a fixed order. Never throws: the list is empty if nothing can be read. */
  listAgents(): Promise<string[]>;
  /** Names of all workflows, in a fixed order. Never throws. */
  listWorkflows(): Promise<string[]>;
  /** Who an agent is and what it offers. Never throws: `null` if there is no such agent. */
  getAgentMetadata(name: string): Promise<AgentMetadata | null>;
  /** The same for all agents. Never throws. */
  listAgentsWithMetadata(): Promise<AgentMetadata[]>;
  /** Every file that can be read, sorted by path. Never throws. */
  listAllFiles(): Promise<FileInfo[]>;
  /** A text file by its path from the BMAD root, or by its `bmad://` address. Throws a `BmadError`. */
  loadFile(relativePath: string): Promise<string>;
  /** The records of all origins that fit, those of the highest rank first. Throws a `BmadError` on bad arguments. */
  queryRecords(query?: RecordQuery): Promise<MasterRecord[]>;
  /** The record that is offered under a name; `null` if there is none. */
  findRecord(name: string, query?: RecordQuery): Promise<MasterRecord | null>;
  /** Finds agents and workflows by name, title and description. Throws a `BmadError` on bad arguments. */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>;
  /** The complete answer of the tool `bmad` to `execute`. Throws a `BmadError`: `not_found`, `ambiguous`. */
  activate(name: string, options?: ActivateOptions): Promise<Activation>;
  /** The local folder of a git source, as `GitSourceResolver.resolve` finds it. */
  resolveGitSource(gitUrl: string): Promise<string>;
  /** Reloads all content. Throws a `BmadError` if the project can no longer be used. */
  refresh(): Promise<void>;
  /** Stops everything still running, git included. Later calls fail with `cancelled`, or return empty lists. */
  close(): void;
}

/** Reads the content for a project. Throws a `BmadError` if an option cannot be used. */
export declare function openBmad(options?: OpenOptions): Promise<Bmad>;

/** Git repositories with BMAD content, fetched once and kept on this machine. */
export declare class GitSourceResolver {
  /** Nothing is read or run before the first call. */
  constructor(options?: Surroundings);
  /**
   * The local folder with the content of a git source, fetched if needed. A configured source returns its approved
   * commit; any other the current commit of its remote, or the last copy if the remote cannot be reached. The folder is
   * shared and must not be changed. Throws a `BmadError`: `invalid_input`, `not_found`, `unavailable`.
   */
  resolve(gitUrl: string): Promise<string>;
  /** All commits in the cache. */
  listCache(): Promise<CacheEntry[]>;
  /** Removes everything from the cache, for all projects of the user. Lock files stay. */
  clearCache(): Promise<void>;
  /** Parses a git source, without running anything. Throws a `BmadError`: `invalid_input`. */
  parseGitUrl(gitUrl: string): GitUrlSpec;
  /** Stops everything still running. */
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
  /** The name or address that was requested. */
  readonly subject: string | undefined;
  /** Similar names or addresses that exist. */
  readonly suggestions: readonly string[];
  constructor(
    code: ErrorCode,
    message: string,
    details?: { hint?: string; subject?: string; suggestions?: readonly string[]; cause?: unknown },
  );
  /** Message, suggestions and hint, formatted for people. */
  get text(): string;
}

/** The other part of the library's types: records, hits, and the server inside a program. */

/** One hit of a search, the best first. */
export interface SearchHit {
  name: string;
  kind: string;
  module?: string;
  title?: string;
  description: string;
  phase?: string;
  uri?: string;
  /** Other names it can be called by. */
  aliases?: string[];
  /** The origin in words. */
  origin?: string;
  /** From 0 to 1; only scores of one search can be compared. */
  score: number;
  /** Why it matched: `name`, `title: stories; meaning 0.61`. */
  why: string;
}

/** An agent in the words of BMAD's manifest; what nothing says is empty. */
export interface AgentManifestEntry {
  name: string;
  displayName: string;
  title: string;
  icon: string;
  role: string;
  identity: string;
  communicationStyle: string;
  principles: string;
  module: string;
  /** With the folder of BMAD in front: `_bmad/bmm/agents/analyst.md`. */
  path: string;
}

/** Which records to return; all of them without it. Parts that are left out do not restrict anything. */
export interface RecordQuery {
  /** `agent`, `workflow`, `task`, `tool`, `skill`, `knowledge`, `template`, `checklist` or `team`. */
  kind?: string;
  module?: string;
  /** The id, with or without its prefix, or another name of it. */
  name?: string;
  /** `project`, `user`, `git`, `package`, …, or the name of an origin. */
  origin?: string;
  /** Only what is offered, or only what is not. */
  served?: boolean;
}

/** One thing as one origin has it, as `bmad://manifests/master.json` shows it. */
export interface MasterRecord {
  kind: string;
  /** Whether a manifest lists it, or it was found on disk. */
  source: 'manifest' | 'filesystem';
  origin: {
    kind: ContentSource;
    displayName: string;
    root: string;
    /** The folder of its manifests, if it has any. */
    manifestDir?: string;
    /** The lower number wins. */
    priority: number;
    git?: { source: string; commit: string };
  };
  moduleName: string;
  moduleVersion?: string;
  bmadVersion?: string;
  name: string;
  displayName?: string;
  title?: string;
  icon?: string;
  description: string;
  role?: string;
  identity?: string;
  communicationStyle?: string;
  principles?: string;
  author?: string;
  standalone?: boolean;
  phase?: string;
  aliases: string[];
  /** With the folder of BMAD: `bmad/bmm/agents/analyst.md`. */
  bmadRelativePath: string;
  /** With the module: `bmm/agents/analyst.md`. */
  moduleRelativePath: string;
  absolutePath: string;
  exists: boolean;
  status: 'verified' | 'not-in-manifest' | 'no-file-found';
  /** Whether it is offered; old names and what another origin overrides are not. */
  served: boolean;
  /** What is served in its place. */
  overriddenBy?: { name: string; origin: string };
  /** SHA-256 of the main file. */
  digest: string;
}

/** A transport of the Model Context Protocol, as its SDKs have them. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** The MCP server inside a program: the same tools, prompts and resources as the program `bmad-mcp-server`. */
export declare class BmadServer {
  /** Nothing is read or run before `initialize` or `connect`. */
  constructor(options?: OpenOptions);
  /** Reads the configuration and all content. Throws a `BmadError` if an option cannot be used. */
  initialize(): Promise<void>;
  /** Serves one client over a transport until either side ends; initializes first if that was not done. */
  connect(transport: McpTransport): Promise<void>;
  /** Ends all connections, and everything still running. Every call after it fails with `cancelled`. */
  close(): Promise<void>;
}
