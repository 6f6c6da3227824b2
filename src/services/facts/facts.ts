import { forAll, t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError, expected, ours, quoted } from '../../base/errors.ts';
import { logStamp } from '../../base/files/file-log.ts';
import { tableOf, textField } from '../../base/parse/parse.ts';
import { secretsOut, shownText } from '../../base/secrets/scanner.ts';
import { agentIds, readKitAgents, type KitAgent, learningsFiles } from '../../kit/agents.ts';
import {
  appendTrace,
  decisionsIn,
  traceIn,
  type TraceLine,
  tracePath,
  withAgents,
} from '../../kit/memories/decisions.ts';
import {
  DECISIONS_FILE,
  type KitEntry,
  MEMORIES_FILE,
  memoriesIn,
  memoryTables,
} from '../../kit/memories/entries.ts';
import {
  type Failure,
  failureIn,
  MUSEUM_FILE,
  MUSEUM_LOG,
  museumIn,
  museumLog,
  categoryOf,
} from '../../kit/museum/museum.ts';
import { pagesOf, inProject, type Kit, type KitWithMemory } from '../../kit/kit.ts';
import { textToRead } from '../../kit/text.ts';
import { otherLanguage, projectLanguages } from '../../kit/language.ts';
import {
  failureText,
  writeFailure,
  type FailureWritten,
  type NewFailure,
} from '../../kit/museum/museum-write.ts';
import {
  completeHandoff,
  finishHandoff,
  type HandoffWritten,
  handOver,
  hasHandoff,
  keepsLines,
  linedHandoffs,
  writeHandoff,
  writeRequest,
} from '../../kit/session/handoffs.ts';
import { lastSession, writeSession, type SessionState } from '../../kit/session/session-state.ts';
import { listForStacks, stacksIn } from '../../kit/stacks.ts';
import type { View } from '../../lines/view.ts';
import {
  aboutProject,
  bmadValues,
  type Colleague,
  colleaguesIn,
  readContextFacts,
  type ContextFacts,
  tableIn,
} from './context-facts.ts';

interface Museum {
  failures: readonly Failure[];
  /** The files that were read, as paths in the project. */
  files: string[];
  problems: string[];
}

/** The failures as they were read last: of thousands, most calls find them as they were. */
export class KeptMuseum {
  #kept: { stamp: string; museum: Museum } | undefined;

