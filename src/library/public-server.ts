/** The other part of the library's types: records, hits, and the server inside a program. */

import type { ContentSource, OpenOptions } from './public.ts';

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
