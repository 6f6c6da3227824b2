import { attempt, ours } from '../../base/expected.ts';
import { present } from '../../base/present.ts';
import { sha256 } from '../../base/sha256.ts';
import { saying, type SayStep, type Step } from '../../base/step.ts';
import { bullets, byteLength, cut, fenced, oneLine } from '../../base/text/text.ts';
import { qualifiedName } from '../../model/record.ts';
import { LEAST_PART, showText, type ShowOptions, type ShownText } from '../catalogue/shown-text.ts';
import { startOf } from '../catalogue/targets.ts';
import type { Activation, Call, StatePort, Workspace } from '../context.ts';
import type { textLimits } from '../host-limits.ts';
import { noteText } from '../recent.ts';
import { knownInputs } from './known-inputs.ts';
import { hasText, noteGiven, noteReadOn, type GivenKey } from './given-texts.ts';

interface Started {
  activation: Activation;
  workspace: Workspace;
  context: StatePort;
  call: Call;
  limits: ReturnType<typeof textLimits>;
}

interface Asked extends Pick<ShowOptions, 'section' | 'cursor' | 'detail'> {
  message: string | undefined;
  project: string | undefined;
  /** It is for a run that is open. */
  isResumed: boolean;
}

interface AgentText extends ShownText {
  starts?: ReturnType<typeof startOf>;
  given_before?: true;
  steps?: Step[];
}

/** Room for what is said under a text. */
const NOTE = 250;

/**
 * The text that an agent is started with. What its message starts comes along where it is an entry of its menu, and an agent
 * that the conversation has already comes in a short form. `before`: what is said first, the agent's own head, and last.
 */
export async function agentText(
  started: Started,
  asked: Asked,
  [told, start = '', kept]: readonly (string | undefined)[],
): Promise<AgentText> {
  const { activation, call, limits } = started;
  const { project, section, cursor, detail } = asked;
  const key = textKey(started, project);
  const commanded = await commandedBy(started, asked);
  if (section !== undefined || cursor !== undefined) {
    const maxBytes = Math.max(LEAST_PART, limits.maxBytes);
    const { of, shown } = laterPart(activation, commanded, { section, cursor, detail, maxBytes });
    if (of !== activation) noteText(call, of.record, project);
    if (of !== activation) return { ...restOfWork(of, shown.next, project), ...shown };
    if (cursor !== undefined) noteReadOn(call, key, cursor, shown.next);
    return shown;
  }
  const short = detail === 'full' || asked.isResumed ? undefined : await shortForm(started, asked, key);
  // Agent and work come together where there is room for both; else the work is the next call.
  const agent = short ?? `${start}\n\n${activation.body}`;
  const isRoomy = detail === 'full' || byteLength(agent) + LEAST_PART <= limits.mostBytes;
  const work = isRoomy ? commanded : undefined;
  // The paths in it are relative to it.
  if (work !== undefined) noteText(call, work.work.record, project);
  const before =
    work === undefined
      ? [short ?? start]
      : [agent, work.intro, await knownInputs(work.work, asked, started.workspace, started.context)];
  const head = [told, ...before, kept].filter(Boolean).join('\n\n');
  const body = work?.work.body ?? (short === undefined ? activation.body : '');
  const most = limits.mostBytes - byteLength(head) - 2;
  const usual = Math.max(LEAST_PART, limits.maxBytes - byteLength(head) - 2);
  // Work is not torn from the agent who does it for a little more room.
  const maxBytes = work !== undefined && byteLength(body) + NOTE <= most ? most : usual;
  const shown = showText(body, { detail, maxBytes, mostBytes: Math.max(maxBytes, most), head });
  const rest =
    work === undefined ? startOfWork(commanded, project) : restOfWork(work.work, shown.next, project);
  if (short === undefined) {
    noteGiven(call, key, work === undefined ? shown.next : undefined, asked.message ?? '');
    return { ...rest, ...shown };
  }
  const steps = [...(rest.steps ?? []), wholeAgain(activation, project)];
  return { ...rest, given_before: true, ...shown, text: shown.text.trimEnd(), steps };
}

/** The text of an agent as a conversation knows it. */
function textKey(
  { activation: { record, body }, workspace }: Started,
  project: string | undefined,
): GivenKey {
  const place = [workspace.project.root, project, record.origin.displayName, qualifiedName(record)];
  return { of: JSON.stringify(place), digest: sha256(body) };
}

