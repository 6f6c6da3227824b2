import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { decideAccess } from '../../src/bin/http-access.ts';
import { cliFile, contextIn, outsideHere, temporaryFolder } from '../support/app.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import {
  type HttpServer,
  type HttpServerOptions,
  serveHere,
  startHttpServer,
} from '../support/http-server.ts';
import { textsOf } from '../support/mcp-client.ts';
import { AUDIENCE, startIssuer } from '../support/oauth-issuer.ts';
import { bareEnvironment, bmadServer } from '../support/programs.ts';
import { INITIALIZE, LIST, modern, sendRequest, type Sent } from '../support/raw-http.ts';
import { some } from '../support/how-much.ts';

const TOKEN = 'token-of-this-test-0123456789';
const READER = 'token-that-only-reads-0123456';
const cwd = await temporaryFolder(afterAll);
await mkdir(join(cwd, '_bmad'));

async function start(more: Partial<HttpServerOptions> = {}, begin = serveHere): Promise<HttpServer> {
  const server = await begin({ cwd, home: await temporaryFolder(onTestFinished), ...more });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

const withToken = (token: string, sent: Sent = {}): Sent => ({
  ...sent,
  headers: { ...sent.headers, authorization: `Bearer ${token}` },
});
const statusOf = async (url: string, sent: Sent): Promise<number> => (await sendRequest(url, sent)).status;

async function remember(client: Client): Promise<{ isError?: boolean; text: string }> {
  const result = await client.callTool({
    name: 'remember_structured',
    arguments: { type: 'decisions', agent: 'architect', text: 'Tokens are compared in constant time.' },
  });
  return { isError: result.isError === true, text: textsOf(result).join('\n') };
}

describe('a token in the environment', () => {
  let shared: HttpServer;
  beforeAll(async () => {
    const env = { BMAD_HTTP_TOKEN: TOKEN, BMAD_LOG_LEVEL: 'debug' };
    shared = await serveHere({ cwd, home: await temporaryFolder(afterAll), env });
    return async () => void (await shared.stop());
  });

  it.each(ERAS)('is needed by $name', async ({ mode }) => {
    const { url, stderr } = shared;
    await expect(connectOver(url, mode)).rejects.toThrow(/nauthorized|401|server’s token/);
    await expect(connectOver(url, mode, `${TOKEN}x`)).rejects.toThrow(/nauthorized|401|not valid/);
    const client = await connectOver(url, mode, TOKEN);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('remember_structured');
    expect(await remember(client)).toMatchObject({ isError: false });
    // Whatever asks for the settings does not get it either.
    const shown = await client.callTool({ name: 'bmad', arguments: { command: 'config show' } });
    expect(JSON.stringify(shown)).not.toContain(TOKEN);
    await client.close();
    expect(stderr()).toContain('to clients on this machine with the token.');
    expect(stderr()).not.toContain(TOKEN);
  });

  const WRONG: [Record<string, string>, string][] = [
    [{ BMAD_HTTP_TOKEN: 'short' }, 'at least 12 characters'],
    [{ BMAD_OAUTH_ISSUER: 'https://id.example', BMAD_HTTP_HOST: '0.0.0.0' }, '--public-url'],
    [{ BMAD_HTTP_HOST: '192.0.2.1', BMAD_HTTP_TOKEN: TOKEN }, 'cannot listen on 192.0.2.1'],
    [{ BMAD_HTTP_TOKEN: 'no spaces are allowed' }, 'Use only letters, digits'],
    [{ BMAD_HTTP_TOKEN: TOKEN, BMAD_OAUTH_ISSUER: 'https://id.example' }, 'Set either oauth_issuer'],
    [{ BMAD_OAUTH_ISSUER: 'http://id.example' }, '"http://id.example" must use https'],
    [
      { BMAD_OAUTH_ISSUER: 'https://id.example', BMAD_OAUTH_KEYS_URL: 'http://192.0.2.1/keys' },
      'oauth_keys_url: "http://192.0.2.1/keys" must use https',
    ],
    [{ BMAD_HTTP_AUTH: 'never' }, 'http_auth'],
    [{ BMAD_ALLOW_ORIGINS: '*' }, 'Use an origin such as'],
    [{ BMAD_ALLOW_HOSTS: 'https://bmad.example' }, 'Use a host name without a port'],
  ];
  it.each(some(3, WRONG))('does not start with %j', async (env, message) => {
    const home = await temporaryFolder(onTestFinished);
    const args = ['--http', '--port', '0'];
    const { code, stderr } = await bmadServer(args, { cwd, env: bareEnvironment(home, env) });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(env['BMAD_HTTP_TOKEN'] ?? '\0');
    expect(code).not.toBe(0);
  });

  // The others are refused by the same function before anything listens; a long trial starts a program for each.
  it.each(WRONG.slice(3))('is not enough, or too much, with %j', async (env, message) => {
    const home = await temporaryFolder(onTestFinished);
    const refused = async (): Promise<unknown> => {
      const context = await contextIn(cwd, { home, env });
      const outside = outsideHere({ cwd, home, env });
      return decideAccess(context, { outside, newToken: false, resource: () => '' });
    };
    const error = await refused().catch((thrown: unknown) => BmadError.from(thrown, () => undefined).text);
    expect(error).toContain(message);
    expect(error).not.toContain(env['BMAD_HTTP_TOKEN'] ?? '\0');
  });

  it('is not taken from the file of a project', async () => {
    const project = await temporaryFolder(onTestFinished);
    const file = `http_host = "0.0.0.0"\nhttp_token = "${TOKEN}"\nallow_projects = ["/"]\n`;
    await writeFile(join(project, 'bmad-mcp.toml'), file);
    const { url, stderr } = await start({ cwd: project });
    expect(await statusOf(url, { body: INITIALIZE })).toBe(200);
    expect(url).toContain('//127.0.0.1:');
    expect(stderr()).toContain('http_host');
    expect(stderr()).not.toContain(TOKEN);
  });
});

describe('a server for other machines', () => {
  it('makes a token, shows it once, keeps it for its user alone, and makes a new one when told to', async () => {
    const home = await temporaryFolder(onTestFinished);
    const more = ['--host', '0.0.0.0'];
    const first = await start({ home, more }, startHttpServer);
    const url = first.url.replace('0.0.0.0', '127.0.0.1');
    const file = join(home, '.local/state/bmad-mcp-server/http-token');
    const token = (await readFile(file, 'utf8')).trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(first.stderr().split(token)).toHaveLength(2);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await statusOf(url, { body: INITIALIZE })).toBe(401);
    expect(await statusOf(url, withToken(token, { body: INITIALIZE }))).toBe(200);
    expect(await first.stop()).toBe(0);

    const second = await start({ home, more });
    const again = second.url.replace('0.0.0.0', '127.0.0.1');
    expect(second.stderr()).toContain(`Clients must send the token in ${file}.`);
    expect(second.stderr()).not.toContain(token);
    expect(await statusOf(again, withToken(token, { body: INITIALIZE }))).toBe(200);
    await second.stop();

    const third = await start({ home, more: [...more, '--new-token'] }, startHttpServer);
    const renewed = third.url.replace('0.0.0.0', '127.0.0.1');
    expect(await statusOf(renewed, withToken(token, { body: INITIALIZE }))).toBe(401);
    const replaced = (await readFile(file, 'utf8')).trim();
    expect(await statusOf(renewed, withToken(replaced, { body: INITIALIZE }))).toBe(200);
  });

  it('makes one token when two start at once', async () => {
    const home = await temporaryFolder(onTestFinished);
    const both = await Promise.all(
      [1, 2].map(() => start({ home, more: ['--http-auth', 'token'] }, startHttpServer)),
    );
    const token = (await readFile(join(home, '.local/state/bmad-mcp-server/http-token'), 'utf8')).trim();
    for (const { url } of both) expect(await statusOf(url, withToken(token, { body: INITIALIZE }))).toBe(200);
  });
});

