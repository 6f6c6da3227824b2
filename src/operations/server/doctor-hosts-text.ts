import { plural, say, t } from '../../base/text/message.ts';
import type { CheckedHost } from './doctor-hosts-view.ts';

/** Whether every entry of ours works; a host that is not connected is no fault. */
export function isWell(hosts: readonly CheckedHost[]): boolean {
  return hosts.every(({ checks }) => checks.every(({ level }) => level !== 'broken'));
}

const FOUND: Readonly<Record<CheckedHost['found'], string>> = {
  ours: 'connected',
  other: 'has an entry that is not ours',
  none: 'not connected',
  unreadable: 'its file cannot be used',
};

const LEVELS = { ok: '', notice: 'Notice: ', broken: 'BROKEN: ' } as const;

export function hostLines(hosts: readonly CheckedHost[]): string[] {
  if (hosts.length === 0) return [t`Hosts: none found on this machine`];
  return [
    t`Hosts:`,
    ...hosts.flatMap(({ name, scope, file, found, handshake, checks }) => [
      t`- ${name} (${say(scope)}): ${say(FOUND[found])}${answered(handshake)}\n  ${file}`,
      ...checks.map(
        ({ level, text, fix }) => `  ${say(LEVELS[level])}${text}${fix === undefined ? '' : ` ${fix}`}`,
      ),
    ]),
  ];
}

function answered(handshake: CheckedHost['handshake']): string {
  if (handshake === undefined) return '';
  const { ok, tools, ms, trouble } = handshake;
  const seconds = (ms / 1000).toFixed(1);
  return ok
    ? t`, answers with ${plural(tools, 'tool')} after ${seconds} s`
    : t`, DOES NOT ANSWER: ${trouble ?? ''}`;
}