/** What is shorter is as quickly given again. */
const WORTH = 2_000;
const MENU_LENGTH = 700;

/** An agent that the conversation has already: who it is, the message and the menu; nothing where it does not. */
async function shortForm(
  { activation, call, workspace }: Started,
  { message }: Asked,
  key: GivenKey,
): Promise<string | undefined> {
  const { record, title, body, lead, problems } = activation;
  // What must not be started, or has something wrong with it, is told whole.
  if (lead === undefined || problems.length > 0 || byteLength(body) < WORTH) return undefined;
  if (!hasText(call, key, message ?? '')) return undefined;
  const { menu } = await workspace.delivery.profile(record);
  const entries = menu.map(({ code, text }) => `${code} ${oneLine(text, 40)}`.trim()).join(' · ');
  return [
    `# ${title} (agent ${qualifiedName(record)})`,
    'Be this agent. Its text was given earlier in this session and has not changed; if you do not have it, ask for it first.',
    ...(message === undefined ? [] : [`## Message from the user\n\n${fenced(message, 'text')}`]),
    ...(entries === '' ? [] : [`Menu: ${cut(entries, MENU_LENGTH)}`]),
  ].join('\n\n');
}

/** The call that gives the text of an agent whatever was given before. */
function wholeAgain({ record }: Activation, project: string | undefined): Step {
  return {
    operation: 'execute',
    args: present({ name: qualifiedName(record), kind: 'agent', detail: 'full', project }),
    why: 'Get its text again',
  };
}

/** What a message has an agent do, where it is an entry of its menu. */
interface Commanded {
  said: string;
  intro: string;
  work: Activation;
}

/** The work behind an entry of a menu, with what has to be known beside the agent's own text. */
async function commandedBy(
  { activation: { record, head, lead }, workspace: { delivery }, call }: Started,
  { message, project }: Asked,
): Promise<Commanded | undefined> {
  if (message === undefined || lead === undefined) return undefined;
  const found = await delivery.commanded(record, message);
  if (found === undefined || found.starts === record) return undefined;
  const say = saying(call.say);
  const work = await delivery.activation(found.starts, undefined, project, say);
  if (work.lead === undefined) return undefined;
  const known = new Set(head.split('\n'));
  const notes = work.head.split('\n').filter((line) => line.startsWith('- ') && !known.has(line));
  const beside = found.beside.filter((uri) => !notes.some((line) => line.includes(uri)));
  const intro = [
    `## ${found.said}`,
    `It starts the ${work.record.kind} ${qualifiedName(work.record)}, which follows: do it as this agent.`,
    [...notes, ...besideLine(beside, say)].join('\n'),
  ];
  return { said: found.said, work, intro: intro.filter(Boolean).join('\n\n') };
}

function besideLine(uris: readonly string[], say: SayStep): string[] {
  if (uris.length === 0) return [];
  const calls = uris.map((uri) => say({ operation: 'read', args: { target: uri, kind: 'resource' } }));
  return [bullets([`Its templates and checklists: ${calls.join(', ')}.`])];
}

/** A later part of what was started: of the work that the message has begun, or of the text itself. */
function laterPart(activation: Activation, commanded: Commanded | undefined, options: ShowOptions) {
  const work = commanded?.work;
  const shown =
    work &&
    attempt(
      () => showText(work.body, options),
      ours(() => undefined),
    );
  return work === undefined || shown === undefined
    ? { of: activation, shown: showText(activation.body, options) }
    : { of: work, shown };
}

/** What a message has started beside its agent, and the call for the next part of it. */
function restOfWork({ record }: Activation, cursor: string | undefined, project: string | undefined) {
  const starts = startOf(record);
  const args = present({ ...starts, cursor, project });
  const step: Step = { operation: 'execute', args, why: 'Read on before going past this part' };
  return { starts, ...(cursor === undefined ? {} : { steps: [step] }) };
}

/** The call for work that there is no room for beside its agent. */
function startOfWork(commanded: Commanded | undefined, project: string | undefined): { steps?: Step[] } {
  if (commanded === undefined) return {};
  const args = present({ ...startOf(commanded.work.record), project });
  return { steps: [{ operation: 'execute', args, why: `Then start what ${commanded.said} stands for` }] };
}
