import { quoted, attempt, ours } from '../../base/errors.ts';
import { present } from '../../base/values.ts';
import { saying, type SayStep, type Step } from '../../base/step.ts';
import { pointedSections } from '../../base/text/markdown.ts';
import { nearest } from '../../base/text/suggest.ts';
import { bullets, byteLength } from '../../base/text/text.ts';
import { type BmadRecord, qualifiedName } from '../../model/record.ts';
import { askedText } from '../catalogue/agent-names.ts';
import { LEAST_PART, type ShowOptions, showText, withoutText } from '../catalogue/shown-text.ts';
import { startOf } from '../catalogue/names.ts';
import type { Activation, ProjectPort } from '../context.ts';
import { type Asked, fitTogether, type Started, startShown, type StartText } from './start.ts';
import { commandInputs, inputsOf } from './work-start.ts';

/**
 * The text that an agent is started with. What its message starts comes along where it is an entry of its menu. `before`:
 * what is said first, the agent's own head, and last.
 */
export async function agentText(
  started: Started,
  asked: Asked,
  [told, start = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { activation, limits, context } = started;
  const { section, cursor, detail } = asked;
  const commanded = await commandedBy(started, asked);
  if (detail !== 'brief' && (section !== undefined || cursor !== undefined)) {
    const { of, shown } = laterPart(activation, commanded, {
      section,
      cursor,
      detail,
      maxBytes: Math.max(LEAST_PART, limits.maxBytes),
    });
    return of === activation ? shown : { ...restOfWork(of, shown.next, context), ...shown };
  }
  // Agent and work come together where there is room for both; else the work is the next call.
  const agent = `${start}\n\n${activation.body}`;
  const isRoomy = detail === 'full' || byteLength(agent) + LEAST_PART <= limits.mostBytes;
  if (commanded !== undefined && isRoomy && detail !== 'brief')
    return withWork(commanded, { ...started, activation: commanded.work }, asked, [told, agent, kept]);
  const beside = commanded === undefined ? await besideCommand(started, asked) : undefined;
  const head = [told, beside?.amiss, start, beside?.inputs, kept].filter(Boolean).join('\n\n');
  if (detail === 'brief') return withoutText(head, activation);
  const shown = startShown(head, activation.body, started, asked);
  const steps = [
    ...startOfWork(commanded, context),
    ...promptStep(activation, beside?.prompt, shown.text, context),
  ];
  return steps.length === 0 ? shown : { ...shown, steps };
}

/** What is asked of an agent that is started, in the room that is left before its files. `found` is what it was found by. */
export function openFor(
  { activation: { record, room }, workspace, context, call }: Omit<Started, 'limits'>,
  found: BmadRecord,
): Promise<string | undefined> {
  const handles = [record, found].map((each) => workspace.catalogue.names.handleOf(each));
  return askedText(handles, workspace, { context, say: saying(call.say) }, room);
}

/** What a message has an agent do, where it is an entry of its menu. */
interface Commanded {
  said: string;
  work: Activation;
  /** What has to be known of the work beside the agent's own text. */
  notes: readonly string[];
  /** Templates and checklists that belong to it, and those of them that the entry names itself. */
  beside: readonly string[];
  named: readonly string[];
  /** The values that the agent has. */
  given: Activation['material']['values'];
}

/** The work behind an entry of a menu. */
async function commandedBy(
  { activation: { record, head, lead, material }, workspace: { delivery }, context, call }: Started,
  { message }: Asked,
): Promise<Commanded | undefined> {
  if (message === undefined || lead === undefined) return undefined;
  const found = await delivery.commanded(record, message);
  if (found === undefined || found.starts === record) return undefined;
  const work = await delivery.activation(found.starts, undefined, context.project, saying(call.say));
  if (work.lead === undefined) return undefined;
  // A rule that leads to the same call is known, whatever it is for.
  const isKnown = (line: string): boolean => head.includes(line.slice(line.indexOf(': ') + 2));
  const notes = work.head.split('\n').filter((line) => line.startsWith('- ') && !isKnown(line));
  const { said, beside, named } = found;
  return { said, work, notes, beside, named, given: material.values };
}

/** An agent and what its message starts, with the templates that the entry of its menu names where they fit. */
async function withWork(
  { said, work, notes, beside, named, given }: Commanded,
  started: Started,
  asked: Asked,
  [told, agent = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { workspace, context, call } = started;
  const say = saying(call.say);
  const along = named.find((uri) => uri.includes('/checklists/'));
  const inputs = await inputsOf(started, { ...asked, along });
  const headWith = (files: readonly string[]): string => {
    const unnamed = files.filter((uri) => !notes.some((line) => line.includes(uri)));
    const start = `It starts the ${work.record.kind} ${qualifiedName(work.record)}, which follows; run it as this agent.`;
    const intro = [`## ${said}`, start, [...notes, ...besideLine(unnamed, say)].join('\n')];
    return [told, agent, ...intro, inputs, kept].filter(Boolean).join('\n\n');
  };
  const starts = startOf(work.record);
  const whole = await workspace.delivery.activation(work.record, undefined, context.project, say, {
    along: named,
    given,
  });
  const head = headWith(beside.filter((uri) => !named.includes(uri)));
  if (fitTogether([head, whole.body], started, asked))
    return { starts, ...startShown(head, whole.body, started, asked) };
  const shown = startShown(headWith(beside), work.body, started, asked);
  return { ...restOfWork(work, shown.next, context), ...shown };
}

function besideLine(uris: readonly string[], say: SayStep): string[] {
  if (uris.length === 0) return [];
  const calls = uris.map((uri) => say({ operation: 'read', args: { target: uri, kind: 'resource' } }));
  return [bullets([`Its templates and checklists: ${calls.join(', ')}.`])];
}

/** A message that starts no work of its own: the story and the prompt of its command, or that there is no such command. */
async function besideCommand(started: Started, asked: Asked) {
  const { record, lead } = started.activation;
  const { message = '' } = asked;
  const entry = lead === undefined ? undefined : await started.workspace.delivery.entry(record, message);
  return {
    inputs: await commandInputs(started, asked),
    prompt: entry,
    amiss: entry === undefined ? await unknownCommand(started, message) : undefined,
  };
}

const NAMED = 12;

/** That the command a message begins with is none of this agent's, and which it has. A word in italics is no command. */
async function unknownCommand(
  { activation: { record, lead }, workspace: { delivery } }: Started,
  message: string,
): Promise<string | undefined> {
  // All agents can be asked for their menu, and left.
  const command = /^\*(?!(?:help|menu|exit)\b)[a-z][\w-]*(?![\w*-])/i.exec(message.trim())?.[0];
  if (command === undefined || lead === undefined) return undefined;
  const codes = (await delivery.profile(record)).menu.map(({ code }) => code.split(/\s/, 1)[0] ?? code);
  if (codes.length === 0) return undefined;
  const near = nearest(command, codes);
  const instead =
    near.length === 0 ? `It has: ${codes.slice(0, NAMED).join(', ')}` : `Nearest: ${near.join(', ')}`;
  return `> This agent has no command ${quoted(command)}. ${instead}.`;
}

/** The call for the prompt that an entry leads to in the agent's own file, where what is shown does not have it. */
function promptStep(
  { record, body }: Activation,
  entry: { said: string; prompt?: string | undefined } | undefined,
  shown: string,
  { project }: ProjectPort,
): Step[] {
  if (entry?.prompt === undefined) return [];
  const section = pointedSections(body).find(({ title }) => title === `#${entry.prompt ?? ''}`);
  if (section === undefined || shown.includes(body.slice(section.start, section.end))) return [];
  const args = present({ ...startOf(record), section: section.title, project });
  return [{ operation: 'execute', args, why: `Read what ${entry.said} stands for` }];
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
function restOfWork({ record }: Activation, cursor: string | undefined, { project }: ProjectPort) {
  const starts = startOf(record);
  const args = present({ ...starts, cursor, project });
  const step: Step = { operation: 'execute', args, why: 'Read on before going past this part' };
  return { starts, ...(cursor === undefined ? {} : { steps: [step] }) };
}

/** The call for work that there is no room for beside its agent. */
function startOfWork(commanded: Commanded | undefined, { project }: ProjectPort): Step[] {
  if (commanded === undefined) return [];
  const args = present({ ...startOf(commanded.work.record), project });
  return [{ operation: 'execute', args, why: `Then start what ${commanded.said} stands for` }];
}
