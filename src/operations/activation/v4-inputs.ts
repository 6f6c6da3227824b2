import { basename } from 'node:path/posix';
import type { SayStep } from '../../base/step.ts';
import { bullets, plural } from '../../base/text/text.ts';
import type { ProjectState } from '../context.ts';

type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Kind = Awaited<ReturnType<Progress['inventory']>>[number]['kind'];

/** Stories to write, for work that writes them. */
export type Drafts = NonNullable<Awaited<ReturnType<Progress['draftsFor']>>>;

/** Who writes the next story and has none left would begin an epic that nobody has planned. */
export function noneLeft({ planned, done, left }: Drafts, say: SayStep): string | undefined {
  if (left > 0) return undefined;
  const all = planned === 1 ? 'the only one that is planned' : `all ${planned} that are planned`;
  const [are, have] = planned === 1 ? ['is', 'has a file'] : ['are', 'have files'];
  return done === planned
    ? `**No story is left to draft: ${all} ${are} done.** There is no further epic to begin: new scope goes into the PRD first.`
    : `**No story is left to draft: ${all} ${have}, ${done} ${done === 1 ? 'is' : 'are'} done.** What comes next: ${say({ operation: 'next' })}.`;
}

/** Documents of version 4 in the order in which each is written from those before it. */
const WRITTEN: readonly (readonly [Kind, RegExp])[] = [
  ['research', /research|analysis|brainstorm/],
  ['brief', /brief/],
  ['prd', /prd/],
  ['ux', /front-end-spec/],
  ['architecture', /architecture/],
];

/** What a document is written from; it may be there itself already. */
export function writtenFrom(template: string): Kind[] {
  const at = WRITTEN.findIndex(([, name]) => name.test(template));
  return WRITTEN.slice(0, at + 1).map(([kind]) => kind);
}

const PIECES = 12;

/** The pieces of an architecture, by the names that texts have for them. */
export function pieceNames(files: readonly string[]): string {
  const names = files.map((path) => basename(path, '.md')).filter((name) => name !== 'index');
  const more = names.length > PIECES ? ', …' : '';
  return names.length === 0 ? '' : `: ${names.slice(0, PIECES).join(', ')}${more}`;
}

/** What a text calls otherwise than this project does. */
export function insteadLine(instead: ReturnType<Progress['namedPieces']>['instead']): string[] {
  if (instead.length === 0) return [];
  const pairs = instead.map(({ written, path }) => `${written} is ${path}`);
  return [`- called otherwise here: ${pairs.join(', ')}`];
}

/** The template has `Review`, and so does the task that reviews; the developer is told another word. */
const REVIEW_WORD = '`Ready for Review` counts as `Review`.';

/** What the text of a task leaves open about the status that it leads to. */
export function statusRemarks(text: string): string[] {
  return [
    ...(/\*\*GO\*\*: Story is ready for implementation/.test(text)
      ? ['After GO, set Status to Approved in the story file.']
      : []),
    ...(/Story status must be "Review"/.test(text) ? [REVIEW_WORD] : []),
  ];
}

/** The same for a command that is all in its agent's own text, with the call for the checklist that it names. */
export function commandRemarks(text: string, command: string, say: SayStep): string | undefined {
  const lines = text.split('\n');
  const start = lines.indexOf(`  - ${command.slice(1)}:`);
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => !line.startsWith('   '));
  const own = lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
  const checklist = /\bchecklist ([\w-]+-checklist)\b/.exec(own)?.[1];
  const args = { name: checklist, kind: 'workflow', message: '<the story>' };
  const remarks = [
    ...(checklist === undefined ? [] : [`Its checklist: ${say({ operation: 'execute', args })}.`]),
    ...(own.includes("'Ready for Review'") ? [REVIEW_WORD] : []),
  ];
  return remarks.length === 0 ? undefined : bullets(remarks);
}

/** No text of version 4 speaks of git, and a story that is done is not safe before it is committed. */
export async function commitRemark(
  { text, isNext }: { text: string; isNext: boolean },
  uncommitted: () => Promise<string[]>,
): Promise<string[]> {
  const isReview = /Story status must be "Review"/.test(text);
  if (!isReview && !isNext) return [];
  const paths = await uncommitted();
  if (paths.length === 0) return [];
  const open = `${plural(paths.length, 'path is', 'paths are')} not committed yet (\`${paths[0] ?? ''}\`)`;
  return [
    isReview ? `Once it is Done, commit: ${open}.` : `${open}: commit what is Done before the next story.`,
  ];
}