describe('tokens in a file', () => {
  async function tokenFile(
    text: string,
    onEnd: (cleanUp: () => Promise<void>) => void = onTestFinished,
  ): Promise<string> {
    const file = join(await temporaryFolder(onEnd), 'tokens');
    await writeFile(file, text);
    await chmod(file, 0o600);
    return file;
  }

  let shared: HttpServer;
  beforeAll(async () => {
    const more = ['--http-token-file', await tokenFile(`# ours\n${TOKEN}\n${READER} read\n`, afterAll)];
    shared = await serveHere({ cwd, home: await temporaryFolder(afterAll), more });
    return async () => void (await shared.stop());
  });

  it.each(ERAS)('can be limited to reading, as $name finds out', async ({ mode }) => {
    const { url } = shared;
    const [writer, reader] = [await connectOver(url, mode, TOKEN), await connectOver(url, mode, READER)];
    const names = async (client: Client): Promise<string[]> =>
      (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(writer)).toContain('remember_structured');
    expect(await names(reader)).not.toContain('remember_structured');
    expect(await names(reader)).toContain('recall_structured');
    expect(await remember(reader)).toMatchObject({
      isError: true,
      text: expect.stringContaining('your access is read-only'),
    });
    const action = await reader.callTool({
      name: 'manage_project',
      arguments: { action: 'log_decision', args: { title: 'No', decision: 'No' } },
    });
    expect(textsOf(action).join('')).toContain('your access is read-only');
    expect(await remember(writer)).toMatchObject({ isError: false });
    await Promise.all([writer.close(), reader.close()]);
  });

  it('are different callers: the session of one is not there for the other', async () => {
    const { url } = await start({ more: ['--http-token-file', await tokenFile(`${TOKEN}\n${READER}\n`)] });
    const opened = await sendRequest(url, withToken(TOKEN, { body: INITIALIZE }));
    const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    expect(await statusOf(url, withToken(TOKEN, { body: LIST, headers: session }))).toBe(200);
    expect(await statusOf(url, withToken(READER, { body: LIST, headers: session }))).toBe(404);
    expect(await statusOf(url, withToken(READER, { method: 'GET', headers: session }))).toBe(404);
    expect(await statusOf(url, withToken(READER, { method: 'DELETE', headers: session }))).toBe(404);
    expect(await statusOf(url, { body: LIST, headers: session })).toBe(401);
    expect(await statusOf(url, withToken(TOKEN, { body: LIST, headers: session }))).toBe(200);
  });

  it('are read again when they change: one that is taken out ends, whatever else the file has (D-6)', async () => {
    const file = await tokenFile(`${TOKEN} # ada\n${READER} read\n`);
    const { url, stderr } = await start({ more: ['--http-token-file', file] });
    const status = (token: string): Promise<number> => statusOf(url, withToken(token, { body: INITIALIZE }));
    const ready = async (): Promise<object> =>
      JSON.parse((await sendRequest(url, { method: 'GET', path: '/readyz' })).text) as object;
    expect([await status(TOKEN), await status(READER)]).toEqual([200, 200]);
    expect(await ready()).toEqual({ status: 'ready' });
    await writeFile(file, `${READER} read\n`);
    expect([await status(TOKEN), await status(READER)]).toEqual([401, 200]);
    await writeFile(file, `short\n${TOKEN}\n`);
    // Nobody has to come with a token first.
    expect(await ready()).toEqual({
      status: 'degraded',
      reasons: ['The token file has lines that are not valid: 1.'],
    });
    expect([await status(TOKEN), await status(READER)]).toEqual([200, 401]);
    expect(stderr()).toContain('lines of the token file are not valid');
    await rm(file);
    expect([await status(TOKEN), await status(READER)]).toEqual([401, 401]);
    await writeFile(file, `${TOKEN}\n`);
    expect(await ready()).toEqual({ status: 'ready' });
    expect([await status(TOKEN), await status(READER)]).toEqual([200, 401]);
    expect(stderr()).not.toContain(TOKEN);
  });

  it.each(some(2, ['# nothing\n\n', `${TOKEN} sometimes\n`, 'short\n', `${TOKEN} project=shop\n`]))(
    'are not %j',
    async (text) => {
      const home = await temporaryFolder(onTestFinished);
      const args = ['--http', '--port', '0', '--http-token-file', await tokenFile(text)];
      const { code, stderr } = await bmadServer(args, { cwd, env: bareEnvironment(home) });
      expect(stderr).toContain('has no valid token.');
      expect(stderr).not.toContain(TOKEN);
      expect(code).toBe(2);
    },
  );
});

