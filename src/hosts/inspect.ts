import { t } from '../base/text/message.ts';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { BmadError } from '../base/errors.ts';
import { pathExists } from '../base/files/files.ts';
import { readForeign } from '../base/files/file-shared.ts';
import { field, isTable, type Table, tableOf } from '../base/parse/parse.ts';
import { addedTo, entryOf, isOurs, isSame, maskedWords, startOf, startText, withAdded } from './entries.ts';
import { entryIn, FORMATS } from './splice.ts';
import { CONTRACT_TOOL, type Entry, type Host, type Scope, type Start, type Surroundings } from './table.ts';
import { isBelow } from '../base/files/open-file.ts';
import { SERVER_KEY } from '../base/product.ts';

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
    const text = t`The entry "bmad" is not ours: it starts ${startText(entry)}.`;
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
  if (scope === 'user') return [{ level: 'ok', about: 'entry', text: t`You have added to it: ${list}.` }];
  const text = t`The file of the project has added to it what a host would obey: ${list}.`;
  return [{ level: 'notice', about: 'entry', text, repair: 'setup' }];
}

/** The ways in which hosts write that an entry is there but not used. */
function switchedOff(entry: unknown): HostCheck[] {
  if (!isTable(entry) || (entry['disabled'] !== true && entry['enabled'] !== false)) return [];
  const text = t`The entry is switched off in its file.`;
  return [{ level: 'broken', about: 'entry', text, fix: t`Switch it on in the host.` }];
}

async function programChecks(entry: Entry, wanted: Entry): Promise<HostCheck[]> {
  const own = startOf(entry);
  if (own === undefined) return [];
  const words = [own.command, ...own.args];
  for (const path of words.slice(0, 2))
    if (isAbsolute(path) && !(await pathExists(path)))
      return [
        { level: 'broken', about: 'start', text: t`${path} does not exist any more.`, repair: 'setup' },
      ];
  // What people have added may follow.
  if (isSame(startOf(withAdded(wanted, entry)), own)) return [];
  const text = t`It starts another copy of the server than this one: ${maskedWords(words).join(' ')}`;
  return [{ level: 'notice', about: 'start', text: text.slice(0, 300), repair: 'setup' }];
}

/** One thing that was found out about an entry of a host, and what to do about it. */
export interface HostCheck {
  level: 'ok' | 'notice' | 'broken';
  about: 'entry' | 'start' | 'trust' | 'tools' | 'limit' | 'twins';
  text: string;
  /** What a person does in the host or in its files. */
  fix?: string;
  /** Whether setting the host up again, by force if need be, is the way out. */
  repair?: 'setup' | 'force';
}

/** What is known where a host is asked about. */
interface Asked {
  surroundings: Surroundings;
  root: string | undefined;
  scope: Scope;
  /** The file that the entry is in. */
  table: Table;
}

/** A file of a host; nothing is concluded from one that cannot be read. */
async function tableIn(file: string): Promise<Table | undefined> {
  try {
    const text = await readForeign(file);
    return text === undefined ? {} : FORMATS[file.endsWith('.toml') ? 'toml' : 'json'].read(file, text);
  } catch {
    return undefined;
  }
}

const listIn = (table: unknown, ...keys: readonly string[]): string[] => {
  const found = keys.reduce<unknown>((inner, key) => (isTable(inner) ? inner[key] : undefined), table);
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : [];
};

const ALL_TOOLS = [`mcp__${SERVER_KEY}`, `mcp__${SERVER_KEY}__*`];

/** Claude Code: whether its tools may be used, and whether a server of the project may start at all. */
async function claudeChecks({ surroundings, root, scope }: Asked): Promise<HostCheck[]> {
  const { home } = surroundings;
  const places = [
    join(home, '.claude/settings.json'),
    ...(root === undefined
      ? []
      : ['settings.json', 'settings.local.json'].map((name) => join(root, '.claude', name))),
  ];
  const read = await Promise.all(places.map(tableIn));
  const settings = read.filter((table) => table !== undefined);
  const user = (await tableIn(join(home, '.claude.json'))) ?? {};
  const project = tableOf(field(tableOf(field(user, 'projects')), root ?? ''));
  const said = (...keys: string[]): string[] => settings.flatMap((table) => listIn(table, ...keys));
  return [
    ...allowance(said('permissions', 'allow'), said('permissions', 'deny'), read.includes(undefined)),
    ...(scope === 'project' ? approval([...settings, project]) : []),
    ...when(
      listIn(project, 'disabledMcpServers').includes(SERVER_KEY),
      broken('entry', t`It is switched off for this project.`, t`Switch it on with /mcp.`),
    ),
    ...when(
      SERVER_KEY in tableOf(field(project, 'mcpServers')),
      notice(
        'entry',
        t`Another entry "bmad" for this folder alone comes first.`,
        t`Remove it: claude mcp remove --scope local ${SERVER_KEY}`,
      ),
    ),
  ];
}

