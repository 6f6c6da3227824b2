import type { ChildProcess } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { bmadHere } from '../support/command-line.ts';
import { makeReadOnly, smallDisk } from '../support/disks.ts';
import {
  type HttpServer,
  type HttpServerOptions,
  serveHere,
  startHttpServer,
} from '../support/http-server.ts';
import { AUDIENCE, startIssuer } from '../support/oauth-issuer.ts';
import { bareEnvironment } from '../support/programs.ts';
import { openSocket } from '../support/raw-http.ts';
import { isDeep, rounds, some } from '../support/how-much.ts';

const [ADA, EVE] = ['token-of-ada-0123456789', 'token-of-eve-0123456789'];
const LOG = { decision: 'Queues are files', rationale: 'They survive' };

interface Place {
  cwd: string;
  home: string;
  state: string;
  file: string;
}

async function place(): Promise<Place> {
  const [cwd, home] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  await mkdir(join(cwd, '_bmad'));
  const file = join(home, 'tokens');
  await writeFile(file, `${ADA} # ada\n${EVE} read # eve\n`, { mode: 0o600 });
  return { cwd, home, state: join(home, 'state', 'bmad-mcp-server'), file };
}

async function serve(
  { cwd, home, state, file }: Place,
  env: Record<string, string> = {},
  begin: (options: HttpServerOptions) => Promise<HttpServer> = serveHere,
) {
  const own = {
    XDG_STATE_HOME: dirname(state),
    ...(env['BMAD_OAUTH_ISSUER'] ? {} : { BMAD_HTTP_TOKEN_FILE: file }),
  };
  const server = await begin({ cwd, home, env: { ...own, ...env } });
  onTestFinished(async () => void (await server.stop()));
  const { origin } = new URL(server.url);
  const ask = (
    token: string,
    path: string,
    body?: object,
    more: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${origin}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    server,
    ask,
    async ready(): Promise<{ status: string }> {
      return (await (await fetch(`${origin}/readyz`)).json()) as { status: string };
    },
    async tasks(): Promise<number> {
      const list = (await (await ask(ADA, '/api/task_list')).json()) as { data: { tasks: unknown[] } };
      return list.data.tasks.length;
    },
    show: async (...more: string[]): Promise<string> =>
      String((await bmadHere(['audit', ...more], { cwd, env: bareEnvironment(home, own) })).stdout),
  };
}

const spawn = (key: string) => ({ agent: 'dev', task: 'Compare queues', output_key: key });

describe('a token file', () => {
  it('that is replaced again and again while it is read admits nobody else, and everybody who is in both', async () => {
    const here = await place();
    const { ask } = await serve(here);
    const over = new AbortController();
    const replacing = (async () => {
      for (let count = 0; !over.signal.aborted; count += 1) {
        const draft = `${here.file}-${count % 2}`;
        await writeFile(
          draft,
          `# ${'x'.repeat(count % 2 === 0 ? 5 : 50_000)}\n${ADA} # ada\n${EVE} read # eve\n`,
        );
        await rename(draft, here.file);
      }
    })();
    const statuses = new Set<string>();
    for (let count = 0; count < rounds(20, 60); count += 1) {
      const [good, wrong, reader] = await Promise.all([
        ask(ADA, '/api'),
        ask('a-token-of-nobody-0123', '/api'),
        ask(EVE, '/api/log_decision', LOG),
      ]);
      statuses.add([good.status, wrong.status, reader.status].join(' '));
    }
    over.abort();
    await replacing;
    expect([...statuses].filter((each) => !['200 401 403', '200 429 403'].includes(each))).toEqual([]);
  });

  it('with half a line is read when the line is whole: no token has more rights meanwhile', async () => {
    const here = await place();
    const { ask } = await serve(here);
    await writeFile(here.file, `${ADA} # ada\n${EVE}`);
    const asked = ask(EVE, '/api/log_decision', LOG);
    await appendFile(here.file, ' read # eve\n');
    expect((await asked).status).toBe(403);
    expect((await ask(EVE, '/api/next')).status).toBe(200);
  });
});

describe('an audit', () => {
  /** The state folder of a server, whose audit cannot be written; nothing where this user may not mount. */
  async function state(full: boolean): Promise<string | undefined> {
    const folder = join(await temporaryFolder(onTestFinished), 'bmad-mcp-server');
    const audit = join(folder, 'audit');
    await mkdir(audit, { recursive: true, mode: 0o700 });
    if (!full) return (await makeReadOnly(audit, onTestFinished)) ? folder : undefined;
    if ((await smallDisk(64, onTestFinished, audit)) === undefined) return undefined;
    // Until there is no room for a byte more.
    for (let size = 32_768; size >= 1; size = Math.floor(size / 2))
      await appendFile(join(audit, 'filler'), 'x'.repeat(size)).catch(() => undefined);
    return folder;
  }

  // That no line can be written is in `audit.test.ts`, with what both settings make of it.
  it.runIf(isDeep).each([
    ['is read-only', false, '', 200],
    ['is read-only', false, 'required', 503],
    ['is on a full disk', true, '', 200],
    ['is on a full disk', true, 'required', 503],
  ])('whose folder %s (%s), with audit=%s: a change gets %i', async (_what, full, audit, status) => {
    const folder = await state(full);
    if (folder === undefined) return expect(process.getuid?.()).not.toBe(0);
    const here = { ...(await place()), state: folder };
    const { ask, ready, server } = await serve(here, audit === '' ? {} : { BMAD_AUDIT: audit });
    const answer = await ask(ADA, '/api/log_decision', LOG);
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toContain(folder);
    expect((await ask(EVE, '/api/next')).status).toBe(200);
    expect((await ready()).status).toBe('degraded');
    expect(server.stderr()).toContain('calls could not be audited');
    const entries = await readdir(here.cwd, { recursive: true, withFileTypes: true });
    const files = entries.filter((each) => each.isFile());
    const texts = await Promise.all(
      files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
    );
    expect(texts.some((text) => text.includes(LOG.decision))).toBe(status === 200);
  });

  it('shows what is hidden in the name of a caller, and is one line whatever the name is', async () => {
    const issuer = await startIssuer('openid-configuration');
    onTestFinished(() => issuer.stop());
    const env = { BMAD_OAUTH_ISSUER: issuer.url, BMAD_PUBLIC_URL: AUDIENCE.replace('/mcp', '') };
    const { ask, show } = await serve(await place(), env);
    const sub = 'eve\n2026-11-19T00:00:00Z token lead | \u001b[2K\u202eada';
    const token = issuer.token({ sub, scope: 'bmad:read bmad:write' });
    expect((await ask(token, '/api/log_decision', LOG)).status).toBe(200);
    const shown = await show('--outcome', 'ok');
    expect(shown.split('\n').filter((line) => line.includes('log_decision'))).toHaveLength(1);
    expect(shown).not.toMatch(/[\u001b\u202e]|^2026-11-19T00:00:00Z/m);
  });
});

