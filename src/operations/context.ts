import type { Caller } from '../base/caller.ts';
import type { BmadError, ErrorCode } from '../base/errors.ts';
import type { Bounds } from '../base/http/http-route.ts';
import type { WatchReport } from '../base/files/watch-folders.ts';
import type { Log } from '../base/log.ts';
import type { Step, StepWriter } from '../base/step.ts';
import type { Secrets } from '../base/secrets/rules.ts';
import type { Tracing } from '../base/process/tracing.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CatalogueChanges } from '../catalogue/changes.ts';
import type { Config } from '../config/schema.ts';
import type { ConfigSources } from '../config/load.ts';
import type { Kit, StateMove } from '../kit/kit.ts';
import type { HostsPort } from '../hosts/hosts.ts';
import type { Again } from '../services/calls/again.ts';
import type { Audit } from '../services/calls/audit.ts';
import type { Completion } from '../services/completion/completion.ts';
import type { DecisionBook } from '../services/decisions/decisions.ts';
import type { Codebase } from '../services/codebase/codebase.ts';
import type { Delegation } from '../services/delegation/delegation.ts';
import type { Delivery } from '../services/delivery/delivery.ts';
import type { ProjectFacts } from '../services/facts/facts.ts';
import type { Diagnosis } from '../services/diagnosis/diagnosis.ts';
import type { Memory } from '../services/memory/memory.ts';
import type { Progress } from '../services/progress/progress.ts';
import type { Ranking } from '../services/ranking/ranking.ts';
import type { Reranker } from '../services/ranking/reranker.ts';
import type { Usage } from '../services/ranking/usage.ts';
import type { Runs } from '../services/runs/runs.ts';
import type { HandoverDesk } from '../services/handover/handovers.ts';
import type { Counted } from '../services/shared-state/shared-state.ts';
import type { Moved, Moving } from '../services/shared-state/move.ts';
import type { TaskQueue } from '../services/tasks/tasks.ts';
import type { GitSources } from '../services/git-sources/git-sources.ts';
import type { SourceView } from '../services/git-sources/view.ts';
import type { Tree } from '../sources/tree.ts';
import type { Search } from '../services/search/search.ts';
import type { Warmed } from '../services/search/open-shelf.ts';
import type { Knowledge } from '../services/knowledge/knowledge.ts';
import type { StatePlace } from '../services/facts/move-state.ts';
import type { Decisions } from '../model/memory.ts';
import type { BuiltInModule } from '../model/module.ts';
import type { Origin, BmadRecord } from '../model/record.ts';
import type { Project } from '../sources/project-root.ts';
import type {
  Confirmed,
  ConfirmRequest,
  Requester,
  Sampled,
  SampledText,
  SampleRequest,
} from '../model/client.ts';
import type { ToolChoice } from './toolsets.ts';

export type { Confirmed, ConfirmRequest, Requester, Sampled, SampledText, SampleRequest };
export type { ServedFile } from '../services/delivery/files.ts';
export type { NamedSkill } from '../services/delivery/skill-shelf.ts';
export type { HostCheck, HostPerson, HostScope, HostSetup, HostState } from '../hosts/hosts.ts';
export type { KnowledgeDomain, KnowledgeFragment } from '../services/knowledge/knowledge.ts';
export type { ContextPart, Person } from '../services/delegation/delegation.ts';
export type { GitSources, ProjectFacts, Ranking, SourceView, TaskQueue, WatchReport };
export type { Activation } from '../services/delivery/activation.ts';
export type { Action as ProgressAction } from '../services/progress/progress.ts';

/** The configuration and what follows from it. */
export interface SettingsPort {
  config: Config;
  configFrom: ConfigSources;
  /** The key of each setting in configuration files. */
  settingKeys: Readonly<Record<string, string>>;
  /** What was wrong with the configuration and has been passed over. */
  configWarnings: readonly string[];
  /** Changes the preferred origins in the user's configuration file, which is answered; the next call goes by them. */
  changePreferred(
    change: (entries: readonly string[]) => readonly string[],
  ): Promise<{ file: string; entries: readonly string[] }>;
  /** Which tools are offered, and why. */
  tools: ToolChoice;
  /** How the command line is started on the caller's machine where it is not on the PATH, if that is known. */
  ownProgram?: readonly string[] | undefined;
  /** A text of the server's own with the names that the project's BMAD has for its examples. */
  worded(text: string): string;
}

