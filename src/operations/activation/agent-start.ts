import { basename } from 'node:path/posix';
import { attempt, ours } from '../../base/expected.ts';
import { contentPath } from '../../base/files/paths.ts';
import { present } from '../../base/present.ts';
import { saying, type SayStep, type Step } from '../../base/step.ts';
import { pointedSections } from '../../base/text/anchors.ts';
import { bullets, byteLength, cut, fenced, oneLine } from '../../base/text/text.ts';
import { qualifiedName } from '../../model/record.ts';
import { LEAST_PART, showText, type ShowOptions } from '../catalogue/shown-text.ts';
import { startOf } from '../catalogue/targets.ts';
import type { Activation } from '../context.ts';
import { noteText } from '../recent.ts';
import {
  GIVEN_BEFORE,
  hasText,
  mayBeLeftOut,
  noteGiven,
  noteReadOn,
  textKey,
  wholeAgain,
  type GivenKey,
} from './given-texts.ts';
import { commandIn, unknownCommand } from './unknown-command.ts';
import { besideWork, hasWork, type Asked, type Started, type StartText } from './work-text.ts';

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
): Promise<StartText> {
  const { activation, workspace, call, limits } = started;
  const { project, section, cursor, detail, message = '' } = asked;
  const key = textKey(activation, workspace, project);
  const commanded = await commandedBy(started, asked);
  if (section !== undefined || cursor !== undefined) {
    const maxBytes = Math.max(LEAST_PART, limits.maxBytes);
    const { of, shown } = laterPart(activation, commanded, { section, cursor, detail, maxBytes });
    const read = of === activation ? key : textKey(of, workspace, project);
    if (cursor !== undefined) noteReadOn(call, read, cursor, shown.next);
    if (of === activation) return shown;
    noteText(call, of.record, project);
    return { ...restOfWork(of, shown.next, project), ...shown };
  }
  const unknown = commanded === undefined ? commandIn(message) : undefined;
  const fitting = commanded === undefined ? await fittingFor(started, unknown ?? message) : undefined;
  const named = fitting?.isNamed === true ? fitting : undefined;
  const short =
    detail === 'full' || asked.isResumed
      ? undefined
      : await shortForm(started, asked, key, { named, isChosen: commanded !== undefined });
  // Agent and work come together where there is room for both; else the work is the next call.
  const agent = short ?? `${start}\n\n${activation.body}`;
  const isRoomy = detail === 'full' || byteLength(agent) + LEAST_PART <= limits.mostBytes;
  const work = isRoomy ? commanded : undefined;
  // The paths in it are relative to it.
  if (work !== undefined) noteText(call, work.work.record, project);
  const isKnown = work !== undefined && hasWork({ ...started, activation: work.work }, asked);
  const intro = work?.intro(isKnown);
  const before = work === undefined ? [short ?? start] : [agent, intro];
  const inputs =
    work && (await besideWork({ ...started, activation: work.work }, { ...asked, beside: work.beside }));
  // A command without a workflow or task of its own still has a story.
  const forCommand =
    commanded === undefined
      ? await (
          await import('./known-inputs.ts')
        ).commandInputs(activation, { ...asked, call, say: saying(call.say) }, workspace, started.context)
      : undefined;
  const amiss = named === undefined ? await unknownCommand(started, unknown, fitting?.said) : undefined;
  const head = [told, amiss, ...before, inputs?.told ?? forCommand, kept].filter(Boolean).join('\n\n');
  const own = short === undefined ? activation.body : '';
  const body = isKnown ? '' : (work?.work.body ?? own);
  const most = limits.mostBytes - byteLength(head) - 2;
  const usual = Math.max(LEAST_PART, limits.maxBytes - byteLength(head) - 2);
  // Work is not torn from the agent who does it for a little more room.
  const maxBytes = work !== undefined && byteLength(body) + NOTE <= most ? most : usual;
  const shown = showText(body, { detail, maxBytes, mostBytes: Math.max(maxBytes, most), head });
  const rest =
    work === undefined ? startOfWork(commanded, project) : restOfWork(work.work, shown.next, project);
  if (short === undefined) noteGiven(call, key, work === undefined ? shown.next : undefined, message);
  if (!isKnown) inputs?.noteWhole(shown.next);
  // A task that several commands start does not know the template of this one.
  const needsAgent = isKnown && work.named.length > 0;
  const again = [
    ...promptStep(activation, named, shown.text, project),
    ...(named === undefined ? fittingStep(activation, asked, fitting) : []),
    ...(isKnown && !needsAgent ? [wholeAgain(work.work, asked)] : []),
    ...(short === undefined && !needsAgent ? [] : [wholeAgain(activation, asked)]),
  ];
  if (again.length === 0) return { ...rest, ...shown };
  return {
    ...rest,
    ...(isKnown || short !== undefined ? { given_before: true as const } : {}),
    ...shown,
    // What follows a part of a text begins where it ends.
    text: body === '' ? shown.text.trimEnd() : shown.text,
    steps: [...(rest.steps ?? []), ...again],
  };
}

/** An entry of the menu that a message names, or is for. */
type Named = NonNullable<Awaited<ReturnType<Started['workspace']['delivery']['fitting']>>>;

