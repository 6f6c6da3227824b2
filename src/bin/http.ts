import { createContext } from '../app.ts';
import { PRODUCT, VERSION } from '../base/product.ts';
import { openFrontDoor } from '../surfaces/http/front-door.ts';
import { createMcpRoute } from '../surfaces/mcp/http/route.ts';
import { DEFAULT_PORT, httpPort } from './http-port.ts';
import { outside } from './outside.ts';
import { readyLine } from './ready-line.ts';
import { fail, serverFlags } from './server-flags.ts';

const GRACE_MS = 1_000;

/** A program of its own, loaded by the server when it is asked for HTTP: what hosts start stays as small as it was. */
async function main(): Promise<void> {
  const { settings, switches, values } = serverFlags();
  const context = await createContext(outside(settings));
  const mcp = createMcpRoute(context);
  const a2a = context.config.a2a ? (await import('../surfaces/a2a/routes.ts')).createA2aRoutes(context) : [];
  const serving = await openFrontDoor({
    port: httpPort(true, values.port) ?? DEFAULT_PORT,
    routes: [mcp, ...a2a],
    log: context.log,
  });
  const stop = (): void => {
    // A call that does not notice its end must not keep the process.
    setTimeout(() => process.exit(0), GRACE_MS).unref();
    context.close();
    void serving.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, stop);
  process.stderr.write(
    `${PRODUCT} ${VERSION} serves ${serving.origin}${mcp.path} to clients on this machine only. Press Ctrl+C to leave.\n`,
  );
  if (a2a.length > 0) process.stderr.write(`Agent2Agent: ${serving.origin}${a2a[0]?.path}\n`);
  if (switches.has('summary')) process.stderr.write(`${await readyLine(context)}\n`);
  await serving.ended;
}

main().catch(fail);
