import { t } from '../../base/text/message.ts';
import type { Step } from '../../base/step.ts';
import { ago } from '../../base/text/text.ts';
import type { GitMount } from '../../sources/discover.ts';
import type { SourceView } from './view.ts';

export interface Served {
  mounts: GitMount[];
  warnings: string[];
  /** What a person can do about them. */
  steps: Step[];
  absent: string[];
}

/** The content of these sources that is served, and notes about the rest. */
export function servedOf(
  views: readonly SourceView[],
  fetching: ReadonlySet<string>,
  troubles: ReadonlyMap<string, string>,
): Served {
  const said = views.map((view) => {
    const { source } = view.address;
    const trouble = view.trouble ?? (view.served === undefined ? troubles.get(source) : undefined);
    return warningsOf(trouble === undefined ? view : { ...view, trouble }, fetching.has(source));
  });
  return {
    mounts: views.flatMap((view) => (view.served === undefined ? [] : [mountOf(view, view.served)])),
    warnings: said.flatMap(({ warnings }) => warnings),
    steps: said.flatMap(({ steps }) => steps),
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
function warningsOf(view: SourceView, fetching: boolean): Pick<Served, 'warnings' | 'steps'> {
  const { address, served, pending, trouble, layer, sighting, relation } = view;
  const { source } = address;
  const warnings: string[] = [];
  const steps: Step[] = [];
  if (served === undefined && fetching)
    warnings.push(t`${source} is being fetched and will be served when the fetch finishes.`);
  else if (served === undefined) {
    warnings.push(
      layer === 'project' && trouble === undefined
        ? t`${source} is listed by the project and not on this machine yet.`
        : t`${source} is not served: ${trouble ?? t`it has not been fetched yet.`}`,
    );
    // A source that no file lists is only known to a program that is given it.
    const given = layer === 'flag' || layer === 'environment' ? t`, with --git ${source}` : '';
    steps.push({ operation: 'sources_update', why: t`Fetch it${given}` });
  } else if (trouble !== undefined)
    warnings.push(
      t`${source} is served from the copy of ${ago(sighting?.checkedAt ?? served.fetchedAt, Date.now())}: ${trouble}`,
    );
  if (pending !== undefined && served !== undefined) {
    const how = relation === undefined || relation === 'continued' ? '' : ` (${relation})`;
    warnings.push(t`${source} has changes that wait for your approval${how}.`);
    steps.push({ operation: 'sources_diff', why: t`See the changes` });
  }
  return { warnings, steps };
}
