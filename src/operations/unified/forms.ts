import { BmadError, quoted } from '../../base/errors.ts';
import { present } from '../../base/values.ts';
import { argumentsText, type Step } from '../../base/step.ts';
import { OFFERED } from '../offered.ts';
import { writtenArguments } from '../offers.ts';
import type { OwnArguments, UnifiedForm } from '../operation.ts';
import { UNIFIED, type UnifiedTool } from '../toolsets.ts';

/** Callers say `agent` or `agents`, `file` or `resource`. */
export function pluralType(word: string): string {
  const name = word.trim().toLowerCase();
  if (['file', 'files', 'uri', 'document', 'documents'].includes(name)) return 'resources';
  return name === 'all' || name === 'knowledge' || name.endsWith('s') ? name : `${name}s`;
}

export function singularType(word: string | undefined): string | undefined {
  return word === undefined ? undefined : pluralType(word).replace(/s$/, '');
}

/** The forms of the tool `bmad`, as steps that an error can recommend. */
const FORMS: readonly Step[] = [
  { operation: 'list', args: { what: 'agents' }, why: 'List the agents' },
  { operation: 'search', args: { query: 'user research' }, why: 'Find something by words' },
  { operation: 'read', args: { target: 'analyst', kind: 'agent' }, why: 'Read an agent' },
  { operation: 'read', args: { target: 'bmad://bmm/config.yaml', kind: 'resource' }, why: 'Read a file' },
  {
    operation: 'execute',
    args: { name: 'architect', kind: 'agent' },
    open: ['message'],
    why: 'Start an agent',
  },
  { operation: 'execute', args: { name: 'prd', kind: 'workflow' }, why: 'Start a workflow' },
  { operation: 'next', why: 'See what to do next' },
  { operation: 'bmad', args: { command: '*party-mode' }, why: 'Use the short form' },
];

/** The same for a context, which nobody can be given who does not say what for. */
const contextForms = (message: unknown): Step[] => [
  {
    operation: 'compile_context',
    args: present({ name: 'dev', kind: 'agent', message }),
    ...(message === undefined ? { open: ['message'] } : {}),
    why: 'Get the context of an agent, such as the one who builds stories',
  },
  ...FORMS.filter(({ operation }) => operation === 'list' || operation === 'next'),
];

/**
 * `fromForm` of an operation that takes one thing by name: `agent`, `workflow` and, unless it is to be started, `uri`
 * become the argument `field`, and `kind` says which it was.
 */
export function namedForm(word: string, field: 'name' | 'target') {
  return ({ agent, workflow, uri, query, type, ...rest }: UnifiedForm): OwnArguments => {
    const starts = field === 'name';
    const given = [
      { kind: 'agent', key: 'agent', value: agent },
      { kind: 'workflow', key: 'workflow', value: workflow },
      ...(starts ? [] : [{ kind: 'resource', key: 'uri', value: uri }]),
    ].filter(({ value }) => value !== undefined);
    // A path may be given with the agent or workflow whose text names it.
    const path = given.length === 2 ? given.find(({ key }) => key === 'uri') : undefined;
    const [first] = path === undefined ? given : [path];
    const of = path === undefined ? undefined : given.find((each) => each !== path)?.value;
    if (given.length > 1 && path === undefined)
      throw formError(`give one of ${given.map(({ key }) => `"${key}"`).join(' and ')}, not both.`);
    const said = singularType(type);
    if (first !== undefined && said !== undefined && said !== first.kind)
      throw formError(
        `"type" says ${quoted(type ?? '')}, but ${first.kind === 'resource' ? 'a "uri"' : `an "${first.key}"`} is given.`,
      );
    const thing = first?.value ?? query;
    if (thing === undefined && rest['cursor'] !== undefined) throw cursorUnknown();
    if (thing === undefined && rest['run_id'] !== undefined) throw runAlone(word, rest['run_id']);
    if (thing === undefined)
      throw formError(
        `${word} needs ${starts ? '"agent" or "workflow"' : '"agent", "workflow" or "uri"'}.`,
        [],
        word === 'context' ? contextForms(rest['message']) : FORMS,
      );
    return {
      args: present({ ...rest, ...(starts ? { uri } : {}), [field]: thing, of, kind: first?.kind ?? said }),
      spoken: { [field]: first?.key ?? 'query', kind: 'type' },
    };
  };
}

/** Cursors are kept for one client only, and not for ever. */
export function cursorUnknown(): BmadError {
  return new BmadError('invalid_input', 'bmad: a cursor alone does not say which answer it continues.', {
    subject: 'cursor',
    hint: 'Repeat the call that gave it, with all its arguments and the cursor.',
    steps: FORMS.filter(({ operation }) => operation === 'next' || operation === 'list'),
  });
}

/** The run knows its workflow. */
function runAlone(word: string, id: unknown): BmadError {
  return new BmadError('invalid_input', `bmad: ${word} needs "agent" or "workflow" beside a run.`, {
    subject: 'workflow',
    steps: [
      { operation: 'run_resume', args: { run_id: id }, why: 'See what the run is for, and continue it' },
    ],
  });
}

export function formError(
  complaint: string,
  suggestions: readonly string[] = [],
  steps: readonly Step[] = FORMS,
): BmadError {
  return new BmadError('invalid_input', `bmad: ${complaint}`, { suggestions, steps: [...steps] });
}

/** The same the other way round: a call of an operation in the form of the tool `bmad`. */
function unifiedForm(word: string, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { name, target, kind, what, ...rest } = args;
  const thing = name ?? target;
  const key = kind === 'resource' ? 'uri' : kind === 'agent' || kind === 'workflow' ? kind : 'query';
  return present({
    operation: word,
    ...(what === undefined ? {} : { [rest['query'] === undefined ? 'query' : 'type']: what }),
    ...(thing === undefined ? {} : { [key]: thing }),
    ...rest,
  });
}

/** A step as a call of the tool that offers its operation, if one of those that `isOffered` does. */
export function toolCall(
  step: Omit<Step, 'why'>,
  isOffered: (tool: string) => boolean = () => true,
): string | undefined {
  const offer = OFFERED[step.operation];
  const args = writtenArguments({ ...step, why: '' });
  // What is not declared is the tool of an agent, which is named after it.
  if (offer === undefined || (offer.toolset !== undefined && isOffered(step.operation)))
    return `${step.operation} ${argumentsText(args)}`;
  const behind = Object.entries(offer.behind ?? {}) as [UnifiedTool, string][];
  const [tool, word] = behind.find(([name]) => isOffered(name)) ?? [];
  if (tool === undefined || word === undefined) return undefined;
  return tool === 'bmad'
    ? `bmad ${argumentsText(unifiedForm(word, args))}`
    : `${tool} ${argumentsText({ [UNIFIED[tool]]: word, ...(Object.keys(args).length === 0 ? {} : { args }) })}`;
}
