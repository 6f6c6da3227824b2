import { orElse } from '../../base/expected.ts';
import type { StatePort, Workspace } from '../context.ts';

/** Work on stories that other versions of BMAD have under another name. */
const MOVED = /`(?:bmad-)?((?:dev|create)-story|quick-dev)`/g;

/**
 * What is to be known of a file that is read byte for byte: that nothing has to be run at its end, and who does here what it
 * calls by the name of another version.
 */
export async function stepAsides(
  path: string,
  text: string,
  { delivery, catalogue }: Workspace,
  context: StatePort,
  project: string | undefined,
): Promise<string[]> {
  const asides: string[] = [];
  if (text.includes('--key workflow.on_complete') && (await delivery.hasEmptyEnd(path)))
    asides.push('Nothing has to be run at its end: `workflow.on_complete` is empty.');
  const names = new Set([...text.matchAll(MOVED)].map(([, name = '']) => name));
  if (names.size === 0) return asides;
  const progress = await context
    .state(project)
    .then((state) => state.progress())
    .catch(orElse(undefined));
  for (const name of names) {
    const worker = progress?.workerInstead(catalogue, name);
    if (worker !== undefined && worker !== name && worker !== `bmad-${name}`)
      asides.push(`What it calls \`${name}\` is \`${worker}\` here.`);
  }
  return asides;
}
