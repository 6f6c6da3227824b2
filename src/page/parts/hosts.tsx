import { t } from '../message.ts';
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Step } from '../answers.ts';
import { keep, kept } from '../kept.ts';
import { useAnswer } from '../loading.ts';
import { Select } from './choice.tsx';
import { bareName } from './wording.ts';
import { Copy } from './texts.tsx';

/** A call to begin with: what starts an agent or a workflow is said by their names, any other as it is. */
export type Start = Pick<Step, 'operation' | 'args'>;

export const starting = (name: string, kind: string): Start => ({
  operation: 'execute',
  args: { name, kind },
});

export const isCall = ({ operation }: Start): boolean => operation !== 'execute';

const part = ({ args }: Start, name: string): string => {
  const value = args?.[name];
  return typeof value === 'string' ? value : '';
};

export interface Prompt {
  name: string;
  /** A slash command that Claude Code has already, because BMAD's installer put the skill there. */
  installed: string | undefined;
}

interface Host {
  id: string;
  name: string;
  /** The line to paste; a prompt has its own name, where the server offers one. */
  line: (start: Start, prompt: Prompt | undefined) => string | undefined;
}

const slash =
  (prefix: string): Host['line'] =>
  (start, prompt) =>
    prompt && `/${prefix}${prompt.name} ${part(start, 'message')}`.trim();

const inClaude: Host['line'] = (start, prompt) =>
  prompt?.installed === undefined
    ? slash('mcp__bmad__')(start, prompt)
    : `/${prompt.installed} ${part(start, 'message')}`.trim();

function inWords(start: Start): string {
  if (isCall(start)) return `Use the bmad server: ${start.operation} ${JSON.stringify(start.args ?? {})}`;
  const message = part(start, 'message');
  return `Use the bmad server: start the ${part(start, 'kind') || 'workflow'} ${part(start, 'name')}${message && ` with "${message}"`}`;
}

function inTerminal(start: Start): string | undefined {
  const { operation } = start;
  if (operation === 'run_resume') return `bmad run resume ${part(start, 'run_id')}`.trim();
  if (operation === 'reconcile_ledgers') return 'bmad project reconcile';
  const message = part(start, 'message');
  return isCall(start)
    ? undefined
    : `bmad execute ${part(start, 'name')}${message && ` ${JSON.stringify(message)}`}`;
}

const HOSTS: readonly Host[] = [
  { id: 'claude', name: 'Claude Code', line: inClaude },
  { id: 'gemini', name: 'Gemini CLI', line: slash('') },
  { id: 'vscode', name: 'VS Code', line: slash('mcp.bmad.') },
  { id: 'words', name: '', line: inWords },
  { id: 'terminal', name: '', line: inTerminal },
];

const hostName = ({ id, name }: Host): string =>
  id === 'words' ? t`any host, in words` : id === 'terminal' ? t`terminal` : name;

const chosen = signal(kept('host') ?? 'claude');

/** Which host the lines are for: chosen once, kept for the next time. */
export const HostChoice = (): VNode => (
  <Select
    label={t`Paste into`}
    now={chosen.value}
    among={HOSTS.map((host) => [host.id, hostName(host)])}
    onChoose={(id) => {
      chosen.value = id;
      keep('host', id);
    }}
  />
);

/** The prompts that the server offers, by what they start. */
export function usePrompts(): (start: Start) => Prompt | undefined {
  const { data } = useAnswer('list_prompts', {}, ['content']);
  const claude = useAnswer('list_prompts', { host: 'claude-code' }, ['content']);
  return (start) => {
    if (isCall(start)) return undefined;
    const [name, kind] = [part(start, 'name'), part(start, 'kind')];
    const bare = name.split('/').at(-1) ?? name;
    const fits = (target: string): boolean => {
      const last = target.split('/').at(-1) ?? target;
      return [last, bareName(last)].includes(bare);
    };
    const found = data?.items.find((prompt) => (kind === '' || prompt.kind === kind) && fits(prompt.target));
    if (found === undefined) return undefined;
    const offered = claude.data?.items.some((prompt) => prompt.name === found.name) !== false;
    return { name: found.name, installed: offered ? undefined : found.target.split('/').at(-1) };
  };
}

/** The line for the host that was chosen; where that one has none, the words that every host takes. */
export function PasteLine(of: {
  start: Start;
  prompt: Prompt | undefined;
  main?: boolean;
  /** A button alone, where the line is known by what stands beside it. */
  bare?: boolean;
}): VNode {
  const { start, prompt, ...how } = of;
  const host = HOSTS.find(({ id }) => id === chosen.value);
  const line = host?.line(start, prompt);
  const says = how.main && host?.name && line !== undefined ? t`Copy for ${host.name}` : undefined;
  return <Copy text={line ?? inWords(start)} says={says} {...how} />;
}

/** The lines for all hosts, as a table. */
export function AllLines({ start, prompt }: { start: Start; prompt: Prompt | undefined }): VNode {
  return (
    <dl class="lines">
      {HOSTS.map((host) => {
        const text = host.line(start, prompt);
        return text === undefined ? null : (
          <div key={host.id}>
            <dt>{hostName(host)}</dt>
            <dd>
              <Copy text={text} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