/**
 * The project that a call is about, where it has named one; `execute` sets it. Without it, and without an argument, all that
 * belongs to a project is about the one the server was started for.
 */
export interface ProjectPort {
  project?: string | undefined;
}

/** The content that is served. */
export interface CataloguePort extends ProjectPort {
  /** The world as one project sees it. */
  workspace(project?: string): Promise<Workspace>;
  /** Reads a project's world anew. Calls that run go on with the old one; those that begin later get the new one. */
  refresh(project?: string): Promise<Changes>;
  /** Tells of every refresh of a world that was known before, until the returned function is called. */
  onChange(listener: (changes: Changes) => void): () => void;
  /** Calls when something has moved on disk that answers may depend on, once the content was looked at; and at the beginning. */
  onMoved(listener: MovedListener): () => void;
  /** How that is noticed; nothing where nobody listens. */
  watching(): WatchReport | undefined;
  /** This process is going to be asked many times: from some time on, a watch spares the calls to look at every file. */
  stay(): void;
  /** Takes note of the folders the client works in; calls wait for them, but not for long. */
  offerRoots(folders: Promise<readonly string[]>): void;
  /** The project in words, even when it cannot be used: for commands that have to explain just that. */
  describeProject(): Promise<Project>;
}

/** What projects remember. */
export interface MemoryPort {
  /** What the project remembers. */
  memory(mayWrite?: boolean): Promise<Memory>;
  /** Makes the first recall in the project short that the server was started for, in pieces, if it has memories. */
  prepareRecall(pause: () => Promise<void>): Promise<void>;
  /** Whether the stores of the memories that have been used so far can be reached. */
  memoriesAnswer(): Promise<boolean>;
}

/** The state of projects. */
export interface StatePort extends ProjectPort {
  /** What a project's own files say, and where its state is written; each part is loaded when first used. */
  state(project?: string): Promise<ProjectState>;
  /** Why the database that has the lines of projects cannot be used at the moment, where there is one. */
  stateTrouble(): BmadError | undefined;
}

/** The process itself. */
export interface ServerPort {
  log: Log;
  secrets: Secrets;
  diagnosis(): Promise<Diagnosis>;
  /** The text of a file that a person named at the command line. */
  readUserFile(path: string): Promise<string>;
  /** Hears of every call that has come through the door; only where somebody counts them. An answer waits for it. */
  observe?: ((seen: Observed) => unknown) | undefined;
  /** Hears of a change before it is made, and can refuse it. */
  announce?: ((seen: Called) => Promise<void>) | undefined;
  /** What is kept of calls: who has made them, and the first answers of those that may be made again. */
  audit(): Promise<Audit>;
  again(): Promise<Again>;
  /** Waits until a caller may begin: where several share a server, they take turns. */
  turn?: ((caller: string, writes: boolean) => Promise<() => void>) | undefined;
  /** One after the other: additions of which there may be only so many, where several share a server. */
  adding?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
  /** The page that hosts show which show apps. */
  appPage(): Promise<string>;
  /** Keeps a trace of what clients ask; only where that is switched on. */
  tracing?: Tracing | undefined;
  /** Ends what runs in the background. */
  close(): void;
}

/** What lives as long as the process. Built once by the composition root; operations get it as an argument. */
export interface Context extends SettingsPort, CataloguePort, MemoryPort, StatePort, ServerPort, HostsPort {
  /** The git sources, their approved versions and what waits for approval. */
  gitSources(): Promise<GitSources>;
  /** How a folder of a git source reads, for comparing two versions of it. */
  readFolder(folder: string): Promise<{ catalogue: Catalogue; tree: Tree }>;
  /** What people have decided on this machine, about this project and others. */
  decisions(): Promise<DecisionBook>;
  /** The code of the project at this place. */
  codebase(root: string, mayWrite?: boolean): Promise<Codebase>;
  /** What was started in a project, which ranking goes by. */
  usage(project?: string): Promise<Usage>;
  /** Asks the model of a client which of a few candidates is meant. */
  reranker(): Promise<Reranker>;
  /** Has an agent answer a task through the model of a client. */
  delegation(): Promise<Delegation>;
}

