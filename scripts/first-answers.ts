import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { KINDS_OF_HOSTS } from '../src/surfaces/mcp/host-ways.ts';

/** What clients of the 2025 protocol ask for; the newest of the other one is the only one there is. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const MODERN = '2026-07-28';
const LISTENING = { promptsListChanged: true, resourcesListChanged: true };

type Fields = Record<string, unknown>;

/**
 * What a server without settings answers to the first questions of a host, in a folder without BMAD: it is asked by one host of
 * each kind, in both protocols, and what it keeps for its next start is taken for all first starts. The text is ASCII, which a start
 * reads fastest.
 */
export async function firstAnswers(program: string): Promise<string> {
  const sessions = [
    ...VERSIONS.map((version) => keptBy(program, '', version)),
    ...KINDS_OF_HOSTS.filter(Boolean).map((name) => keptBy(program, name, VERSIONS[0] ?? '')),
    ...KINDS_OF_HOSTS.map((name) => keptBy(program, name, undefined)),
  ];
  const answers = Object.assign({}, ...(await Promise.all(sessions))) as Record<string, string>;
  const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(answers).replaceAll(/[\u0080-\uFFFF]/g, escaped);
}

/** One session of a host with this name, without a version in the protocol of 2026. */
async function keptBy(
  program: string,
  name: string,
  version: string | undefined,
): Promise<Record<string, string>> {
  const home = await mkdtemp(join(tmpdir(), 'bmad-first-'));
  const cwd = await mkdtemp(join(tmpdir(), 'bmad-first-'));
  const env = { PATH: process.env['PATH'], HOME: home, USERPROFILE: home, LOCALAPPDATA: join(home, 'local') };
  const child = spawn(process.execPath, [program], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<unknown, (result: Fields) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result = {} } = JSON.parse(line) as { id?: unknown; result?: Fields };
    waiting.get(id)?.(result);
  });
  const client = { name, version: '1' };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const send = (message: Fields): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const params = (more: Fields): Fields => (version === undefined ? { ...more, _meta } : more);
  const request = (method: string, more: Fields = {}): Promise<Fields> => {
    const id = waiting.size + 1;
    send({ id, method, params: params(more) });
    return new Promise((resolve) => void waiting.set(id, resolve));
  };
  if (version === undefined) {
    await request('server/discover');
    send({ id: 'listen', method: 'subscriptions/listen', params: params({ notifications: LISTENING }) });
  } else {
    await request('initialize', { protocolVersion: version, capabilities: {}, clientInfo: client });
    send({ method: 'notifications/initialized' });
  }
  for (const list of ['tools/list', 'prompts/list', 'resources/list']) {
    let cursor: unknown;
    do {
      ({ nextCursor: cursor } = await request(list, cursor === undefined ? {} : { cursor }));
    } while (cursor !== undefined);
  }
  child.stdin.end();
  await new Promise((resolve) => void child.once('exit', resolve));
  const folder = join(
    process.platform === 'win32' ? join(home, 'local') : join(home, '.cache'),
    'bmad-mcp-server',
  );
  const kept = await readdir(join(folder, 'first-answers'));
  const [, text = ''] = (await readFile(join(folder, 'first-answers', kept[0] ?? ''), 'utf8')).split(
    /\n(.*)/s,
  );
  for (const each of [home, cwd]) await rm(each, { recursive: true, force: true });
  return (JSON.parse(text) as [string, Record<string, string>])[1];
}