function allowance(allow: readonly string[], deny: readonly string[], unknown: boolean): HostCheck[] {
  const denied = deny.filter((rule) => rule.startsWith(ALL_TOOLS[0] ?? ''));
  if (denied.length > 0)
    return [
      broken('tools', t`Tools are denied: ${denied.join(', ')}.`, t`Take this out of permissions.deny.`),
    ];
  if (unknown || allow.some((rule) => ALL_TOOLS.includes(rule) || rule === 'mcp__*')) return [];
  const some = allow.some((rule) => rule.startsWith(`mcp__${SERVER_KEY}__`));
  return [
    notice(
      'tools',
      some ? t`It asks before it uses some of the tools.` : t`It asks before it uses a tool.`,
      t`To allow them all, add "${ALL_TOOLS[0] ?? ''}" to permissions.allow in ~/.claude/settings.json.`,
    ),
  ];
}

function approval(settings: readonly Table[]): HostCheck[] {
  const said = (key: string): string[] => settings.flatMap((table) => listIn(table, key));
  if (said('disabledMcpjsonServers').includes(SERVER_KEY))
    return [
      broken(
        'trust',
        t`You have refused to let it start this server of the project.`,
        t`Undo it: claude mcp reset-project-choices`,
      ),
    ];
  const approved =
    said('enabledMcpjsonServers').includes(SERVER_KEY) ||
    settings.some((table) => table['enableAllProjectMcpServers'] === true);
  if (approved) return [];
  return [notice('trust', t`It asks once whether this server of the project may start.`, t`Say yes.`)];
}

/** Gemini CLI starts no server in a folder that is not trusted. */
async function geminiChecks({ surroundings, root, table }: Asked): Promise<HostCheck[]> {
  const folder = join(surroundings.home, '.gemini');
  const user = (await tableIn(join(folder, 'settings.json'))) ?? {};
  const switched = (await tableIn(join(folder, 'mcp-server-enablement.json'))) ?? {};
  const rules = await tableIn(join(folder, 'trustedFolders.json'));
  const both = [user, table];
  const allowed = both.flatMap((each) => listIn(each, 'mcp', 'allowed'));
  const left =
    both.some((each) => listIn(each, 'mcp', 'excluded').includes(SERVER_KEY)) ||
    (allowed.length > 0 && !allowed.includes(SERVER_KEY));
  const off = tableOf(field(switched, SERVER_KEY))['enabled'] === false;
  const asks = tableOf(field(tableOf(field(user, 'security')), 'folderTrust'))['enabled'] !== false;
  return [
    ...when(
      left,
      broken(
        'entry',
        t`Its settings leave this server out.`,
        t`See mcp.allowed and mcp.excluded in settings.json.`,
      ),
    ),
    ...when(
      off,
      broken('entry', t`The server is switched off.`, t`Switch it on: gemini mcp enable ${SERVER_KEY}`),
    ),
    ...when(
      asks && root !== undefined && rules !== undefined && !isTrusted(root, rules),
      broken(
        'trust',
        t`It starts no server in ${root}, because this folder is not trusted.`,
        t`Trust it in Gemini CLI: /permissions trust`,
      ),
    ),
  ];
}

/** The longest rule that a folder is in counts. */
function isTrusted(root: string, rules: Table): boolean {
  const fitting = Object.entries(rules).filter(([path, level]) =>
    isBelow(level === 'TRUST_PARENT' ? dirname(resolve(path)) : resolve(path), root),
  );
  const [, level] = fitting.sort(([a], [b]) => b.length - a.length)[0] ?? [];
  return level === 'TRUST_FOLDER' || level === 'TRUST_PARENT';
}

/** Codex reads the file of a project only if the project is trusted. */
async function codexChecks({ surroundings, root, scope, table }: Asked): Promise<HostCheck[]> {
  const tools = tableOf(field(tableOf(field(tableOf(field(table, 'mcp_servers')), SERVER_KEY)), 'tools'));
  const refusal = when(
    // What may run is decided in people's own file.
    scope === 'user' && tableOf(field(tools, CONTRACT_TOOL))['approval_mode'] !== 'approve',
    notice(
      'tools',
      t`"codex exec" cannot ask, so it refuses ${CONTRACT_TOOL}.`,
      t`To allow it, add [mcp_servers.${SERVER_KEY}.tools.${CONTRACT_TOOL}] with approval_mode = "approve".`,
    ),
  );
  if (scope !== 'project' || root === undefined) return refusal;
  const home = surroundings.env['CODEX_HOME'] ?? '';
  const file = join(isAbsolute(home) ? home : join(surroundings.home, '.codex'), 'config.toml');
  const user = await tableIn(file);
  if (user === undefined) return refusal;
  const level = tableOf(field(tableOf(field(user, 'projects')), root))['trust_level'];
  return [
    ...refusal,
    ...when(
      level !== 'trusted',
      broken(
        'trust',
        t`It does not read this file, because ${root} is not trusted.`,
        t`Start codex there and trust it.`,
      ),
    ),
  ];
}

const when = (isSo: boolean, found: HostCheck): HostCheck[] => (isSo ? [found] : []);
const check =
  (level: HostCheck['level']) =>
  (about: HostCheck['about'], text: string, fix: string): HostCheck => ({ level, about, text, fix });
const [broken, notice] = [check('broken'), check('notice')];