/** The same, where nothing else is said about this project. */
export function inProject(context: Context, project: string | undefined): Context {
  return {
    ...context,
    project,
    workspace: (other = project) => context.workspace(other),
    refresh: (other = project) => context.refresh(other),
    state: (other = project) => context.state(other),
    usage: (other = project) => context.usage(other),
    memory: async (mayWrite) => (await context.state(project)).memory(mayWrite),
  };
}

/** Answers whether it has made a difference. All listeners hear of the same event as the same object. */
export type MovedListener = (event: object) => Promise<boolean>;

/** One call of an operation that is over. */
export interface Observed {
  operation: string;
  /** The operation that it stood for, where it did. */
  meant?: string;
  /** Who has called. */
  by: Caller & { token?: string | undefined };
  ms: number;
  /** Whether it changes something, or would have. */
  writes: boolean;
  /** Why it failed, if it did. */
  code?: ErrorCode;
  /** Which of the reasons that the code has, where that is told apart. */
  reason?: string;
  /** The id of what it was about. */
  target?: string;
  /** The folder of the project it was about, where that is known. */
  project?(): Promise<string | undefined>;
}

export type Called = Pick<Observed, 'operation' | 'meant' | 'by'>;

/** What a refresh found. */
export interface Changes extends CatalogueChanges {
  project: Project;
  /** Whether there was something to compare with. */
  known: boolean;
  /** Whether it is the project that the server runs for, which lists without a project are about. */
  current: boolean;
}

export interface RunsPort {
  /** Its runs and session branches. */
  runs(): Promise<Runs>;
}

/** A project in a database. */
export interface ProjectDatabase {
  /** Its address without the password. */
  shown: string;
  counted(): Promise<Counted>;
  /** What was looked at, and what is wrong. */
  checked(): Promise<{ looked: string[]; problems: string[] }>;
  /** Makes its tables, or brings them up to date; with a role, gives it the rights to rows. */
  migrate(role?: string): Promise<{ before: number; after: number }>;
  close(): Promise<void>;
}

export interface PlacePort {
  /** All that is on this machine only, each part with the way to bring it into the project. */
  moves(): Promise<StateMove[]>;
  /** Whether nothing was ever kept for it. */
  unused(): Promise<boolean>;
  /** Where all of its state is, or will be. */
  place(): Promise<StatePlace>;
  /** Lets git see its lines, or hides them again; false where that was so before. */
  shareLines(isShared: boolean): Promise<boolean>;
  /** The database that has its lines, where one is set; or the one at an address. */
  database(address?: string): Promise<ProjectDatabase | undefined>;
  /** Moves all lines into the database at this address, or without one from the database that is set into files. */
  moveLines(to: string | undefined, moving: Moving): Promise<Moved | undefined>;
  /** Runs a move while no other process moves state of the project. */
  whileMoving<T>(work: () => Promise<T>): Promise<T>;
}

