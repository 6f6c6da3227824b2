import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './app.ts';
import { LineClient, type Message } from './line-client.ts';

const folder = join(repository, 'tests/fixtures/hosts');

/** What a real host wrote to the server's stdin, line by line, and when it waited for what. */
export interface Recording {
  file: string;
  name: string;
  version: string;
  /** The protocol version it asks for. */
  protocol: string;
  /** What of its environment matters to the server. */
  env: Record<string, string>;
  /** How the host said goodbye. */
  end: 'stdin' | 'SIGINT' | 'SIGTERM';
  lines: Line[];
}

type Line = { host: Message } | { server: { id: string | number } | { method: string } };

export async function recordings(): Promise<Recording[]> {
  const files = (await readdir(folder)).sort();
  return Promise.all(
    files.map(async (file) => {
      const [head = '', ...lines] = (await readFile(join(folder, file), 'utf8')).trim().split('\n');
      return {
        file,
        ...(JSON.parse(head) as Omit<Recording, 'file' | 'lines'>),
        lines: lines.map((line) => JSON.parse(line) as Line),
      };
    }),
  );
}

/** A recording says `{project}` where the host named the folder it worked in. */
function placed<T>(value: T, project: string): T {
  const inJson = JSON.stringify(project).slice(1, -1);
  return JSON.parse(JSON.stringify(value).replaceAll('{project}', () => inJson)) as T;
}

export interface Replayed {
  /** Method and parameters of each request, with the answer it got. */
  exchanges: { method: string; params: Record<string, unknown>; answer: Message }[];
  /** What the server sent by itself while the host waited for it. */
  asked: Message[];
  code: number | null;
  stderr: string;
  strays: readonly string[];
}

/** Starts the built server as the host did, writes what it wrote, and leaves as it left. */
export async function replay(recording: Recording, project: string, home: string): Promise<Replayed> {
  const client = new LineClient({ cwd: project, home, env: placed(recording.env, project) });
  const sent = new Map<unknown, Message>();
  const replayed: Omit<Replayed, 'code' | 'stderr' | 'strays'> = { exchanges: [], asked: [] };
  let cursor: unknown;
  for (const line of placed(recording.lines, project)) {
    if ('host' in line) {
      const { host } = line;
      // A cursor is the server's own, of the list it has now.
      if (host.params?.['cursor'] !== undefined) host.params['cursor'] = cursor;
      if (host.method !== undefined && host.id !== undefined) sent.set(host.id, host);
      await client.send(host);
    } else if ('method' in line.server) {
      replayed.asked.push(await client.asked(line.server.method));
    } else {
      const { method = '', params = {} } = sent.get(line.server.id) ?? {};
      const answer = await client.answer(line.server.id);
      if (answer.result?.['nextCursor'] !== undefined) cursor = answer.result['nextCursor'];
      replayed.exchanges.push({ method, params, answer });
    }
  }
  if (recording.end === 'stdin') client.child.stdin.end();
  else client.child.kill(recording.end);
  const { code } = await client.ended;
  return { ...replayed, code, stderr: client.stderr, strays: client.strays };
}
