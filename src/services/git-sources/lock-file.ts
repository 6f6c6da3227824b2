import { t } from '../../base/text/message.ts';
import { attempt, orElse } from '../../base/expected.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { parseGitAddress, type GitAddress } from '../../sources/git/address.ts';

/** The version of a source that is approved: exactly this commit, with exactly this content. */
export interface Pin {
  commit: string;
  digest: string;
  /** What kind of ref it was when it was approved: a different kind of the same name does not continue it. */
  kind?: string;
}

export type Pins = Readonly<Record<string, Pin>>;

const FORMAT = 1;
const BUSY_MS = 10_000;

/** The pins in a lock file; none if there is no file. A damaged file is reported and left unchanged. */
export async function readPins(file: string, inside?: string): Promise<Pins> {
  const text = await readState(file, { inside, follow: true });
  if (text === undefined) return {};
  const { version, sources } = jsonObject(text) ?? {};
  if (version === FORMAT && typeof sources === 'object' && sources !== null && !Array.isArray(sources)) {
    const pins = Object.entries(sources as Record<string, Partial<Pin>>);
    if (pins.every(([, pin]) => isPin(pin))) return Object.fromEntries(pins) as Record<string, Pin>;
  }
  throw new BmadError('unavailable', t`The lock file ${file} is not valid; its git sources are not served.`, {
    subject: file,
    hint: t`Restore it from version control, or delete it and pin the sources again.`,
    steps: [{ operation: 'sources_update', why: t`Pin the sources again` }],
  });
}

function isPin(pin: unknown): pin is Pin {
  const { commit, digest } = (pin ?? {}) as Partial<Pin>;
  return /^[0-9a-f]{40,64}$/.test(commit ?? '') && /^sha256:[0-9a-f]{64}$/.test(digest ?? '');
}

/** Changes the pins in a lock file while no other process does. The order is fixed, so that files can be compared. */
export async function changePins(
  file: string,
  guard: string,
  change: (pins: Record<string, Pin>) => void,
  inside?: string,
): Promise<void> {
  await withLock(guard, { waitMs: BUSY_MS }, async () => {
    const pins = { ...(await readPins(file, inside)) };
    const before = JSON.stringify(pins);
    change(pins);
    if (JSON.stringify(pins) === before) return;
    const sources = Object.fromEntries(Object.entries(pins).sort(([a], [b]) => (a < b ? -1 : 1)));
    await writeAtomic(file, `${JSON.stringify({ version: FORMAT, sources }, null, 2)}\n`, { inside });
  });
}

export function parsedOr(text: string): GitAddress | undefined {
  return attempt(() => parseGitAddress(text), orElse(undefined));
}
