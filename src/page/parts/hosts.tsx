import { t } from '../message.ts';
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { keep, kept } from '../kept.ts';
import { useAnswer } from '../loading.ts';
import { Select } from './choice.tsx';
import { bareName } from './patterns.ts';
import { Copy } from './texts.tsx';

/** What is to be started: by its name, and for a run or an action by the call itself. */
export interface Start {
  name?: string;
  kind?: string;
  message?: string;
  call?: { name: string; args: Readonly<Record<string, unknown>> };
}

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

const after = (message: string | undefined): string => (message === undefined ? '' : ` ${message}`);

const slash =
  (prefix: string) =>
  ({ message }: Start, prompt: Prompt | undefined): string | undefined =>
    prompt === undefined ? undefined : `/${prefix}${prompt.name}${after(message)}`;

function inClaude(start: Start, prompt: Prompt | undefined): string | undefined {
  if (prompt?.installed === undefined) return slash('mcp__bmad__')(start, prompt);
  return `/${prompt.installed}${after(start.message)}`;
}

function inWords({ name, kind, message, call }: Start): string {
  if (call !== undefined) return `Use the bmad server: ${call.name} ${JSON.stringify(call.args)}`;
  return `Use the bmad server: start the ${kind ?? 'workflow'} ${name ?? ''}${message === undefined ? '' : ` with "${message}"`}`;
}

function inTerminal({ name, message, call }: Start): string | undefined {
  const run = call?.args['run_id'];
  if (call?.name === 'run_resume') return `bmad run resume ${typeof run === 'string' ? run : ''}`.trim();
  if (call?.name === 'reconcile_ledgers') return 'bmad project reconcile';
  if (call !== undefined) return undefined;
  return `bmad execute ${name ?? ''}${message === undefined ? '' : ` ${JSON.stringify(message)}`}`;
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
  return ({ name = '', kind }) => {
    const bare = name.split('/').at(-1) ?? name;
    const fits = (target: string): boolean => {
      const last = target.split('/').at(-1) ?? target;
      return [last, bareName(last)].includes(bare);
    };
    const found = data?.items.find(
      (prompt) => (kind === undefined || prompt.kind === kind) && fits(prompt.target),
    );
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
