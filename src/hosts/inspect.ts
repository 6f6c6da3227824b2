import { isAbsolute } from 'node:path';
import { BmadError } from '../base/errors.ts';
import { pathExists } from '../base/files/files.ts';
import { readForeign } from '../base/files/foreign-file.ts';
import { isTable, type Table } from '../base/parse/parse.ts';
import { claudeChecks, codexChecks, geminiChecks, type Asked, type HostCheck } from './inspect-ways.ts';
import { addedTo, entryOf, isOurs, isSame, startOf, startText, withAdded } from './entries.ts';
import { FORMATS, entryIn } from './splice.ts';
import type { Surroundings } from './places.ts';
import type { Entry, Host, Scope, Start } from './table.ts';

export type { HostCheck };

interface EntryPlace {
  host: Host;
  scope: Scope;
  file: string;
}

interface Parts {
  surroundings: Surroundings;
  root: string | undefined;
  start: Start;
}

const WAYS: Readonly<Partial<Record<string, (asked: Asked) => Promise<HostCheck[]>>>> = {
  'claude-code': claudeChecks,
  'gemini-cli': geminiChecks,
  codex: codexChecks,
};

/** All that its files say about whether an entry will be started and used. Nothing is started for it. */
export async function inspect({ host, scope, file }: EntryPlace, parts: Parts): Promise<HostCheck[]> {
  let entry: unknown;
  let table: Table = {};
  try {
    const text = await readForeign(file);
    if (text === undefined) return [];
    entry = entryIn({ file, text, format: host.format, key: host.key });
    table = FORMATS[host.format].read(file, text);
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    const fix = error.hint;
    return [{ level: 'broken', about: 'entry', text: error.message, ...(fix === undefined ? {} : { fix }) }];
  }
  if (entry === undefined) return [];
  if (!isOurs(entry)) {
    const text = `The entry "bmad" is not ours: it starts ${startText(entry)}.`;
    return [{ level: 'notice', about: 'entry', text, repair: 'force' }];
  }
  const own = await WAYS[host.id]?.({ ...parts, scope, table });
  const wanted = entryOf(host, scope, parts.start);
  return [
    ...switchedOff(entry),
    ...(await programChecks(entry, wanted)),
    ...additions(addedTo(wanted, entry), scope),
    ...(own ?? []),
  ];
}

/** In their own files people may write what they like; in that of a project it is others who have done so. */
function additions(added: readonly string[], scope: Scope): HostCheck[] {
  if (added.length === 0) return [];
  const list = added.join(', ');
  if (scope === 'user') return [{ level: 'ok', about: 'entry', text: `You have added to it: ${list}.` }];
  const text = `The file of the project has added to it what a host would obey: ${list}.`;
  return [{ level: 'notice', about: 'entry', text, repair: 'setup' }];
}

/** The ways in which hosts write that an entry is there but not used. */
function switchedOff(entry: unknown): HostCheck[] {
  if (!isTable(entry) || (entry['disabled'] !== true && entry['enabled'] !== false)) return [];
  const text = 'The entry is switched off in its file.';
  return [{ level: 'broken', about: 'entry', text, fix: 'Switch it on in the host.' }];
}

async function programChecks(entry: Entry, wanted: Entry): Promise<HostCheck[]> {
  const own = startOf(entry);
  if (own === undefined) return [];
  const words = [own.command, ...own.args];
  for (const path of words.slice(0, 2))
    if (isAbsolute(path) && !(await pathExists(path)))
      return [{ level: 'broken', about: 'start', text: `${path} does not exist any more.`, repair: 'setup' }];
  // What people have added may follow.
  if (isSame(startOf(withAdded(wanted, entry)), own)) return [];
  const text = `It starts another copy of the server than this one: ${words.join(' ')}`;
  return [{ level: 'notice', about: 'start', text: text.slice(0, 300), repair: 'setup' }];
}
