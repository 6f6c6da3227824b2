import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { onceForAll } from '../../base/async.ts';
import { modifiedInside, pathExists, realFolder } from '../../base/files/files.ts';
import { readKitAgents, type KitAgent, learningsFiles, learningsIn } from '../agents.ts';
import { decisionsIn, TracedDecisions, withAgents } from './decisions.ts';
import {
  DECISIONS_FILE,
  type KitEntry,
  type KitReading,
  MEMORIES_FILE,
  memoriesIn,
  memoryTables,
  emptyPage,
  SHARED_CONTEXT_FILE,
  sharedContextIn,
} from './entries.ts';
import { failuresIn, loggedFailures, MUSEUM_FILE, MUSEUM_LOG } from '../museum/museum.ts';
import { projectPages, inProject, type Kit } from '../kit.ts';
import { textToRead } from '../text.ts';
import { type Handoff, HANDOFF_FILE, handoffsIn } from '../session/handoffs.ts';

/** Everything in the project's own memory files that can be recalled, read again when a file has changed. */
export class KitFiles {
  readonly kit: Kit;
  readonly #traced: TracedDecisions;
  readonly #lined: () => Promise<readonly Handoff[]>;
  #known:
    | { stamp: string; traced: KitReading; lined: object; reading: KitReading; agents: readonly KitAgent[] }
    | undefined;

  /** `lined` has the hand-offs that are in no file; the same list for as long as none has come. */
  constructor(kit: Kit, lined: () => Promise<readonly Handoff[]> = () => Promise.resolve(NONE)) {
    this.kit = kit;
    this.#lined = lined;
    this.#traced = new TracedDecisions(kit);
  }

  async agents(): Promise<readonly KitAgent[]> {
    return this.#known?.agents ?? readKitAgents(this.kit);
  }

  readonly read = onceForAll(() => this.#read());

  async #read(): Promise<KitReading> {
    const kit = await this.#pages();
    const traced = await this.#traced.read();
    const lined = await this.#lined();
    const unread: string[] = [];
    const learnings = kit.memory === undefined ? [] : await learningsFiles(kit, unread);
    const paths = [
      SHARED_CONTEXT_FILE,
      DECISIONS_FILE,
      MUSEUM_FILE,
      MUSEUM_LOG,
      MEMORIES_FILE,
      HANDOFF_FILE,
      ...learnings.map(({ path }) => path),
    ];
    const { memory } = kit;
    const times = await Promise.all(
      paths.map(async (path) => {
        if (memory === undefined) return '-';
        return (
          (await modifiedInside(memory, path)) ?? ((await pathExists(join(memory, path))) ? 'astray' : '-')
        );
      }),
    );
    const stamp = [...unread, ...paths.map((path, index) => `${path}@${times[index]}`)].join('|');
    if (this.#known?.stamp === stamp && this.#known.traced === traced && this.#known.lined === lined)
      return this.#known.reading;
    const agents = await readKitAgents(kit);
    const reading = await this.#readAnew(
      kit,
      learnings,
      agents,
      [...unread, ...traced.problems],
      [...lined.map((each) => handedOver(each, 'handoffs')), ...traced.entries],
    );
    this.#known = { stamp, traced, lined, reading, agents };
    return reading;
  }

  /** The project's files are read also where its state is kept with the user. */
  async #pages(): Promise<Kit> {
    const { kit } = this;
    if (kit.memory !== undefined || kit.astray.has('pages')) return kit;
    const pages = projectPages(kit);
    return (await realFolder(pages.memory)) === undefined ? kit : pages;
  }

  async #readAnew(
    kit: Kit,
    learnings: readonly { path: string; owner: string }[],
    agents: readonly KitAgent[],
    unread: readonly string[],
    traced: readonly KitEntry[],
  ): Promise<KitReading> {
    const problems = [...kit.problems, ...unread];
    const entries: KitEntry[] = [];
    const take = async (
      path: string,
      parse: (text: string, source: string) => KitEntry[],
    ): Promise<boolean> => {
      const text = await textToRead(kit, path, problems);
      if (text === undefined) return false;
      entries.push(...parse(text, inProject(kit, path)));
      return true;
    };
    await take(SHARED_CONTEXT_FILE, (text, source) => {
      problems.push(...emptyPage(text, source));
      return sharedContextIn(text, source);
    });
    await take(DECISIONS_FILE, decisionsIn);
    await take(HANDOFF_FILE, (text, source) =>
      handoffsIn(text).map((each) => handedOver(each, source, each.line)),
    );
    for (const { path, owner } of learnings)
      await take(path, (text, source) => learningsIn(text, owner, source, agents));
    const logged = await take(MUSEUM_LOG, (text, source) => loggedFailures(text, source, problems));
    await take(MUSEUM_FILE, (text, source) => failuresIn(text, source, logged));
    await take(MEMORIES_FILE, (text, source) => {
      const tables = memoryTables(text);
      if (typeof tables !== 'string') return memoriesIn(tables, source);
      problems.push(t`${source} was left unchanged: ${tables}.`);
      return [];
    });
    entries.push(...traced);
    return { entries: withAgents(entries.filter(({ text }) => text.trim() !== '')), problems };
  }
}

/** Work that was handed over, open or done: its row is often the only place that names a story. */
function handedOver({ date, from, to, text, done }: Handoff, source: string, line?: number): KitEntry {
  return {
    type: 'shared-context',
    agent: from,
    names: [from],
    text: `${from} → ${to}: ${text} ${done ? '✅' : '⏳'}`,
    tags: ['handoff'],
    date: date.slice(0, 10),
    source,
    line,
  };
}

const NONE: readonly Handoff[] = [];
