import { dirname, join } from 'node:path';
import { once } from '../base/async.ts';
import { t } from '../base/text/message.ts';
import type { BuiltInModule } from '../model/module.ts';
import { folderTree, optionalText, rememberingTree, type Source, type Tree } from './tree.ts';
import { BmadError, shortageIn } from '../base/errors.ts';

/** The lowest rank of all, so that anything a project, a user or a team brings along wins over it. */
const METHOD_PRIORITY = 9;
/** After the method's own modules, which come first whatever else there is. */
const MODULES_PRIORITY = 9.1;

/** The BMAD content that is built into this package. The build writes its manifest the way BMAD's own installer does. */
export async function packageSource(contentRoot: string, maxFileBytes: number): Promise<Source> {
  const tree = rememberingTree(folderTree(contentRoot, maxFileBytes));
  const manifest = await tree.text('_config/manifest.yaml').catch((error: unknown) => {
    // Too few file handles are not missing content.
    const cause = error instanceof BmadError ? (error.cause ?? error) : error;
    if (shortageIn(cause) !== undefined) throw error;
    throw new BmadError('unavailable', t`The built-in BMAD content is missing.`, {
      hint: t`Reinstall the package, or run "npm run build" in a clone.`,
      cause: error,
    });
  });
  const bmadVersion = /^[ \t]+version: (\S+)$/m.exec(manifest)?.[1] ?? t`of an unknown version`;
  return {
    origin: {
      kind: 'package',
      displayName: t`BMAD ${bmadVersion} (built in)`,
      root: contentRoot,
      priority: METHOD_PRIORITY,
      bmadVersion,
    },
    tree,
    prepared: () => optionalText(folderTree(dirname(contentRoot), maxFileBytes), 'catalogue.json'),
  };
}

/**
 * One of BMAD's further modules, as an origin of its own with its own version. Files that a module has several times are stored once; which
 * file stands for which is read with the first of them.
 */
export function moduleSource(
  { code, version, name, description, repository }: BuiltInModule,
  place: number,
  contentRoot: string,
  maxFileBytes: number,
): Source {
  const beside = modulesFolder(contentRoot, maxFileBytes);
  const root = join(dirname(contentRoot), 'modules', code);
  const twins = once(async () => {
    const text = await optionalText(beside, `${code}.twins.json`);
    return new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, string>));
  });
  return {
    origin: {
      kind: 'package',
      displayName: t`${code.toUpperCase()} ${version} (built in)`,
      root,
      priority: MODULES_PRIORITY + place / 100,
      ...(repository === undefined ? {} : { repository }),
    },
    tree: rememberingTree(withTwins(folderTree(root, maxFileBytes), twins)),
    declared: [{ code, version, name, description }],
    prepared: () => optionalText(beside, `${code}.json`),
  };
}

/** A tree with further paths, each of which has the bytes of another. */
function withTwins(tree: Tree, twins: () => Promise<ReadonlyMap<string, string>>): Tree {
  return {
    ...tree,
    read: async (path) => tree.read((await twins()).get(path) ?? path),
    async files(path = '') {
      const below = path === '' ? '' : `${path}/`;
      const more = [...(await twins()).keys()].filter((each) => each.startsWith(below));
      return [...(await tree.files(path)), ...more].sort();
    },
  };
}

/** Beside the content: a folder for each module, what the readers made of it, and the list of them. */
const modulesFolder = (contentRoot: string, maxFileBytes: number): Tree =>
  folderTree(join(dirname(contentRoot), 'modules'), maxFileBytes);

/** BMAD's further modules that come with this package; nothing where it was built without them. */
export async function builtInModules(contentRoot: string, maxFileBytes: number): Promise<BuiltInModule[]> {
  const text = await optionalText(modulesFolder(contentRoot, maxFileBytes), 'modules.json');
  return text === undefined ? [] : (JSON.parse(text) as BuiltInModule[]);
}