export interface ProjectState extends RunsPort, PlacePort {
  root: string;
  /** What it remembers. */
  memory(mayWrite?: boolean): Promise<Memory>;
  /** Makes the first recall in it short, in pieces; answers whether that came to its end. */
  prepareRecall(pause: () => Promise<void>): Promise<void>;
  /** Its completion contract and the receipts of its verdicts. */
  completion(): Promise<Completion>;
  /** How far it is by its ledgers and documents, and what comes next. */
  progress(): Promise<Progress>;
  /** What the files of the custom kit and the like say about the project, and the ways to add to them. */
  facts(): Promise<ProjectFacts>;
  /** Work that waits for sub-agents. */
  tasks(): Promise<TaskQueue>;
  /** What teams hand over to each other. */
  handovers(): Promise<HandoverDesk>;
  /** What the last lines say that a call has changed, by its mark. */
  writtenBy(call: string): Promise<string[]>;
  /** Which layout it has and where its folders are. */
  kit(): Promise<Kit>;
  /** Which of some files, by their real paths from the root, may be shown to models: what git would track, and BMAD's own. */
  filesToShow(paths: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** The first answers of calls that may be made again at any machine of a team; nothing where it has no database. */
  again(): Promise<Again | undefined>;
  /** What people have decided about it: on this machine, and where a team has a database, there. */
  decisions(): Promise<Decisions>;
  /** The language that it sets for what is said to its people, as it names it. */
  language(): Promise<string | undefined>;
}

export interface Workspace {
  project: Project;
  /** Folders and git sources that were asked for and gave nothing, or of which there is something to say. */
  warnings: readonly string[];
  /** What a person can do about them. */
  steps: readonly Step[];
  /** Git sources that are not here yet: what they hold is missing from everything. */
  absent: readonly string[];
  catalogue: Catalogue;
  delivery: Delivery;
  search(): Promise<Search>;
  /** Has all ready that a first search needs, and waits until it is kept for the next process. */
  warm(signal: AbortSignal): Promise<Warmed>;
  /** The same with these origins only; made once for each choice of them. */
  from(origins: ReadonlySet<Origin>): Workspace;
  /** The built-in modules that it leaves out, and the same with them: for callers who name them or search. */
  beside(): Promise<readonly BuiltInModule[]>;
  everything(): Promise<Workspace>;
  knowledge(): Promise<Knowledge>;
  /** What commands in these folders of the project start already, such as `.claude/commands`. */
  startedByCommands(folders: readonly string[]): Promise<ReadonlySet<BmadRecord>>;
  /** How agents and workflows stand at this moment: `rank(record)` is a number, the higher the sooner it should come. */
  ranking(): Promise<Ranking>;
}

/** One of several things that a person can choose. */
export interface Choosable {
  value: string;
  name: string;
  about: string;
  on: boolean;
}

/** What lives as long as one request; each surface brings its own. */
export interface Call {
  signal: AbortSignal;
  progress(message: string): void;
  /** Fires when the caller has left and still gets its answer, so that programs of the project need not run on. */
  left?: AbortSignal | undefined;
  /** What the client calls itself, where it has said so. */
  host?: string | undefined;
  /** How the caller writes a step; without it, steps are written as calls of the tools. */
  say?: StepWriter;
  /** Whether it was typed at the command line, by the user of this machine or a script of theirs. */
  typed?: true;
  /** Whether the caller is another program that came over HTTP; some things are not for everybody who can connect. */
  overHttp?: boolean;
  /**
   * Whether a caller over HTTP has shown the full token of a server that only this machine can reach: then it is as good as
   * the user's own host.
   */
  ownToken?: boolean;
  /** Whether a person has shown that they are one, with a credential that agents do not have. */
  person?: boolean;
  /** Distinguishes callers over HTTP, where they are known. */
  caller?: string | undefined;
  /** Who the operator says has the token. */
  callerName?: string | undefined;
  /** What the caller's token reaches and uses up at most. */
  bounds?: Bounds | undefined;
  /** By what the caller knows this call again: a change with the same key is made once. */
  key?: string | undefined;
  /** The connection, where the protocol gives it a name. */
  session?: string | undefined;
  /** Who asks from outside the project, where that is known. */
  requester?: Requester | undefined;
  /** `false` where the caller may only read, whatever the server itself allows. */
  mayWrite?: boolean;
  /**
   * Asks the model of the client; not there where the client offers none. A client of the 2026 protocol is asked by the
   * answer to its call and then calls again: the operation ends here, with an error that nobody sees, and is run once more
   * from its beginning. So ask before anything is written, and ask the same when nothing has changed.
   */
  sample?(request: SampleRequest): Promise<Sampled>;
  /** Has the person at a terminal type a line; not there where nobody sits at one. No answer is an empty one. */
  ask?(prompt: string): Promise<string>;
  /** Has them choose several of these with keys, and answers with the values; not there where that is not possible. */
  choose?(question: string, offers: readonly Choosable[]): Promise<string[]>;
  /** Asks the person at the other end, where one can be asked. What is said of `sample` about the 2026 protocol holds too. */
  confirm?(request: ConfirmRequest): Promise<Confirmed>;
}
