import { posix } from 'node:path';
import { orElse } from '../../base/expected.ts';
import type { Workspace } from '../context.ts';

interface Text {
  folder: string;
  path: string;
}

/** A path, and the folder of the text that says where it is. */
interface Place {
  path: string;
  folder?: string;
}

/** A name may stand for another one, and that for a third. */
const MOST_NAMES = 4;

/**
 * What a text means by `{template_path}` or `{workflow_path}/steps/x.md`, where it or the workflow it belongs to says so
 * itself: in its front matter, or in a line such as "`template_path` = `{installed_path}/template.md`". Any other path
 * stays as it is.
 */
export async function placeNamed(
  written: string,
  texts: readonly Text[],
  workspace: Workspace,
): Promise<Place> {
  let place: Place = { path: written };
  let contents: Awaited<ReturnType<typeof contentsOf>> | undefined;
  for (let count = 0; count < MOST_NAMES; count += 1) {
    const [whole, name] = /^\{([\w-]{1,60})\}(?=\/|$)/.exec(place.path) ?? [];
    if (whole === undefined || name === undefined) break;
    contents ??= await contentsOf(texts, workspace);
    const found = contents.flatMap(({ folder, text }) => {
      const value = valueIn(text, name);
      return value === undefined ? [] : [{ folder, value }];
    })[0];
    if (found === undefined) break;
    place = { path: found.value + place.path.slice(whole.length), folder: found.folder };
  }
  return place;
}

/** The texts, and for each that is a step the workflow above it. */
async function contentsOf(texts: readonly Text[], { delivery }: Workspace) {
  const known = new Set((await delivery.paths()).map(({ path }) => path));
  const paths = texts.flatMap(({ folder, path }) => [
    path,
    ...[folder, posix.dirname(folder)]
      .flatMap((above) => [`${above}/workflow.md`, `${above}/workflow.yaml`])
      .filter((each) => known.has(each)),
  ]);
  return Promise.all(
    [...new Set(paths)].map(async (path) => {
      const file = await delivery.file(path).catch(orElse(undefined));
      return { folder: posix.dirname(path), text: file?.text ?? '' };
    }),
  );
}

/** What a text says a name stands for, if that is a path. */
function valueIn(text: string, name: string): string | undefined {
  const head = /^---\r?\n([^]*?)\r?\n---/.exec(text)?.[1] ?? '';
  for (const line of [...head.split('\n'), ...text.split('\n')]) {
    if (!line.includes(name)) continue;
    const [, key, value] =
      /^([\w-]{1,60}): {0,9}["']?([\w./{}-]{1,300})["']?$/.exec(line.trimEnd()) ??
      /^(?:[-*] )?`([\w-]{1,60})` = `([\w./{}-]{1,300})`/.exec(line.trim()) ??
      [];
    if (key === name && value !== undefined && value.includes('/')) return value;
  }
  return undefined;
}
