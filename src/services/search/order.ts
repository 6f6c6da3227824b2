import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { SearchHit } from './shelf.ts';

/** So well a hit of a module that lists leave out has to fit, alone and beside the best other, to come before it. */
const SURE = 0.9;
const CLEARLY = 1.2;
/** What its score counts for otherwise. */
const BEHIND = 0.8;

/**
 * The hits of the method and of what is installed, as they are without the further built-in modules, and those of these
 * modules among them. One of these comes first only where it fits clearly better: whoever asks for a developer has no
 * game in mind.
 */
export function methodFirst(
  own: readonly SearchHit[],
  all: readonly SearchHit[],
  { beside }: Catalogue,
): SearchHit[] {
  const isBeside = ({ record }: SearchHit): boolean => beside.has(record.origin);
  const best = Math.max(0, ...all.flatMap((hit) => (isBeside(hit) ? [] : [hit.score])));
  const isAhead = ({ score, weak }: SearchHit): boolean => !weak && score >= SURE && score >= best * CLEARLY;
  const further = all.filter(isBeside);
  const merged = further.filter((hit) => own.length === 0 || isAhead(hit));
  const behind = further.filter((hit) => !merged.includes(hit));
  const fits = (hit: SearchHit): boolean => {
    const [next] = behind;
    return next !== undefined && next.score * BEHIND > hit.score && (hit.weak || !next.weak);
  };
  /** The score that is shown is the one that has put it there. */
  const follow = (hit: SearchHit): void => {
    merged.push({ ...hit, score: Math.min(hit.score * BEHIND, merged.at(-1)?.score ?? hit.score) });
  };
  for (const [place, hit] of own.entries()) {
    // The first place is taken by what fits clearly better, or by none of them.
    if (place > 0) while (fits(hit)) behind.splice(0, 1).forEach(follow);
    merged.push(hit);
  }
  behind.forEach(follow);
  return merged;
}

/**
 * Hits in a project that has BMAD in another version than the built-in one: its own come first, and nothing is offered
 * beside what the project does in a way of its own. Weak hits stay behind those that are not.
 */
interface OwnFirst {
  /** What has the name that was typed; a workflow that version 4 has as a command becomes the agent that has it. */
  named(hits: readonly SearchHit[]): SearchHit[];
  found(hits: readonly SearchHit[]): SearchHit[];
}

const AS_THEY_ARE: OwnFirst = { named: (hits) => [...hits], found: (hits) => [...hits] };

export function ownFirst(catalogue: Catalogue, isWanted: (record: BmadRecord) => boolean): OwnFirst {
  const { aside, winners } = catalogue;
  const isAside = ({ origin }: BmadRecord): boolean => origin === aside;
  // Whoever asks for a module that only the built-in version has means that version.
  if (aside === undefined || !winners.some((record) => isWanted(record) && !isAside(record)))
    return AS_THEY_ARE;
  const order = (hits: readonly SearchHit[]): SearchHit[] => [
    ...hits.filter(({ record }) => !isAside(record)),
    ...hits.filter(({ record }) => isAside(record)),
  ];
  return {
    named: (hits) =>
      order(
        hits.flatMap((hit) => {
          const command = catalogue.commandInsteadOf(hit.record);
          if (command === undefined) return [hit];
          const why = (): string => `its command *${command.command}`;
          return isWanted(command.agent) ? [{ ...hit, record: command.agent, why }] : [];
        }),
      ),
    found: (hits) => {
      const offered = hits.filter(({ record }) => catalogue.commandInsteadOf(record) === undefined);
      return [...order(offered.filter(({ weak }) => !weak)), ...order(offered.filter(({ weak }) => weak))];
    },
  };
}