  async read(stamp: string, read: () => Promise<Museum>): Promise<Museum> {
    if (this.#kept?.stamp !== stamp) this.#kept = { stamp, museum: await forAll(read) };
    return this.#kept.museum;
  }

  #made: { of: readonly object[]; value: unknown } | undefined;

  /** What was made of some things the last time, while they are the same. */
  made<T>(of: readonly object[], make: () => T): T {
    if (this.#made?.of.every((each, at) => each === of[at]) !== true) this.#made = { of, value: make() };
    return this.#made.value as T;
  }
}

interface FactsSetup {
  kit: Kit;
  hide: (text: string) => string;
  /** What the lines of the project say. */
  view: () => Promise<View>;
  kept: KeptMuseum;
}

/** What a project's files say about it, read anew for each call, and the ways to add to them. */
export class ProjectFacts {
  readonly kit: Kit;
  /** Where sessions and handoffs are kept, and the other place that may have some. */
  readonly #pages: KitWithMemory;
  readonly #otherPages: readonly KitWithMemory[];
  readonly #hide: (text: string) => string;
  readonly #kept: KeptMuseum;
  readonly #view: () => Promise<View>;
  /** Whether failures and hand-offs are lines here, and not entries of the kit's files. */
  readonly keepsLines: boolean;
  readonly about = aboutProject;
  readonly bmadValues = bmadValues;
  /** The category that a word stands for, in any case and language. */
  readonly categoryOf = categoryOf;
  /** What such a text, or any other about a failure, says. */
  readonly failureIn = failureIn;
  /** What the project is written in, by its files: many folders are listed for it, so only who shows it asks. */
  readonly stacks = async () => stacksIn(await listForStacks(this.kit.root));

  constructor({ kit, hide, view, kept }: FactsSetup) {
    this.kit = kit;
    this.#view = view;
    this.#kept = kept;
    this.keepsLines = keepsLines(kit);
    [this.#pages, ...this.#otherPages] = pagesOf(kit);
    this.#hide = hide;
  }

  async context(): Promise<ContextFacts> {
    const lined = await this.#view().then(
      linedHandoffs,
      ours(() => []),
    );
    return readContextFacts(this.kit, [this.#pages, ...this.#otherPages], lined);
  }

  agents(): Promise<readonly KitAgent[]> {
    return readKitAgents(this.kit);
  }

  /** Names that learnings files are called by. */
  async learners(): Promise<string[]> {
    return [...new Set((await learningsFiles(this.kit)).map(({ owner }) => owner))];
  }

  /** Everybody the project's files name as an agent, with a file or without. */
  async colleagues(): Promise<Colleague[]> {
    return colleaguesIn(await this.context(), await this.learners(), (text) => this.shown(text));
  }

  /** The log comes first: what the page has of it as well is the same. */
  museum(): Promise<Museum> {
    const { memory = '' } = this.kit;
    const stamps = [MUSEUM_LOG, MUSEUM_FILE].map((name) => logStamp(join(memory, name))?.version ?? '');
    return this.#kept.read([memory, ...stamps].join('\n'), () => this.#museum());
  }

  /** What a caller makes of all failures, kept while what it was made of is the same. */
  made<T>(of: readonly object[], make: () => T): T {
    return this.#kept.made(of, make);
  }

  async #museum(): Promise<Museum> {
    const problems: string[] = [];
    const log = await textToRead(this.kit, MUSEUM_LOG, problems);
    const page = await textToRead(this.kit, MUSEUM_FILE, problems);
    const logged = log === undefined ? [] : museumLog(log, inProject(this.kit, MUSEUM_LOG), problems);
    const ids = new Set(logged.map(({ id }) => id));
    const onPage = page === undefined ? [] : museumIn(page, inProject(this.kit, MUSEUM_FILE));
    return {
      failures: [...logged, ...onPage.filter(({ id }) => id === undefined || !ids.has(id))],
      files: [...(log === undefined ? [] : [MUSEUM_LOG]), ...(page === undefined ? [] : [MUSEUM_FILE])].map(
        (name) => inProject(this.kit, name),
      ),
      problems,
    };
  }

  /** The decisions of the log, for when the memory cannot be asked. */
  async decisions(problems: string[]): Promise<KitEntry[]> {
    const text = await textToRead(this.kit, DECISIONS_FILE, problems);
    if (text === undefined) return [];
    const tables = memoryTables((await textToRead(this.kit, MEMORIES_FILE, problems)) ?? '');
    const copies = typeof tables === 'string' ? [] : memoriesIn(tables, MEMORIES_FILE);
    return withAgents(decisionsIn(text, inProject(this.kit, DECISIONS_FILE)), copies);
  }

  async tracedDecisions(problems: string[]): Promise<(TraceLine & { source: string })[]> {
    const path = await tracePath(this.kit);
    const text = path === undefined ? undefined : await textToRead(this.kit, path, problems, this.kit.root);
    return traceIn(text ?? '')
      .filter(({ type }) => type === 'DECISION')
      .map((line) => ({ ...line, source: path ?? '' }));
  }

  /** The page of the last session as it is. */
  async sessionPage(problems: string[]): Promise<string | undefined> {
    return (await lastSession([this.#pages, ...this.#otherPages], problems))?.page;
  }

  projectName(): string {
    const name = textField(tableIn(tableOf(this.kit.page.value), 'project'), 'name')?.trim();
    return name ?? this.kit.app.replace(/^\w+-/, '');
  }

  /** A failure as a text to remember, for a project without a museum. */
  failureText(failure: NewFailure): Promise<string> {
    return failureText(this.kit, failure);
  }

  /** A text of somebody else's file as it may be shown. */
  shown(text: string): string {
    return shownText(text, this.#hide);
  }

  logFailure(failure: NewFailure): Promise<FailureWritten> {
    const safe = { ...failure };
    for (const name of ['title', 'happened', 'cause', 'impact', 'lesson', 'fix', 'rule'] as const) {
      const text = failure[name];
      if (text !== undefined) safe[name] = this.#safe(text);
    }
    return writeFailure(this.#withMemory('log_failure'), safe, new Date());
  }

  /** What a text is in and what it should be in, where it is plainly in another language than the project's. */
  otherLanguage(text: string): ReturnType<typeof otherLanguage> {
    return otherLanguage(this.kit, text);
  }

  /** The languages that the project sets for its documents and for what is said to its people. */
  languages(): ReturnType<typeof projectLanguages> {
    return projectLanguages(this.kit);
  }

  async logHandoff(given: {
    from: string;
    to: string;
    text: string;
    inbox: boolean;
  }): Promise<HandoffWritten & { request?: string }> {
    const kit = this.#pages;
    const now = new Date();
    const { from, to, inbox } = given;
    const handoff = { from, to, text: this.#safe(given.text) };
    if (this.keepsLines)
      return { files: [], ...(await handOver(await this.#view(), { ...handoff, inbox }, now)) };
    const written = await writeHandoff(kit, handoff, now);
    if (!given.inbox) return written;
    // An agent finds its requests by its tag.
    const agents = await this.agents();
    const tagOf = (name: string): string => agents.find(({ id }) => id === name)?.tag ?? name;
    const request = await writeRequest(kit, { from: tagOf(from), to: tagOf(to), text: handoff.text });
    return {
      ...written,
      request: request.id,
      added: written.added || request.added,
      files: [...written.files, ...request.files],
    };
  }

  async completeHandoff(id: string) {
    const lined = await finishHandoff(await this.#view(), id);
    if (lined !== undefined) return { id, files: [], ...lined };
    const idOf = agentIds(await this.agents());
    const complete = (pages: KitWithMemory) => completeHandoff(pages, id, idOf);
    for (const pages of this.#otherPages) if (await hasHandoff(pages, id)) return complete(pages);
    return complete(this.#pages);
  }

  async saveSession(session: SessionState & { agent: string }) {
    const kit = this.#pages;
    const texts = (list: readonly string[]): string[] => list.map((text) => this.#safe(text));
    return writeSession(
      kit,
      this.projectName(),
      {
        agent: session.agent,
        duration: session.duration,
        work: texts(session.work),
        files: texts(session.files),
        state: session.state === undefined ? undefined : this.#safe(session.state),
        next: session.next === undefined ? undefined : this.#safe(session.next),
        requests: texts(session.requests),
      },
      new Date(),
    );
  }

  /** Adds to the trace of a project that keeps one; one that cannot be written is a note, the thing itself is kept. */
  async trace(agent: string, type: string, text: string): Promise<{ files: string[]; notes: string[] }> {
    return appendTrace(this.kit, { agent, type, text: this.#safe(text) }, new Date()).then(
      (path) => ({ files: path === undefined ? [] : [path], notes: [] }),
      expected(({ message }) => ({ files: [], notes: [message] })),
    );
  }

  #safe(text: string): string {
    return secretsOut(text, this.#hide).text;
  }

  #withMemory(operation: string): KitWithMemory {
    const { kit } = this;
    if (kit.memory !== undefined) return { ...kit, memory: kit.memory };
    throw new BmadError('unavailable', t`${quoted(kit.root)} has no ${kit.folder}/_memory folder.`, {
      subject: operation,
      hint: t`It is written where the project's own tools read it. Create the folder ${kit.folder}/_memory first.`,
      steps: [
        {
          operation: 'remember_structured',
          open: ['type', 'agent', 'text'],
          why: t`Or remember it in the memory store`,
        },
      ],
    });
  }
}

export function openFacts(setup: FactsSetup): ProjectFacts {
  return new ProjectFacts(setup);
}
