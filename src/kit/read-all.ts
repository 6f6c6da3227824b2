import { BmadError } from '../base/errors.ts';
import { modifiedInside, readInside } from '../base/files.ts';
import { readKitAgents, type KitAgent } from './agents.ts';
import { DECISIONS_FILE, decisionsIn } from './decisions.ts';
import type { KitEntry, KitReading } from './entry.ts';
import { failuresIn, loggedFailures, MUSEUM_FILE, MUSEUM_LOG } from './failures.ts';
import { inProject, type Kit } from './kit.ts';
import { learningsFiles, learningsIn } from './learnings.ts';
import { MEMORIES_FILE, memoriesIn, memoryTables } from './memories-json.ts';
import { SHARED_CONTEXT_FILE, sharedContextIn } from './shared-context.ts';
import { utf8Text } from './utf8.ts';

const MAX_BYTES = 20_000_000;

/** Everything in the project's own memory files that can be recalled, read again when a file has changed. */
export class KitFiles {
  readonly kit: Kit;
  #known: { stamp: string; reading: KitReading; agents: KitAgent[] } | undefined;

  constructor(kit: Kit) {
    this.kit = kit;
  }

  async agents(): Promise<readonly KitAgent[]> {
    return this.#known?.agents ?? readKitAgents(this.kit);
  }

  async read(): Promise<KitReading> {
    const { kit } = this;
    if (kit.memory === undefined) return { entries: [], problems: [...kit.problems] };
    const learnings = await learningsFiles(kit);
    const paths = [
      SHARED_CONTEXT_FILE,
      DECISIONS_FILE,
      MUSEUM_FILE,
      MUSEUM_LOG,
      MEMORIES_FILE,
      ...learnings.map(({ path }) => path),
    ];
    const memory = kit.memory;
    const times = await Promise.all(paths.map((path) => modifiedInside(memory, path)));
    const stamp = paths.map((path, index) => `${path}@${times[index] ?? '-'}`).join('|');
    if (this.#known?.stamp === stamp) return this.#known.reading;
    const agents = await readKitAgents(kit);
    const reading = await this.#readAnew(memory, learnings, agents);
    this.#known = { stamp, reading, agents };
    return reading;
  }

  async #readAnew(
    memory: string,
    learnings: readonly { path: string; owner: string }[],
    agents: readonly KitAgent[],
  ): Promise<KitReading> {
    const problems = [...this.kit.problems];
    const entries: KitEntry[] = [];
    const take = async (
      path: string,
      parse: (text: string, source: string) => KitEntry[],
    ): Promise<boolean> => {
      const text = await textOf(this.kit, memory, path, problems);
      if (text === undefined) return false;
      entries.push(...parse(text, inProject(this.kit, path)));
      return true;
    };
    await take(SHARED_CONTEXT_FILE, sharedContextIn);
    await take(DECISIONS_FILE, decisionsIn);
    for (const { path, owner } of learnings)
      await take(path, (text, source) => learningsIn(text, owner, source, agents));
    const logged = await take(MUSEUM_LOG, (text, source) => loggedFailures(text, source, problems));
    await take(MUSEUM_FILE, (text, source) => failuresIn(text, source, logged));
    await take(MEMORIES_FILE, (text, source) => {
      const tables = memoryTables(text);
      if (typeof tables !== 'string') return memoriesIn(tables, source);
      problems.push(`${source} is left as it is: ${tables}.`);
      return [];
    });
    return { entries: entries.filter(({ text }) => text.trim() !== ''), problems };
  }
}

async function textOf(
  kit: Kit,
  memory: string,
  path: string,
  problems: string[],
): Promise<string | undefined> {
  try {
    const bytes = await readInside(memory, path, MAX_BYTES);
    const text = utf8Text(bytes);
    if (text === undefined)
      problems.push(
        `${inProject(kit, path)} is not UTF-8: some letters cannot be read, nothing is written to it.`,
      );
    // Most words of an older encoding are readable all the same, and worth finding.
    return (text ?? bytes.toString('utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    if (error.code !== 'not_found') problems.push(error.message);
    return undefined;
  }
}
