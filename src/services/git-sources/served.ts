import { ago } from '../../base/text/text.ts';
import type { GitMount } from '../../sources/discover.ts';
import type { SourceView } from './view.ts';

/** What of the git sources is served now. */
export interface Served {
  mounts: GitMount[];
  warnings: string[];
  /** The sources that are not here. */
  absent: string[];
}

/** The content of these sources that is served, and notes about the rest. */
export function servedOf(
  views: readonly SourceView[],
  fetching: ReadonlySet<string>,
  troubles: ReadonlyMap<string, string>,
): Served {
  return {
    mounts: views.flatMap((view) => (view.served === undefined ? [] : [mountOf(view, view.served)])),
    warnings: views.flatMap((view) => {
      const { source } = view.address;
      const trouble = view.trouble ?? (view.served === undefined ? troubles.get(source) : undefined);
      return warningsOf(trouble === undefined ? view : { ...view, trouble }, fetching.has(source));
    }),
    absent: views.flatMap(({ served, address }) => (served === undefined ? [address.source] : [])),
  };
}

function mountOf({ address }: SourceView, { folder, commit }: { folder: string; commit: string }): GitMount {
  const { org, repo, ref, subpath, source } = address;
  const owner = org.split('/').at(-1) ?? '';
  const place = `${owner === '' ? '' : `${owner}/`}${repo}${ref === '' ? '' : `#${ref}`}${subpath === undefined ? '' : `:/${subpath}`}`;
  return { label: `${place}@${commit.slice(0, 8)}`, name: moduleName(address), folder, source, commit };
}

/** The folder's name says nothing where it is one of those that every repository has. */
function moduleName({ name, repo }: SourceView['address']): string {
  return /^(?:skills|src|agents|bmad|content|\..*)$/i.test(name) ? repo : name;
}

/** What a person should know about a source that is not simply served. */
function warningsOf(view: SourceView, fetching: boolean): string[] {
  const { address, served, pending, trouble, layer, sighting, relation } = view;
  const found: string[] = [];
  const again = `"bmad sources update${layer === 'flag' || layer === 'environment' ? ` --git ${address.source}` : ''}"`;
  if (served === undefined)
    found.push(
      fetching
        ? `${address.source} is being fetched and will be served when the fetch finishes.`
        : layer === 'project' && trouble === undefined
          ? `${address.source} is listed by the project and not on this machine yet. Fetch it with ${again}.`
          : `${address.source} is not served: ${trouble ?? 'it has not been fetched yet.'} Try again with ${again}.`,
    );
  else if (trouble !== undefined)
    found.push(
      `${address.source} is served from the copy of ${ago(sighting?.checkedAt ?? served.fetchedAt, Date.now())}: ${trouble}`,
    );
  if (pending !== undefined && served !== undefined)
    found.push(
      `${address.source} has changes that wait for your approval${relation === undefined || relation === 'continued' ? '' : ` (${relation})`}: "bmad sources diff", then "bmad sources approve".`,
    );
  return found;
}