describe('OAuth', () => {
  it('admits clients with an access token, each with the rights it grants', async () => {
    const issuer = await startIssuer('openid-configuration');
    onTestFinished(() => issuer.stop());
    const { url, stderr } = await start({
      env: { BMAD_OAUTH_ISSUER: issuer.url, BMAD_PUBLIC_URL: AUDIENCE.replace('/mcp', '') },
    });
    expect(stderr()).toContain(`to clients with an access token from ${issuer.url}.`);
    const refused = await sendRequest(url, { body: INITIALIZE });
    expect(refused.status).toBe(401);
    const place = /resource_metadata="([^"]+)"/.exec(refused.headers['www-authenticate'] ?? '')?.[1] ?? '';
    expect(place).toBe('https://bmad.example/.well-known/oauth-protected-resource/mcp');
    const path = new URL(place).pathname;
    const metadata = await sendRequest(url, { method: 'GET', path, headers: { host: 'bmad.example' } });
    expect(JSON.parse(metadata.text)).toMatchObject({
      resource: AUDIENCE,
      authorization_servers: [issuer.url],
    });
    for (const { mode } of ERAS) {
      await expect(connectOver(url, mode, issuer.token({ scope: 'openid' }))).rejects.toThrow(/403|scope/i);
      const reader = await connectOver(url, mode, issuer.token({ sub: 'eve', scope: 'bmad:read' }));
      expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain('remember_structured');
      await expect(remember(reader)).rejects.toThrow(/403|scope|writing/);
      const action = { name: 'manage_project', arguments: { action: 'log_decision', args: { title: 'No' } } };
      expect(textsOf(await reader.callTool(action)).join('')).toContain('your access is read-only');
      const writer = await connectOver(url, mode, issuer.token());
      expect(await remember(writer)).toMatchObject({ isError: false });
      await Promise.all([reader.close(), writer.close()]);
    }
    const call = modern('tools/call', { name: 'remember_structured', arguments: {} });
    const stopped = await sendRequest(url, withToken(issuer.token({ scope: 'bmad:read' }), call));
    expect(stopped.status).toBe(403);
    expect(stopped.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${place}", error="insufficient_scope", scope="bmad:read bmad:write"`,
    );
    const opened = await sendRequest(url, withToken(issuer.token(), { body: INITIALIZE }));
    const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const other = issuer.token({ sub: 'eve' });
    expect(await statusOf(url, withToken(other, { body: LIST, headers: session }))).toBe(404);
    // A new token of the same person goes on with the session.
    const renewed = issuer.token({ jti: 'another' });
    expect(await statusOf(url, withToken(renewed, { body: LIST, headers: session }))).toBe(200);
  });
});

describe('bmad serve', () => {
  it('is the same server', async () => {
    const args = [cliFile, 'serve', '--port', '0', '--http-auth', 'token'];
    const { url, stderr } = await start({ args }, startHttpServer);
    expect(stderr()).toContain('serves http://127.0.0.1:');
    expect(await statusOf(url, { body: INITIALIZE })).toBe(401);
  });
});
