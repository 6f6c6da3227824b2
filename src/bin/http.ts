import type { Outside } from '../app/app.ts';
import { ours } from '../base/errors.ts';
import { findProgram } from '../base/files/find-program.ts';
import { runProgram } from '../base/process/process.ts';
import { CLI_PROGRAM } from '../base/product.ts';
import { plural, say, speaking, t } from '../base/text/message.ts';
import type { Context } from '../operations/context.ts';
import { serveHelp, serverHelp } from './http-access.ts';
import { openHttpServer } from './http-server.ts';
import { toolList } from '../surfaces/mcp/tools.ts';
import { fail, hearSignals, outside, readyLine, serverFlags, wordsFor } from './outside.ts';
import { servePage } from './page.ts';
import { PAGE, programArguments } from './program-place.ts';
import { showHelp } from './start-screen.ts';

const AGAIN = 'press Ctrl+C again to stop now.\n';

/** A separate program, loaded by the server when HTTP is requested: what hosts start stays small. */
async function main(): Promise<void> {
  const { settings, switches, values } = serverFlags();
  const words = await wordsFor(settings);
  // Only these lines are for the person who has started it: nothing that is served may be said in their words.
  const tell = (make: () => string): void => showHelp(speaking(words, make), 'remarks');
  if (switches.has('help')) return showHelp(speaking(words, switches.has('http') ? serveHelp : serverHelp));
  const surroundings = outside(settings);
  const asked = { port: values.port, newToken: switches.has('new-token'), words };
  const server = await openHttpServer(surroundings, asked);
  const { context } = server;
  const { httpDrainMs, httpShutdownMs } = context.config;
  hearSignals(httpDrainMs + httpShutdownMs, async () => {
    void tellSystem('STOPPING=1', context, surroundings);
    await server.leave();
    if (httpDrainMs > 0)
      tell(
        () => t`Serving for another ${httpDrainMs / 1_000} s so that load balancers notice; ${say(AGAIN)}`,
      );
    await server.drain();
    const count = server.running();
    if (count > 0)
      tell(() => t`Waiting for ${plural(count, 'call')}, at most ${httpShutdownMs / 1_000} s; ${say(AGAIN)}`);
    await server.close();
  });
  tell(server.startLines);
  if (switches.has('summary'))
    showHelp(`${await speaking(words, () => readyLine(context, toolList))}\n`, 'remarks');
  await tellSystem('READY=1', context, surroundings);
  await server.ended;
}

/** A unit of systemd with Type=notify waits for it; nobody else has asked. */
async function tellSystem(
  what: 'READY=1' | 'STOPPING=1',
  { log }: Pick<Context, 'log'>,
  { env, cwd }: Pick<Outside, 'env' | 'cwd'>,
): Promise<void> {
  const { NOTIFY_SOCKET: socket = '', PATH } = env;
  if (socket === '') return;
  const program = await findProgram('systemd-notify', { env, besides: [cwd] });
  const asked = { env: { NOTIFY_SOCKET: socket, PATH }, timeoutMs: NOTIFY_MS };
  const ran = program && (await runProgram(program, [what], asked).catch(ours(() => undefined)));
  // A unit that is stopped may end the program before it has said so, and nobody misses that.
  if (ran?.code !== 0 && what === 'READY=1')
    log.warn(t`The program systemd-notify failed: systemd may not know that the server is ready.`, { what });
}

const NOTIFY_MS = 10_000;

if (programArguments()[0] === PAGE) servePage().catch((error: unknown) => fail(error, CLI_PROGRAM));
else main().catch((error: unknown) => fail(error));
