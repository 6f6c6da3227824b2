import type { Log } from '../base/log.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CatalogueChanges } from '../catalogue/changes.ts';
import type { Config } from '../config/schema.ts';
import type { ConfigSources } from '../config/load.ts';
import type { Delivery } from '../services/delivery/delivery.ts';
import type { Diagnosis } from '../services/diagnosis/diagnosis.ts';
import type { Search } from '../services/search/search.ts';
import type { Project } from '../sources/project-root.ts';

/** What lives as long as the process. Built once by the composition root; operations get it as an argument. */
export interface Context {
  config: Config;
  configFrom: ConfigSources;
  /** The key of each setting in configuration files. */
  settingKeys: Readonly<Record<string, string>>;
  /** What was wrong with the configuration and has been passed over. */
  configWarnings: readonly string[];
  log: Log;
  secrets: Secrets;
  /** The world as one project sees it; without an argument, the project the server was started for. */
  workspace(project?: string): Promise<Workspace>;
  /** Reads a project's world anew. Calls that run go on with the old one; those that begin later get the new one. */
  refresh(project?: string): Promise<Changes>;
  /** Tells of every refresh of a world that was known before, until the returned function is called. */
  onChange(listener: (changes: Changes) => void): () => void;
  /** Takes note of the folders the client works in; calls wait for them, but not for long. */
  offerRoots(folders: Promise<readonly string[]>): void;
  /** The project in words, even when it cannot be used: for commands that have to explain just that. */
  describeProject(): Promise<Project>;
  diagnosis(): Promise<Diagnosis>;
}

/** What a refresh found. */
export interface Changes extends CatalogueChanges {
  project: Project;
  /** Whether there was something to compare with. */
  known: boolean;
  /** Whether it is the project that the server runs for, which lists without a project are about. */
  current: boolean;
}

export type { ServedFile } from '../services/delivery/served-file.ts';
export type { NamedSkill } from '../services/delivery/skill-names.ts';

export interface Workspace {
  project: Project;
  /** Folders that were asked for and gave nothing. */
  warnings: readonly string[];
  catalogue: Catalogue;
  delivery: Delivery;
  search(): Promise<Search>;
}

/** What lives as long as one request; each surface brings its own. */
export interface Call {
  signal: AbortSignal;
  progress(message: string): void;
}