async function fittingFor(
  { activation: { record, lead }, workspace: { delivery } }: Started,
  message: string,
): Promise<Named | undefined> {
  return message === '' || lead === undefined ? undefined : delivery.fitting(record, message);
}

/** The call for the prompt of an entry, where what is shown does not have it. */
function promptStep(
  { record, body }: Activation,
  named: Named | undefined,
  shown: string,
  project: string | undefined,
): Step[] {
  const prompt = promptOf(body, named);
  if (named === undefined || prompt === undefined || shown.includes(prompt)) return [];
  const args = present({ ...startOf(record), section: `#${named.prompt ?? ''}`, project });
  return [{ operation: 'execute', args, why: `Read what ${named.said} stands for` }];
}

function promptOf(body: string, named: Named | undefined): string | undefined {
  if (named?.prompt === undefined) return undefined;
  const section = pointedSections(body).find(({ title }) => title === `#${named.prompt ?? ''}`);
  return section && body.slice(section.start, section.end);
}

const MENU_LENGTH = 700;
/** A prompt up to this length is given again with the entry that leads to it. */
const PROMPT_BYTES = 6_000;

/** An agent that the conversation has already: who it is, the message and the menu; nothing where it does not. */
async function shortForm(
  { activation, call, workspace }: Started,
  { message }: Asked,
  key: GivenKey,
  { named, isChosen }: { named: Named | undefined; isChosen: boolean },
): Promise<string | undefined> {
  const { record, title, body } = activation;
  if (!mayBeLeftOut(activation) || !hasText(call, key, message ?? '')) return undefined;
  const { menu } = await workspace.delivery.profile(record);
  const prompt = promptOf(body, named);
  const entries = menu.map(({ code, text }) => `${code} ${oneLine(text, 40)}`.trim()).join(' · ');
  return [
    `# ${title} (agent ${qualifiedName(record)})`,
    `Be this agent. ${GIVEN_BEFORE}`,
    ...(message === undefined ? [] : [`## Message from the user\n\n${fenced(message, 'text')}`]),
    // Who has chosen an entry needs no menu.
    ...(entries === '' || isChosen || named !== undefined ? [] : [`Menu: ${cut(entries, MENU_LENGTH)}`]),
    ...(named === undefined || prompt === undefined || byteLength(prompt) > PROMPT_BYTES
      ? []
      : [`## ${named.said}\n\nDo this as this agent:\n\n${fenced(prompt, 'xml')}`]),
  ].join('\n\n');
}

/** The entry of the menu that says what the user wishes in words of their own. */
function fittingStep({ record }: Activation, { project }: Asked, fitting: Named | undefined): Step[] {
  if (fitting === undefined) return [];
  const { said, text } = fitting;
  return [
    {
      operation: 'execute',
      args: present({ ...startOf(record), message: said, project }),
      why: `This fits ${said} of its menu${text === '' ? '' : ` (${oneLine(text, 60)})`}`,
    },
  ];
}

/** What a message has an agent do, where it is an entry of its menu. */
interface Commanded {
  said: string;
  /** What is said before it, or instead of it where it was given before. */
  intro(isGiven: boolean): string;
  work: Activation;
  /** Templates and checklists that only the command names. */
  named: readonly string[];
  /** What the work is to be done with, where that says what it is about. */
  beside: Asked['beside'];
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
  // A rule that leads to the same call is known, whatever it is for.
  const isKnown = (line: string): boolean => head.includes(line.slice(line.indexOf(': ') + 2));
  const notes = work.head.split('\n').filter((line) => line.startsWith('- ') && !isKnown(line));
  const beside = found.beside.filter((uri) => !notes.some((line) => line.includes(uri)));
  const start = `It starts the ${work.record.kind} ${qualifiedName(work.record)}`;
  const intro = (isGiven: boolean): string =>
    [
      `## ${found.said}`,
      isGiven
        ? `${start}: do it as this agent. ${GIVEN_BEFORE}`
        : `${start}, which follows: do it as this agent.`,
      // Commands that start the same task differ in what it is to be done with.
      (isGiven ? besideLine(found.named, say) : [...notes, ...besideLine(beside, say)]).join('\n'),
    ]
      .filter(Boolean)
      .join('\n\n');
  const inNamed = (await checklistIn(found.named, record, delivery)) ?? templateIn(found.named);
  return { said: found.said, work, intro, named: found.named, beside: inNamed };
}

/** The document that a command has written by its template: `prd`, `fullstack-architecture`. */
function templateIn(named: readonly string[]): Asked['beside'] {
  const [writes] = named.flatMap((uri) => /\/templates\/([\w-]+)-tmpl\.ya?ml$/.exec(uri)?.[1] ?? []);
  return writes === undefined ? undefined : { writes };
}

/** The checklist that a command names: `*story-checklist` is about a story, the task that runs it is not. */
async function checklistIn(
  named: readonly string[],
  { origin }: Activation['record'],
  delivery: Started['workspace']['delivery'],
): Promise<Asked['beside']> {
  const uri = named.find((each) => each.includes('/checklists/'));
  if (uri === undefined) return undefined;
  const file = await delivery.file(contentPath(uri), origin).catch(ours(() => undefined));
  return { name: basename(uri).replace(/\.\w+$/, ''), text: file?.text ?? '' };
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