describe('a clock', () => {
  it.skipIf(process.platform === 'win32')(
    'that is set back takes no line, no key and no minute away',
    async () => {
      const here = await place();
      await writeFile(here.file, `${ADA} # ada\n${EVE} calls=3 # eve\n`);
      const preload = join(here.home, 'clock.cjs');
      await writeFile(
        preload,
        `const { now } = Date; let by = 0; Date.now = () => now() - by;
process.on('SIGUSR2', () => { by += 3 * 86_400_000; process.stderr.write('It is earlier.\\n'); });`,
      );
      const args = ['--require', preload, serverFile, '--http', '--port', '0'];
      let child: ChildProcess | undefined;
      const { ask, server, show, tasks } = await serve(here, {}, async (options) => {
        const started = await startHttpServer({ ...options, args });
        ({ child } = started);
        return started;
      });
      const key = { 'idempotency-key': 'one' };
      expect((await ask(ADA, '/api/spawn_subagent_task', spawn('one'), key)).status).toBe(200);
      for (const status of [200, 200, 200, 429]) expect((await ask(EVE, '/api')).status).toBe(status);
      child?.kill('SIGUSR2');
      await expect.poll(() => server.stderr()).toContain('It is earlier.');
      const again = await ask(ADA, '/api/spawn_subagent_task', spawn('one'), key);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect((await ask(EVE, '/api')).status).toBe(429);
      expect((await ask(ADA, '/api/spawn_subagent_task', spawn('two'))).status).toBe(200);
      expect(await tasks()).toBe(2);
      expect((await show('--since', '10d')).match(/spawn_subagent_task/g)).toHaveLength(2);
    },
  );
});

describe('a request', () => {
  const LIES = [
    '\u00ff\u00fe, " or 1=1 --, ::::, unknown, [, %00, 10.0.0.1:99999',
    `${'1.2.3.4, '.repeat(1_000)}x`,
    '127.0.0.1',
  ];
  it.each(some(1, LIES))(
    'that a proxy forwards with lies (%#) is counted, and keeps no right token out',
    async (lies) => {
      const { ask, server } = await serve(await place(), {
        BMAD_HTTP_PROXIES: '127.0.0.1',
        BMAD_PUBLIC_URL: 'https://bmad.example',
      });
      const forwarded = { 'x-forwarded-for': lies };
      const statuses = [];
      for (let count = 0; count < 22; count += 1)
        statuses.push((await ask('a-token-of-nobody-0123', '/api', undefined, forwarded)).status);
      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
      expect((await ask(ADA, '/api', undefined, forwarded)).status).toBe(200);
      expect(server.stderr()).not.toContain('1=1');
    },
  );

  it('with a header of a megabyte is refused, and others are served meanwhile', async () => {
    const { ask, server } = await serve(await place());
    const { hostname, port } = new URL(server.url);
    const refused = new Promise<number | string>((resolve) => {
      const headers = { 'x-long': 'x'.repeat(1_048_576) };
      request({ hostname, port, path: '/api', headers }, (answer) => resolve(answer.resume().statusCode ?? 0))
        // The answer may be lost where the rest of the header is still on its way.
        .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
        .end();
    });
    expect((await ask(ADA, '/api')).status).toBe(200);
    expect([431, 'ECONNRESET', 'EPIPE']).toContain(await refused);
    expect((await ask(ADA, '/api')).status).toBe(200);
  });

  it('whose answer nobody reads is made once, and the next caller is served', async () => {
    const { ask, server, tasks } = await serve(await place());
    const body = JSON.stringify(spawn('unread'));
    const socket = await openSocket(server.url);
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write(
      `POST /api/spawn_subagent_task HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ADA}\r\nContent-Type: application/json\r\nIdempotency-Key: unread\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await expect.poll(tasks, { timeout: 10_000 }).toBe(1);
    const key = { 'idempotency-key': 'unread' };
    let again = await ask(ADA, '/api/spawn_subagent_task', spawn('unread'), key);
    // Its task is there a little before its answer.
    while (again.status === 409) again = await ask(ADA, '/api/spawn_subagent_task', spawn('unread'), key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await tasks()).toBe(1);
  });
});
