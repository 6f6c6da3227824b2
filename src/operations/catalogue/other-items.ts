import { contentUri } from '../../base/files/paths.ts';
import { globMatcher } from '../../base/text/glob.ts';
import { withoutHidden } from '../../base/text/hidden.ts';
import type { Workspace } from '../context.ts';
import { besides, entriesOf, LISTED_KINDS, type Entries, type ItemFilters } from './list-items.ts';
import { contentsOf } from './listed-words.ts';

// What is listed and is no record: modules and files.

export function moduleItems({ catalogue }: Workspace, { module, version: wanted }: ItemFilters): Entries {
  const modules = catalogue.modules.filter(
    ({ code, version, origin }) =>
      (origin !== catalogue.aside || module !== undefined || wanted !== undefined) &&
      (module === undefined || code === module) &&
      (wanted === undefined || version?.startsWith(wanted) === true),
  );
  return {
    entries: entriesOf(
      modules.map(({ code, name, description, version, origin }) => ({
        name: code,
        kind: 'module',
        title: version === undefined ? name : `${name} ${version}`,
        description: [description, contentsOf(code, Object.values(LISTED_KINDS), catalogue)]
          .filter(Boolean)
          .join('; '),
        origin: origin.displayName,
      })),
    ),
  };
}

export async function resourceItems(
  { delivery, catalogue }: Workspace,
  { module, pattern }: ItemFilters,
  ofOrigin: boolean,
): Promise<Entries> {
  const matches = pattern === undefined ? () => true : globMatcher(pattern.replace(/^bmad:\/\//, ''));
  // What the server makes itself is of no origin.
  const all = ofOrigin
    ? [...(await catalogue.files.all())].map(([path, { displayName }]) => ({
        path,
        mimeType: delivery.mimeTypeOf(path),
        origin: displayName,
      }))
    : await delivery.paths();
  const everywhere = all.filter(
    ({ path }) => matches(path) && (module === undefined || path.startsWith(`${module}/`)),
  );
  const { aside } = catalogue;
  const isNamed = module !== undefined || pattern !== undefined;
  const meant =
    isNamed && everywhere.every(({ origin }) => origin === aside?.displayName) ? undefined : aside;
  const paths = everywhere.filter(({ origin }) => origin !== meant?.displayName);
  return {
    ...besides(everywhere.length - paths.length, meant),
    entries: paths.map(({ path, mimeType, origin }) => ({
      origin,
      item: () => ({
        name: withoutHidden(path),
        kind: 'resource',
        description: mimeType,
        uri: contentUri(path),
        origin,
      }),
    })),
  };
}
