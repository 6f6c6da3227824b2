import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { serveHere, type HttpServer } from '../support/http-server.ts';
import { modern, sendRequest } from '../support/raw-http.ts';

const ADA = 'token-of-ada-0123456789';
const EVE = 'token-of-eve-0123456789';
const SECRET = 'a secret that all replicas of a server share';

const agent = (module: string, title: string): string =>
  `---\nname: guide\ndescription: ${title}\n---\n<agent id="bmad/${module}/agents/guide.md" name="Gina" title="${title}" icon="🧭">\n<persona><role>${title}</role></persona>\n</agent>\n`;

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
await writeFiles(cwd, {
  'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.22\nmodules:\n  - bmgd\n  - cis\n',
  'bmad/bmgd/agents/guide.md': agent('bmgd', 'Mountain guide'),
  'bmad/cis/agents/guide.md': agent('cis', 'City guide'),
});
await writeFile(join(home, 'tokens'), `${ADA}\n${EVE}\n`);

const servers: HttpServer[] = [];
async function start(env: Record<string, string> = {}): Promise<string> {
  const more = ['--discovery', 'local', '--http-token-file', join(home, 'tokens')];
  const server = await serveHere({ cwd, home, more, env });
  servers.push(server);
  return server.url;
}

interface Answer {
  result?: { inputRequests?: Record<string, unknown>; requestState?: string; content?: { text: string }[] };
  error?: { code: number; message: string };
}

async function ask(url: string, token: string, params: Record<string, unknown>, method = 'tools/call') {
  const { arguments: args } = params as typeof CALL;
  // A client that has not come back with an answer is not asked again, so each test has one of its own.
  const { body, headers } = modern(method, params, { sampling: {} }, args.message);
  const sent = { body, headers: { ...headers, authorization: `Bearer ${token}` } };
  return JSON.parse((await sendRequest(url, sent)).text) as Answer;
}

const CALL = {
  name: 'bmad',
  arguments: { operation: 'execute', agent: 'guide', message: 'Which tram goes to the museum?' },
};
const ANSWER = { role: 'assistant', model: 'test', content: { type: 'text', text: 'cis/guide' } };

/** The first round: the question, and the state that goes with it. */
async function firstRound(url: string, message: string): Promise<Record<string, unknown>> {
  const call = { ...CALL, arguments: { ...CALL.arguments, message } };
  const { result } = await ask(url, ADA, call);
  const [key = ''] = Object.keys(result?.inputRequests ?? {});
  expect(result?.requestState).toEqual(expect.any(String));
  return { ...call, requestState: result?.requestState, inputResponses: { [key]: ANSWER } };
}

const textIn = ({ result }: Answer): string => result?.content?.map(({ text }) => text).join('') ?? '';

describe('the state that a client carries for the server', () => {
  let url = '';
  beforeAll(async () => {
    url = await start({ BMAD_HTTP_SECRET: SECRET });
    return async () => void (await Promise.all(servers.map((server) => server.stop())));
  });

  it('is taken from whom it was given to, also a second time', async () => {
    const second = await firstRound(url, 'First');
    for (let count = 0; count < 2; count += 1)
      expect(textIn(await ask(url, ADA, second))).toContain('Most likely cis/guide');
  });

  it('says nothing in plain words that could be changed', async () => {
    const second = await firstRound(url, 'Second');
    const state = String(second['requestState']);
    const middle = Math.floor(state.length / 2);
    const other = state[middle] === 'A' ? 'B' : 'A';
    const changed = `${state.slice(0, middle)}${other}${state.slice(middle + 1)}`;
    const forged = JSON.stringify({ asked: {}, answers: {} });
    for (const requestState of [changed, forged, state.slice(0, -4), 'x', '', 'x'.repeat(100_000)]) {
      const { error, result } = await ask(url, ADA, { ...second, requestState });
      expect(result).toBeUndefined();
      expect(error?.code).toBe(-32_602);
      expect(error?.message).not.toContain('at ');
    }
  });

  it('is refused from another caller, and with another kind of call', async () => {
    const second = await firstRound(url, 'Third');
    expect((await ask(url, EVE, second)).error?.code).toBe(-32_602);
    const prompt = {
      name: 'bmad-guide',
      arguments: { message: 'Third' },
      requestState: second['requestState'],
    };
    expect((await ask(url, ADA, prompt, 'prompts/get')).error?.code).toBe(-32_602);
  });

  it('is taken by a replica with the same secret, and by no other server', async () => {
    const [replica, other] = [await start({ BMAD_HTTP_SECRET: SECRET }), await start()];
    const second = await firstRound(url, 'Fourth');
    expect(textIn(await ask(replica, ADA, second))).toContain('Most likely cis/guide');
    expect((await ask(other, ADA, second)).error?.code).toBe(-32_602);
  });
});
