import type { Hosts } from './hosts.ts';
import type { Person } from './person.ts';

export type { HostState, Scope as HostScope } from './hosts.ts';
export type { HostCheck } from './inspect.ts';
export type { Person as HostPerson } from './person.ts';

/** The hosts of this machine, and what is asked when they are connected. */
export interface HostSetup {
  hosts: Hosts;
  /** Starts exactly what an entry says and asks it for its tools; `trouble` says in words what went wrong. */
  handshake(
    start: { command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd?: string },
    /** The folder that a host starts it in, unless the entry names one. */
    folder: string,
    signal: AbortSignal,
  ): Promise<{ ok: boolean; tools: string[]; trouble?: string }>;
  /** The settings that a server started like this has; undefined if it would not start with them. */
  settingsOf(start: {
    command: string;
    args: readonly string[];
    env: Record<string, string>;
  }): Promise<{ answerBytes: number; prompts: string; output: string } | undefined>;
  /** What the user wants to be called and spoken to in, in all projects. */
  person(): Promise<Person>;
  /** Answers with the file that holds it. */
  setPerson(person: Person): Promise<string>;
  /** Those of some lines that a file at the top of a project does not have. */
  lacking(root: string, file: string, lines: readonly string[]): Promise<string[]>;
  /** Adds lines to it. */
  addLines(root: string, file: string, lines: readonly string[]): Promise<void>;
  /** A name that the system knows the user by. */
  systemName: string | undefined;
  home: string;
}

export interface HostsPort {
  /** What connects hosts; only the command line has a use for it. */
  hostSetup(): Promise<HostSetup>;
}
