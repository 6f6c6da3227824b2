import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord } from '../../model/record.ts';
import { orElse } from '../../base/expected.ts';
import { decodeText } from '../../base/text/decode.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import { behaviourOf } from '../../model/format.ts';
import { skillFolder } from './skill-folder.ts';
import { sharesItsFolder } from './workflow-parts.ts';

/** So many addresses are read at a glance. */
const NAMED = 5;

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
  return `To see where the project stands by its files, and what comes next: ${say({ operation: 'next', args: { project } })}.`;
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
