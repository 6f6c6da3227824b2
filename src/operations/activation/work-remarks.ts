import { posix } from 'node:path';
import { localTime } from '../../base/text/local-time.ts';
import { orElse } from '../../base/expected.ts';
import { bullets, plural } from '../../base/text/text.ts';
import type { Call, Context, ProjectState } from '../context.ts';
import type { SayStep } from '../../base/step.ts';
import { toldOnce } from './given-texts.ts';
import { wantsNoQuestions, wayUnasked } from './no-questions.ts';
import { commitRemark, statusRemarks } from './v4-inputs.ts';

interface Work {
  /** The whole text, with its steps. */
  text: string;
  /** Whether it writes or builds a story. */
  isForStory: boolean;
  /** Whether it writes the next story of version 4, after one that is done. */
  isNext: boolean;
}

interface RemarksAsked {
  project: string | undefined;
  message: string | undefined;
  call: Call;
  say: SayStep;
}

const LOOKS_AT_TREE =
  /\bgit (?:status|diff)\b|\bworking (?:tree|copy)\b|\btree is (?:clean|dirty)\b|\buncommitted changes\b/i;
const ASKS = /\bHALT\b|\b(?:WAIT|[Ww]ait) for (?:the )?(?:human|user)\b/;

/** A text that says itself what to do without the program is left alone. */
const DIVIDES = {
  test: (text: string): boolean => text.includes('markdown-tree-parser') && !text.includes('[No `md-tree`?'),
};

const NAMES_DENO = /\bdeno (?:lint|test)\b/;

/** Version 4 has left commands of its own in a text for all. */
const OWN_TOOLS =
  'Where this project has no Deno, `deps.ts` or `src/core/di.ts`, use its own build, lint and tests instead.';

const LAUNCHES = /\bsub-?agents?\b/i;

/** The same with every text that launches some: its step files say otherwise, and each in its own way. */
const ALONE =
  'No sub-agents? Do their part yourself, whatever a step says; call such a review not independent.';

/** How texts want the time, which a model does not know, and how their scripts write it: by the clock of this machine. */
const TIMES: readonly [RegExp, (now: Stamp) => string][] = [
  [/MM-DD-YYYY HH:MM/, ({ day, month, year, time }) => `${month}-${day}-${year} ${time}`],
  [/memlog\.py|YYYY-MM-DDTHH:MM/, ({ day, month, year, time }) => `${year}-${month}-${day}T${time}`],
];

type Stamp = Record<'day' | 'month' | 'year' | 'time', string>;

function timeNow(text: string): string[] {
  const [date = '', clock = ''] = localTime(new Date()).split('T');
  const [year = '', month = '', day = ''] = date.split('-');
  const stamp = { day, month, year, time: clock.slice(0, 'HH:MM'.length) };
  const forms = TIMES.flatMap(([wanted, write]) => (wanted.test(text) ? [write(stamp)] : []));
  return forms.length === 0 ? [] : [`The time now: ${forms.join(', ')}.`];
}

/** What a text would stop at in this project, or would let its reader learn too late; some of it once in a conversation. */
export async function workRemarks(
  work: Work,
  asked: RemarksAsked,
  context: Context,
): Promise<string | undefined> {
  const { project, call, message = '' } = asked;
  const state = await context.state(project).catch(orElse(undefined));
  const own = state !== undefined && LOOKS_AT_TREE.test(work.text) ? await ownRecords(state) : [];
  const once = [
    ...(ASKS.test(work.text) && !wantsNoQuestions(message, call) ? [unasked(work)] : []),
    ...(DIVIDES.test(work.text) ? [byHand(work)] : []),
    ...(NAMES_DENO.test(work.text) ? [OWN_TOOLS] : []),
    ...statusRemarks(work.text),
    ...(state !== undefined && work.isForStory ? await permission(state, asked) : []),
    ...(state !== undefined && work.isForStory && LOOKS_AT_TREE.test(work.text)
      ? await uncommitted(state, call.signal)
      : []),
    ...(state === undefined ? [] : await commitRemark(work, () => openPaths(state, call.signal))),
  ].filter((line) => toldOnce(call, line, message));
  const remarks = [...once, ...(LAUNCHES.test(work.text) ? [ALONE] : []), ...own, ...timeNow(work.text)];
  return remarks.length === 0 ? undefined : bullets(remarks);
}

/** What to do where a text waits for an answer that the user may not want to give. */
const unasked = ({ text }: Work): string =>
  `No questions wanted? ${wayUnasked(text).replace(/^./, (first) => first.toUpperCase())}, not permissions (trust).`;

/** A program that is missing is no reason to stop: what it does is plain, and version 4 has it as a manual method. */
function byHand({ text }: Work): string {
  return text.includes('Manual Method')
    ? 'No `md-tree`? Do not stop, and leave core-config.yaml alone: take the Manual Method.'
    : 'The package is missing? Do not stop: each `## Some Title` outside code blocks becomes `some-title.md` in the folder, `##` → `#`, deeper headings one level up; `index.md` has what comes before, then `## Sections` with a link to each.';
}

/** Records that the server itself keeps in the project would make a tree look changed in which nobody has worked. */
async function ownRecords(state: ProjectState): Promise<string[]> {
  const { home, parts } = await state.place();
  const folders = home === 'project' ? parts.flatMap(({ folder, shared }) => (shared ? [folder] : [])) : [];
  if (folders.length === 0) return [];
  const all = [...new Set(folders)];
  const [parent = '', ...others] = new Set(all.map((folder) => posix.dirname(folder)));
  const named =
    all.length > 1 && others.length === 0
      ? `\`${parent}/{${all.map((folder) => posix.basename(folder)).join(',')}}\``
      : all.map((folder) => `\`${folder}/\``).join(', ');
  return [`${named} are the server's, not work: leave them out of diffs.`];
}

/** Who builds on a plan that is not committed is stopped by the text, or has the plan in the diff of the story. */
async function uncommitted(state: ProjectState, signal: AbortSignal): Promise<string[]> {
  const paths = await openPaths(state, signal);
  if (paths.length === 0) return [];
  const [first = '', second] = paths;
  const which = second === undefined ? `\`${first}\`` : `such as \`${first}\``;
  return [
    `${plural(paths.length, 'file')} not committed (${which}): commit before you build, or ${second === undefined ? 'it becomes' : 'they become'} part of this story.`,
  ];
}

/** Files with changes that are not committed, the server's own left out. */
async function openPaths(state: ProjectState, signal: AbortSignal): Promise<string[]> {
  const { parts } = await state.place();
  const own = parts.map(({ folder }) => folder);
  const paths = await (await state.progress()).uncommitted(signal);
  return paths.filter((path) => !own.some((folder) => path.startsWith(`${folder}/`)));
}

/** Only the user can allow the contract to run, so the model should ask early rather than wait at the end. */
async function permission(state: ProjectState, { call: { confirm }, say }: RemarksAsked): Promise<string[]> {
  if (confirm !== undefined) return [];
  const standing = await state
    .completion()
    .then((completion) => completion.standing())
    .catch(orElse(undefined));
  const may = standing?.way.may;
  if (may !== 'ask' && may !== 'nothing') return [];
  const when = may === 'ask' ? 'now' : 'once there is something to run';
  return [
    `The completion contract needs the user's permission to prove a story done. Ask ${when}: ${say({ operation: 'trust', args: { folder: state.root } })}.`,
  ];
}
