import { posix } from 'node:path';
import { BmadError, orElse, quoted } from '../../base/errors.ts';
import { contentUri, fromProject, otherEndings } from '../../base/files/paths.ts';
import { t } from '../../base/text/message.ts';
import { cut } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Workspace } from '../context.ts';

/** All that can be read, by its path. */
type Listing = Awaited<ReturnType<Workspace['delivery']['paths']>>;

/** BMAD's own folder. */
const ROOT = /^\{(?:bmad_folder|_bmad|root)\}\//;
/** Any other placeholder stands for a folder that belongs to the text: `{installed_path}`, `{workflow_path}`. */
const PLACEHOLDER = /^\{[\w-]+\}\//;
const RELATIVE = /^\.{1,2}\//;

/**
 * A path as a text of BMAD writes it, as the address it has here: `{project-root}/_bmad/bmm/config.yaml`, or
 * `./steps/step-01.md` beside the agent or workflow that the call names. What is not understood stays as it is; everything
 * is checked like any other path afterwards.
 */
export async function resolvePath(
  target: string,
  of: BmadRecord | undefined,
  workspace: Workspace,
): Promise<string> {
  const isAddress = /^[a-z]+:\/\/(?!\{|%7B)/i.test(target);
  if (!isAddress && !/[/.{]/.test(target)) return target;
  const known = await workspace.delivery.paths();
  return withEnding(
    isAddress ? stepsResolved(target, known) : await spokenPath(target, of, workspace, known),
    known,
  );
}

async function spokenPath(
  target: string,
  of: BmadRecord | undefined,
  workspace: Workspace,
  known: Listing,
): Promise<string> {
  const spoken = target
    .trim()
    .replace(/^bmad:\/\/%7B([\w-]{1,60})%7D/i, '{$1}')
    .replace(/^bmad:\/\/(?=\{)/, '');
  const { path: written, folder: named } = await placeNamed(spoken, of, workspace, known);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written) || written.includes('\\')) return target;
  const inProject = withoutRoot(written, workspace);
  if (inProject !== written) return inProject;
  const isBeside = RELATIVE.test(written) || PLACEHOLDER.test(written);
  if (!isBeside && (known.has(written) || !/\/|\.\w{2,5}$/.test(written))) return target;
  const rest = written.replace(PLACEHOLDER, '');
  const folders = [named, of && posix.dirname(of.bmadRelativePath)].filter((folder) => folder !== undefined);
  for (const folder of folders) {
    const found = besideOrAbove(folder, rest, known);
    if (found !== undefined) return contentUri(await asRendered(found, of, workspace));
  }
  const like = isBeside ? endingWith(rest, folders, workspace, known) : [];
  if (like.length > 0) throw unplaced(target, rest, like);
  return target;
}

/** The files of a workflow that is delivered rendered are meant as that has them. */
async function asRendered(
  path: string,
  of: BmadRecord | undefined,
  { delivery }: Workspace,
): Promise<string> {
  const folder = of === undefined ? '' : `${posix.dirname(of.bmadRelativePath)}/`;
  if (of === undefined || !path.startsWith(folder)) return path;
  const own = `rendered/${of.name}/${path.slice(folder.length)}`;
  return delivery.file(own).then(() => own, orElse(path));
}

/**
 * `bmad://core/tasks/../templates/x.yaml`, as one gets it who puts the path of a text behind the folder it is from, is the
 * file it leads to, if that is one that is served; anything else stays as it is, and is refused.
 */
function stepsResolved(uri: string, known: Listing): string {
  const [, written = ''] = /^bmad:\/\/([^%\\]{1,1024})$/i.exec(uri) ?? [];
  if (!/(?:^|\/)\.{1,2}\//.test(written)) return uri;
  const path = posix.normalize(written);
  return known.has(path) ? contentUri(path) : uri;
}

/** A path from the folder of the project or of BMAD; the very folders may be written out. */
function withoutRoot(written: string, { project, catalogue }: Workspace): string {
  const roots = [project.root, ...catalogue.sources.map(({ origin }) => origin.root)];
  const root = roots.find((folder) => folder !== undefined && written.startsWith(`${folder}/`));
  if (root !== undefined) return written.slice(root.length + 1);
  return fromProject(written).replace(ROOT, '');
}

/** Texts often leave out what a file name ends in. */
const ENDINGS = ['', '.md', '.yaml', '.yml', '.csv', '.xml'];

/** Texts name files from their own folder, from that of their workflow, or from the top of their module. */
function besideOrAbove(folder: string, path: string, known: Listing): string | undefined {
  for (let at = folder; ; at = posix.dirname(at)) {
    const candidate = posix.join(at, path);
    const found = ENDINGS.map((ending) => candidate + ending).find((name) => known.has(name));
    if (found !== undefined) return found;
    if (at === '.' || at === '/') return undefined;
  }
}

const SHOWN = 3;

/**
 * Files that a relative path could mean, whatever text it is from: those nearest to what was given first. What is built in
 * is of another version than what the project has, and only meant where that has none.
 */
function endingWith(
  rest: string,
  folders: readonly string[],
  { catalogue }: Workspace,
  known: Listing,
): string[] {
  const end = `/${posix.normalize(rest).replace(/^(?:\.\.\/){1,20}/, '')}`;
  const all = [...known.values()].filter(({ path }) => path.endsWith(end));
  const builtIn = new Set(
    catalogue.sources.flatMap(({ origin }) => (origin.kind === 'package' ? [origin.displayName] : [])),
  );
  const own = all.filter(({ origin }) => !builtIn.has(origin));
  const distance = (path: string): number =>
    Math.min(...folders.map((folder) => posix.relative(folder, path).split('/').length), Infinity);
  return (own.length > 0 ? own : all)
    .map(({ path }) => ({ path, far: distance(path) }))
    .sort((a, b) => (a.far === b.far ? 0 : a.far - b.far))
    .map(({ path }) => path);
}

/** `agents/pm` and the like are addresses of what has that name. */
const NAMED = /^(?:agents|workflows|knowledge)\//;

/** Texts leave out the ending even where they write a path from the top: the one file that has it is meant. */
function withEnding(target: string, known: Listing): string {
  const [, path = ''] = /^(?:bmad:\/\/)?([\w.-]+(?:\/[\w.-]+){1,30})$/i.exec(target) ?? [];
  if (path === '' || NAMED.test(path)) return target;
  for (const each of [path, path.replace(/^_?bmad\//, '')]) {
    if (known.has(each)) return target;
    const longer = ENDINGS.map((ending) => each + ending);
    const found = onlyOne(longer, known) ?? onlyOne(otherEndings(each), known);
    if (found !== undefined) return contentUri(found);
  }
  return target;
}

/** The one of these files that is there, if there is one alone. */
function onlyOne(names: readonly string[], known: Listing): string | undefined {
  const [found, ...others] = names.filter((name) => known.has(name));
  return others.length === 0 ? found : undefined;
}

/** The name that was asked for, where only the ending of what is given is another. */
export function insteadOf(asked: string, given: string): string | undefined {
  const name = posix.basename(asked);
  return otherEndings(name).includes(posix.basename(given)) ? name : undefined;
}

function unplaced(target: string, rest: string, like: readonly string[]): BmadError {
  return new BmadError('not_found', t`The path ${quoted(target)} depends on the text it is from.`, {
    subject: cut(target, 200),
    suggestions: like.slice(0, SHOWN).map(contentUri),
    hint: t`Name the agent or workflow whose text it is from together with the path.`,
    steps: [
      {
        operation: 'list',
        args: { what: 'resources', pattern: `**/${posix.basename(rest)}` },
        why: t`List the files of this name`,
      },
    ],
  });
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
async function placeNamed(
  written: string,
  of: BmadRecord | undefined,
  workspace: Workspace,
  known: Listing,
): Promise<Place> {
  let place: Place = { path: written };
  if (of === undefined) return place;
  let contents: Awaited<ReturnType<typeof textsOf>> | undefined;
  for (let count = 0; count < MOST_NAMES; count += 1) {
    const [whole, name] = /^\{([\w-]{1,60})\}(?=\/|$)/.exec(place.path) ?? [];
    if (whole === undefined || name === undefined) break;
    contents ??= await textsOf(of.bmadRelativePath, workspace, known);
    const found = contents.flatMap(({ folder, text }) => {
      const value = valueIn(text, name);
      return value === undefined ? [] : [{ folder, value }];
    })[0];
    if (found === undefined) break;
    place = { path: found.value + place.path.slice(whole.length), folder: found.folder };
  }
  return place;
}

/** A text, and if it is a step the workflow above it. */
async function textsOf(path: string, { delivery }: Workspace, known: Listing) {
  const folder = posix.dirname(path);
  const above = [folder, posix.dirname(folder)]
    .flatMap((each) => [`${each}/workflow.md`, `${each}/workflow.yaml`])
    .filter((each) => known.has(each));
  return Promise.all(
    [...new Set([path, ...above])].map(async (each) => {
      const file = await delivery.file(each).catch(orElse(undefined));
      return { folder: posix.dirname(each), text: file?.text ?? '' };
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
