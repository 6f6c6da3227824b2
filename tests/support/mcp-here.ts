import type { Client } from '@modelcontextprotocol/client';
import { createContext } from '../../src/app/app.ts';
import { extractSettings } from '../../src/config/flags.ts';
import { cliFile, outsideHere } from './app.ts';
import type { ConnectOptions } from './mcp-client.ts';
import { bareEnvironment } from './programs.ts';
import { connectInMemory } from './told-client.ts';

/**
 * The official client, connected to a server in this process, which ends with it. A start takes longer than most calls: this
 * is for tests of what they answer, where others start the program.
 */
export async function connectHere({
  cwd,
  home,
  mode = 'legacy',
  roots,
  sample,
  elicit,
  args = [],
  env = {},
}: Pick<
  ConnectOptions,
  'cwd' | 'home' | 'mode' | 'roots' | 'sample' | 'elicit' | 'args' | 'env'
>): Promise<Client> {
  const flags = extractSettings(args).settings;
  const context = await createContext({
    ...outsideHere({ cwd, home, flags, env: bareEnvironment(home, env) }),
    ownProgram: [process.execPath, cliFile],
  });
  const client = await connectInMemory(context, mode, () => undefined, { roots, sample, elicit });
  const ended = client.onclose;
  client.onclose = () => {
    ended?.();
    context.close();
  };
  return client;
}
