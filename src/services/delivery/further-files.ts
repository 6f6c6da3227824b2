import { posix } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord } from '../../model/record.ts';
import { orElse } from '../../base/expected.ts';
import { decodeText } from '../../base/text/decode.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import { behaviourOf } from '../../model/format.ts';
import { skillFolder } from './skill-folder.ts';
import { sharesItsFolder } from './workflow-parts.ts';

/** So many addresses are read at a glance, and names of so many characters in all. */
const NAMED = 5;
const NAMES_LENGTH = 80;
/** Of those, as many as the steps of a workflow take, which are named in any case. */
const STEPS_LENGTH = 60;

const STEP = /(?:^|\/)step-\d[\w-]*\.md$/;

/**
 * The files that belong to a text, in a line: those it names, in its own order and as it may write them, and the call that
 * lists all. How they are read is said by the rule for paths.
 */
export function ownFilesNote(
  { record, project }: { record: BmadRecord; project: string | undefined },
  text: string,
  uris: readonly string[],
  say: SayStep,
): string[] {
  const folder = skillFolder(record);
  const start = `${contentUri(folder)}/`;
  const own = uris.filter((uri) => uri.startsWith(start)).map((uri) => uri.slice(start.length));
  if (own.length === 0) return [];
  const place = (path: string): number => placeIn(text, path);
  // What to do without a script is told with the scripts.
  const inText = own
    .filter((path) => !path.endsWith('.py') && place(path) >= 0)
    .sort((a, b) => place(a) - place(b));
  const steps = inText.some((path) => STEP.test(path)) ? stepsBeside(own, inText) : [];
  // A single one is named sooner than a call that lists it.
  const named =
    inText.length === 0 && own.length === 1 ? own : inText.filter((path) => !steps.includes(path));
  const lengths = named.map((path) => path.length);
  const room = NAMES_LENGTH - (steps.length === 0 ? 0 : STEPS_LENGTH);
  const shown = named.filter(
    (_path, index) => lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 0) <= room,
  );
  const others = own.filter((path) => !shown.includes(path) && !steps.includes(path));
  const all = say({
    operation: 'list',
    args: { what: 'resources', pattern: `${folder}/**`, project },
  });
  const rest = byFolder(others);
  // All of them, where that is shorter than the call.
  const isAll = rest.join(', ').length <= all.length;
  const left = isAll ? 0 : others.length;
  const names = [...inBraces(steps), ...shown, ...(isAll ? rest : [])]
    .map((path) => `\`${path}\``)
    .join(', ');
  if (left === 0) return [own.length === 1 ? `Its file: ${names}.` : `Its files: ${names}.`];
  return [names === '' ? `Its ${left} files: ${all}.` : `Its files: ${names}; ${left} more: ${all}.`];
}

/** The steps of a workflow, in order; each names the next, but who knows all of them need not ask. */
function stepsBeside(own: readonly string[], inText: readonly string[]): string[] {
  const first = inText.find((path) => STEP.test(path)) ?? '';
  const folder = first.slice(0, first.lastIndexOf('/') + 1);
  return own
    .filter((path) => STEP.test(path) && path.startsWith(folder) && !path.slice(folder.length).includes('/'))
    .sort();
}

/** `steps/step-{01-init,02-write}.md` for several files of a folder with the same ending. */
function inBraces(paths: readonly string[]): string[] {
  const [first = ''] = paths;
  const { dir, ext } = posix.parse(first);
  const names = paths.map((path) => posix.basename(path, ext));
  const same = names.every((name) => name.startsWith('step-')) ? 'step-' : '';
  const inside = names.map((name) => name.slice(same.length)).join(',');
  return paths.length < 2 ? [...paths] : [`${dir === '' ? '' : `${dir}/`}${same}{${inside}}${ext}`];
}

function byFolder(paths: readonly string[]): string[] {
  const kinds = new Set(paths.map((path) => `${posix.dirname(path)} ${posix.extname(path)}`));
  return [...kinds].flatMap((kind) =>
    inBraces(paths.filter((path) => `${posix.dirname(path)} ${posix.extname(path)}` === kind)),
  );
}

/** Where a text first names a file by its path from the folder. */
function placeIn(text: string, path: string): number {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1))
    if (!/[\w-]/.test(text[at - 1] ?? '')) return at;
  return -1;
}

/** Files elsewhere in the content, by their addresses. */
export function otherFilesNote(
  { record, project }: { record: BmadRecord; project: string | undefined },
  uris: readonly string[],
  say: SayStep,
): string[] {
  const start = `${contentUri(skillFolder(record))}/`;
  const others = uris.filter((uri) => !uri.startsWith(start));
  if (others.length === 0) return [];
  const left = others.length - NAMED;
  const [folder = ''] = record.bmadRelativePath.split('/', 1);
  const more =
    left > 0
      ? `; ${left} more: ${say({ operation: 'list', args: { what: 'resources', pattern: `${folder}/**`, project } })}`
      : '';
  return [`Files it uses: ${others.slice(0, NAMED).join(', ')}${more}.`];
}

/** What help would have to find out by looking for files, which is found out already. */
export function standsNote(project: string | undefined, say: SayStep): string {
  return `Where the project stands by its files, and what comes next: ${say({ operation: 'next', args: { project } })}.`;
}

const READ_ALONG = /\.(?:md|xml|ya?ml)$/;
/** Each is a file to open with every start; a text with more steps than this names the values itself. */
const MOST_READ = 30;

/** The texts of the steps and references of a workflow: they use its values and scripts too. */
export async function textsBeside(
  record: BmadRecord,
  main: string,
  files: readonly string[],
  content: ContentFiles,
): Promise<string[]> {
  const { isSkill, isAlone, isDeliveredAlone } = behaviourOf(record);
  const isOwn =
    isSkill === true ||
    (record.kind === 'workflow' && isAlone !== true && isDeliveredAlone !== true && !sharesItsFolder(record));
  if (!isOwn) return [];
  // Several workflows may share a folder, each with steps of its own: `steps-c`, `steps-v`.
  const isOwnStep = (path: string): boolean => {
    const folder = /\/(steps[\w-]*)\//.exec(path)?.[1];
    return folder === undefined || main.includes(`${folder}/`);
  };
  const texts = files.filter(
    (path) =>
      READ_ALONG.test(path) &&
      path !== record.bmadRelativePath &&
      !path.includes('/tests/') &&
      isOwnStep(path),
  );
  if (texts.length > MOST_READ) return [];
  const read = async (path: string): Promise<string> =>
    content.read(path).then(({ bytes }) => decodeText(bytes), orElse(''));
  return Promise.all(texts.map(read));
}
