import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { contextIn, temporaryFolder, withWatch } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import type { Context } from '../../operations/context.ts';
import { serveStreams } from './stdio.ts';

const agent = (mark: string): string =>
  `---\nname: "keeper"\ndescription: "${mark}"\n---\n<agent id="a" name="Ida" title="Keeper" icon="x">\n${mark}\n</agent>\n`;

type Message = { id?: number; result?: { content?: { text: string }[] } };

/** A client that writes lines and waits for the answers, and what its calls have run. */
function connect(context: Context) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ran: string[] = [];
  const { close } = serveStreams(
    {
      ...context,
      operation: (name) => {
        ran.push(name);
        return context.operation(name);
      },
    },
    input,
    output,
  );
  const waiting = new Map<number, (message: Message) => void>();
  const answered: number[] = [];
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString()}`.split('\n');
    rest = lines.pop() ?? '';
    for (const message of lines.map((line) => JSON.parse(line) as Message)) {
      answered.push(message.id ?? -1);
      waiting.get(message.id ?? -1)?.(message);
    }
  });
  let last = 0;
  const write = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method: string, params: object): Promise<Message> => {
    last += 1;
    const id = last;
    write({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return {
    ran,
    answered,
    write,
    close,
    request,
    begin: () =>
      request('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      }),
    async bmad(args: object): Promise<string> {
      const { result } = await request('tools/call', { name: 'bmad', arguments: args });
      return (result?.content ?? []).map(({ text }) => text).join('\n');
    },
  };
}

describe('a call that is made again', () => {
  let folder = '';
  let context: Context;
  const file = (): string => join(folder, '_bmad/bmm/agents/keeper.md');
  beforeAll(async () => {
    folder = await temporaryFolder(afterAll);
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - bmm\n',
      '_bmad/bmm/agents/keeper.md': agent('Keeps the light'),
      '_bmad/bmm/agents/warden.md': agent('Guards it').replaceAll('keeper', 'warden'),
    });
    context = await withWatch(
      await contextIn(folder, { flags: { discovery: 'local' }, presets: { usage: 'true' } }),
      afterAll,
    );
  });

  it('is answered as before without being run, and is run when anything is different', async () => {
    const client = connect(context);
    await client.begin();
    const asked = [
      { operation: 'list', query: 'agents' },
      { operation: 'read', agent: 'keeper' },
    ];
    for (const args of asked) {
      await expect
        .poll(async () => {
          const before = client.ran.length;
          await client.bmad(args);
          return client.ran.length - before;
        })
        .toBe(0);
    }
    for (const mark of ['Trims the wick', 'Polishes the lens']) {
      writeFileSync(file(), agent(mark));
      for (const args of asked) expect(await client.bmad(args), JSON.stringify(args)).toContain(mark);
    }
    const order = async (): Promise<boolean> => {
      const text = await client.bmad({ operation: 'list', query: 'agents' });
      return text.indexOf('warden') < text.indexOf('keeper');
    };
    expect(await order()).toBe(false);
    await client.bmad({ operation: 'execute', agent: 'warden', message: 'Hello' });
    expect(await order(), 'what is used comes first').toBe(true);
    await client.close();
  });

  it('has nothing sent for it once it is cancelled, and says no less where calls are counted', async () => {
    const client = connect(context);
    await client.begin();
    const list = { operation: 'list', query: 'agents' };
    for (let round = 0; round < 3; round += 1) await client.bmad(list);
    const ids = client.answered.length;
    void client.bmad(list);
    client.write({ method: 'notifications/cancelled', params: { requestId: ids + 1 } });
    await client.bmad({ operation: 'list', query: 'workflows' });
    expect(client.answered).not.toContain(ids + 1);
    await client.close();

    const observe = vi.fn<NonNullable<Context['observe']>>();
    const counted = connect({ ...context, observe });
    await counted.begin();
    for (let round = 0; round < 3; round += 1) await counted.bmad(list);
    expect(observe).toHaveBeenCalledTimes(3);
    await counted.close();
  });
});
