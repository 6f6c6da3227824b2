import { plural, say, t } from '../../base/text/message.ts';
import { isListed, type RecordKind } from '../../model/record.ts';
import type { Workspace } from '../context.ts';

/** Why there are no tasks, as far as that can be said: without content there is nothing to say about its version. */
export function noTasks({ catalogue }: Workspace): { note?: string } {
  return catalogue.winners.some(({ format }) => format === 'skill')
    ? { note: t`This version of BMAD has no tasks: former tasks are now workflows and skills.` }
    : {};
}

const WHERE_LOOKED: Record<string, string> = {
  local: 'No BMAD content was found: discovery is "local", so only the project itself is looked at.',
  user: 'No BMAD content was found: discovery is "user", so only the folders of the user are looked at.',
  strict: 'No BMAD content was found: discovery is "strict", so only git sources are used.',
};

/** What to say of a list that is empty because nothing was found at all. */
export function noContent({ catalogue }: Workspace, discovery: string): string | undefined {
  if (catalogue.winners.length > 0) return undefined;
  return say(WHERE_LOOKED[discovery] ?? 'No BMAD content was found.');
}

/** `3 in analysis, 2 in planning`. */
export function countsIn(counts: Partial<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([category, count]) => t`${count ?? 0} in ${say(category)}`)
    .join(', ');
}

/** How much of each of these kinds a module offers. */
export function contentsOf(
  code: string,
  kinds: readonly RecordKind[],
  { winners }: Workspace['catalogue'],
): string {
  const own = winners.filter((record) => record.moduleName === code && isListed(record));
  return kinds
    .flatMap((kind) => {
      const count = own.filter((record) => record.kind === kind).length;
      return count === 0
        ? []
        : [kind === 'knowledge' ? t`${count} pieces of knowledge` : plural(count, kind)];
    })
    .join(', ');
}
