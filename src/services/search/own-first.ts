import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { SearchHit } from './shelf.ts';

/**
 * Hits in a project that has BMAD in another version than the built-in one: its own come first, and nothing is offered
 * beside what the project does in a way of its own. Weak hits stay behind those that are not.
 */
export interface OwnFirst {
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
