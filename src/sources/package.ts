import { t } from '../base/text/message.ts';
import { dirname } from 'node:path';
import { BmadError, shortageIn } from '../base/errors.ts';
import { folderTree, optionalText, rememberingTree, type Source } from './tree.ts';

const PRIORITY = 9;

/**
 * The BMAD content that is built into this package. It has the lowest rank, so that anything a project, a user or a
 * team brings along wins over it. The build writes its manifest the way BMAD's own installer does.
 */
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
      priority: PRIORITY,
      bmadVersion,
    },
    tree,
    prepared: () => optionalText(folderTree(dirname(contentRoot), maxFileBytes), 'catalogue.json'),
  };
}
