import { modifiedInside, readInside, realFolder } from '../../base/files/files.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { unlessMissing } from '../../base/expected.ts';
import { NOBODY } from './decisions.ts';
import type { KitEntry, KitReading } from './entry.ts';
import { lineText } from './line-files.ts';
import type { Kit } from '../kit.ts';
import { textToRead } from '../kit-text.ts';
import { traceIn, tracePath, type TraceLine } from '../session/trace.ts';
import { utf8Text } from '../utf8.ts';

const MAX_BYTES = 20_000_000;

/** Also `DECISION:arch`, as some types have a kind. */
const isDecision = ({ type, text }: TraceLine): boolean =>
  /^DECISION(?::|$)/.test(type) && text.trim() !== '';

/** The decisions of a trace as something to recall. An agent is there with its name: `dev/Amelia`. */
function tracedIn(text: string, source: string): KitEntry[] {
  return traceIn(text)
    .filter(isDecision)
    .map(({ date, agent = NOBODY, text: told, line }) => {
      const names = agent.split('/').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
      const [who = NOBODY] = names;
      return {
        type: 'decisions',
        agent: who,
        names: [who, ...names],
        text: told.trim(),
        tags: [],
        date,
        source,
        line,
      };
    });
}

/** What a trace says was decided. It grows with every step of the work, and most of what is added is something else. */
export class TracedDecisions {
  readonly #kit: Kit;
  #stamp: string | undefined;
  #known: KitReading = { entries: [], problems: [] };

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  /** The same object for as long as it says the same. */
  async read(): Promise<KitReading> {
    const path = await tracePath(this.#kit);
    const stamp = path === undefined ? '' : `${path}@${(await modifiedInside(this.#kit.root, path)) ?? ''}`;
    if (this.#stamp === stamp) return this.#known;
    const problems: string[] = [];
    const text = path === undefined ? undefined : await textToRead(this.#kit, path, problems, this.#kit.root);
    const next = { entries: tracedIn(text ?? '', path ?? ''), problems };
    if (JSON.stringify(next) !== JSON.stringify(this.#known)) this.#known = next;
    this.#stamp = stamp;
    return this.#known;
  }
}

/** Takes decisions out of the trace. Nobody does that but who removes a memory for good, and asked for it. */
export async function dropTraced(kit: Kit, texts: readonly string[]): Promise<string | undefined> {
  const path = await tracePath(kit);
  if (path === undefined) return undefined;
  const root = (await realFolder(kit.root)) ?? kit.root;
  const bytes = await readInside(root, path, MAX_BYTES).catch(unlessMissing);
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  if (text === undefined) return undefined;
  const wanted = new Set(texts.map(lineText));
  const gone = new Set(
    traceIn(text)
      .filter((line) => isDecision(line) && wanted.has(lineText(line.text)))
      .map(({ line }) => line),
  );
  if (gone.size === 0) return undefined;
  const rest = text.split('\n').filter((_, index) => !gone.has(index + 1));
  await replaceShared(root, path, rest.join('\n'));
  return path;
}
