import { type Said, t } from '../../base/text/message.ts';
import { attempt, BmadError, quoted } from '../../base/errors.ts';
import { stripAddressCredentials } from '../../base/secrets/rules.ts';
import { nearest } from '../../base/text/suggest.ts';
import { parseGitAddress, type GitAddress } from '../../sources/git/address.ts';

/** Who named a source: on the command line, in the environment, in the project's file or in the user's own. */
export type SourceLayer = 'flag' | 'environment' | 'project' | 'user';

export interface GivenSource {
  value: string;
  layer: SourceLayer;
  /** The layer in words: the flag, the variable, the file. */
  from: Said;
}

export interface ConfiguredSource extends Omit<GivenSource, 'value'> {
  address: GitAddress;
  /** Known only from the user's lock file: a host or a variable names it elsewhere. */
  elsewhere?: true;
}

/**
 * Parses the sources. A malformed one produces a warning. A duplicate keeps its first rank; if a project and its user
 * both name a source, it is the user's: their consent and their pin apply.
 */
export function configuredSources(given: readonly GivenSource[]): {
  sources: ConfiguredSource[];
  warnings: string[];
} {
  const sources: ConfiguredSource[] = [];
  const warnings: string[] = [];
  for (const { value, layer, from } of given) {
    try {
      const address = parseGitAddress(value);
      const known = sources.find((other) => other.address.source === address.source);
      if (known === undefined) sources.push({ address, layer, from });
      else if (known.layer === 'project' && layer !== 'project')
        Object.assign(known, { address, layer, from });
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      warnings.push(t`${error.message} It is ignored (${from}).`);
    }
  }
  return { sources, warnings };
}

/** The source that is meant: as written, or by the name of its repository. */
export function chosenSource(name: string, sources: readonly ConfiguredSource[]): ConfiguredSource {
  const wanted = sourceOrName(name);
  const found = sources.filter(({ address }) => namesOf(address).includes(wanted));
  const exact = found.find(({ address }) => address.source === wanted);
  if (exact !== undefined) return exact;
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const all = sources.map(({ address }) => address.source);
  if (found.length > 1)
    throw new BmadError('ambiguous', t`${quoted(name)} is the name of ${found.length} git sources.`, {
      subject: name,
      hint: t`Write the full name of one: ${found.map(({ address }) => address.source).join(', ')}.`,
    });
  throw new BmadError('not_found', t`There is no git source ${quoted(wanted)}.`, {
    subject: wanted,
    suggestions: nearest(
      wanted,
      sources.flatMap(({ address }) => namesOf(address)),
    ),
    ...(all.length === 0
      ? { steps: [{ operation: 'sources_add', open: ['source'], why: t`Add one` }] }
      : { hint: t`Configured: ${all.join(', ')}.` }),
  });
}

function sourceOrName(name: string): string {
  return attempt(
    () => parseGitAddress(name).source,
    () => stripAddressCredentials(name),
  );
}

function namesOf({ source, org, repo, name, ref }: GitAddress): string[] {
  return [
    ...new Set([
      source,
      name,
      repo,
      `${org}/${repo}`,
      `${org.split('/').at(-1) ?? ''}/${repo}`,
      `${repo}#${ref}`,
    ]),
  ];
}
