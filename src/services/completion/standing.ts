import { decidedOn, ruledOn, type TrustSetup } from './trust.ts';
import { shownCommands, type Programs } from './programs.ts';
import type { Receipt } from './receipts.ts';

/** Whether a run of the contract would verify anything now, and what stands in its way. */
export type Way =
  /** It may run these. */
  | { may: 'run'; commands: string[] }
  /** A person has to allow these first: nobody has, or what it runs has changed since. */
  | { may: 'ask'; commands: string[]; changed: boolean }
  /** The user's settings forbid it; where they say so. */
  | { may: 'never'; from: string }
  /** There is nothing that it could run. */
  | { may: 'nothing' };

/** What the last verification said, and whether there can be another. Nothing is run, and no files are compared. */
export interface VerifiedSoFar {
  /** The newest verdict that was given here; none where nothing was ever verified. */
  last: { status: 'PASS' | 'FAIL'; id: string; started: string } | undefined;
  way: Way;
}

/** The newest of the receipts that is a verdict: a run that could check nothing says nothing about the work. */
export function lastVerdict(
  receipts: readonly Receipt[],
  fromHere: (receipt: Receipt) => boolean,
): VerifiedSoFar['last'] {
  for (const receipt of receipts.toReversed()) {
    const { status, id, started } = receipt;
    if (status !== 'NOT_VERIFIED' && fromHere(receipt)) return { status, id, started };
  }
  return undefined;
}

export async function wayOf(programs: Programs, setup: TrustSetup): Promise<Way> {
  if (programs.commands.length === 0) return { may: 'nothing' };
  const { rule, from } = setup.trust;
  if (rule === 'never') return { may: 'never', from };
  const standing = ruledOn(programs, setup) ?? (await decidedOn(programs, setup));
  const commands = shownCommands(programs);
  return standing.allowed
    ? { may: 'run', commands }
    : { may: 'ask', commands, changed: standing.changed !== undefined };
}
