import { userStateFolder } from '../config/locations.ts';
import { hostname, networkInterfaces } from 'node:os';
import { createContext, type Outside } from '../app/app.ts';
import { servedProjects, type ServedProjects } from '../app/served-projects.ts';
import type { Context } from '../operations/context.ts';
import { openTaskFigures } from '../operations/tasks/task-view.ts';
import { inTurn } from '../base/async.ts';
import { BmadError, ours } from '../base/errors.ts';
import { findProgram } from '../base/files/find-program.ts';
import { runProgram } from '../base/process/process.ts';
import { createTurns } from '../base/http/turns.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../base/product.ts';
import { type Kept, plural, say, speaking, t } from '../base/text/message.ts';
import { withoutEnd } from '../base/text/text.ts';
import { createApiRoutes } from '../surfaces/http/api/route.ts';
import { auditOf } from './audited.ts';
import { openFrontDoor } from '../surfaces/http/front-door.ts';
import { catalogueFigures, createHealthRoutes, createMetrics } from '../surfaces/http/health.ts';
import { inUrl, isEverywhere, isLoopback } from '../surfaces/http/names.ts';
import { openInstances } from '../surfaces/http/page/instances.ts';
import { createMcpRoute } from '../surfaces/mcp/http/route.ts';
import { fail, hearSignals, httpPort, outside, readyLine, serverFlags, wordsFor } from './outside.ts';
import { decideAccess, onlyThisMachine, serveHelp, serverHelp } from './http-access.ts';
import { hasPage, localOrigin, pageParts } from './page-server.ts';
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
  const surroundings = { ...outside(settings), forOthers: true };
  const metrics = createMetrics();
  const turns = createTurns();
  const made = await createContext(surroundings);
  const audited = await auditOf(made);
  const context: Context = {
    ...made,
    async observe(seen) {
      metrics.observe(seen);
      await audited.observe(seen);
    },
    announce: audited.announce,
    turn: turns.call,
    adding: inTurn(),
  };
  const { config, log } = context;
  const projects = await servedProjects(surroundings, config, context.configFrom);
  const served = [projects.own.root ?? [], ...projects.allowed].flat();
  let address = config.publicUrl === undefined ? undefined : withoutEnd(config.publicUrl, '/');
  const access = await decideAccess(context, {
    outside: surroundings,
    newToken: switches.has('new-token'),
    resource: () => `${address ?? ''}${mcp.path}`,
  });
  const mcp = createMcpRoute(context, { key: access.key, streams: config.httpRequests });
  const { secured } = access;
  const a2a = config.a2a
    ? (await import('../surfaces/a2a/routes.ts')).createA2aRoutes(context, { secured, address })
    : [];
  const isOwn = onlyThisMachine(config);
  const page = pageParts(context, {
    outside: surroundings,
    isOn: hasPage(config),
    kind: 'serve',
    own: isOwn,
    behind: access.gate,
    projects: async () => served,
    address: () => address ?? '',
    publicUrl: address,
    clients: mcp.clients,
  });
  const figures = {
    catalogue: () => catalogueFigures(context),
    sessions: mcp.sessions,
    tasks: () => openTaskFigures(context),
    waiting: turns.waiting,
  };
  const port = httpPort(true, values.port ?? String(config.httpPort)) ?? config.httpPort;
  const serving = await openFrontDoor({
    host: config.httpHost,
    port,
    routes: [
      mcp,
      ...page.routes,
      ...createApiRoutes(context, { secured, page: page.isOn }),
      ...createHealthRoutes(context, async () => (await access.trouble?.()) ?? audited.trouble()),
      metrics.route(figures),
      ...a2a,
      ...access.routes,
    ],
    log,
    gate: page.gate,
    names: [
      ...config.allowHosts,
      ...(address === undefined ? [] : [new URL(address).hostname]),
      ...machineNames(config.httpHost),
    ],
    origins: config.allowOrigins,
    proxies: config.httpProxies,
    refused: metrics.refused,
    toldRefusals: audited.refused,
    projects: served,
    turn: turns.begin,
    limits: {
      requests: config.httpRequests,
      streams: config.httpRequests,
      drainMs: config.httpDrainMs,
      shutdownMs: config.httpShutdownMs,
    },
  }).catch((error: unknown) => explained(error, surroundings, port));
  address ??= serving.origin;
  const note = await speaking(words, () => access.settle?.())?.catch(async (error: unknown) => {
    await serving.close();
    throw error;
  });
  const leave = await page.enlist(localOrigin(serving.origin, config.httpHost));
  context.stay();
  hearSignals(config.httpDrainMs + config.httpShutdownMs, async () => {
    void tellSystem('STOPPING=1', context, surroundings);
    await leave();
    if (config.httpDrainMs > 0)
      tell(
        () =>
          t`Serving for another ${config.httpDrainMs / 1_000} s so that load balancers notice; ${say(AGAIN)}`,
      );
    await serving.drain();
    const count = serving.running();
    if (count > 0)
      tell(
        () =>
          t`Waiting for ${plural(count, 'call')}, at most ${config.httpShutdownMs / 1_000} s; ${say(AGAIN)}`,
      );
    await serving.close();
    context.close();
  });
  const where = { ...serving, path: mcp.path, host: config.httpHost, publicUrl: config.publicUrl };
  tell(() => startLines(where, access.whom, projects, note));
  if (page.isOn) tell(() => t`Page for people: ${address}/ ("bmad page" prints the link that lets you in)\n`);
  const [a2aRoute] = a2a;
  if (a2aRoute !== undefined) tell(() => `Agent2Agent: ${address}${a2aRoute.path}\n`);
  if (switches.has('summary')) showHelp(`${await speaking(words, () => readyLine(context))}\n`, 'remarks');
  await tellSystem('READY=1', context, surroundings);
  await serving.ended;
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

/** A second start is often a mistake: the server that is wanted runs already. */
async function explained(error: unknown, surroundings: Outside, port: number): Promise<never> {
  if (
    !(error instanceof BmadError) ||
    (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE'
  )
    throw error;
  // Anybody can answer like one of ours; nobody is sent to a server of somebody else.
  const { proven } = await openInstances(userStateFolder(surroundings)).answering();
  const running = proven.find(
    ({ kind, origin }) => kind === 'serve' && new URL(origin).port === String(port),
  );
  if (running === undefined) throw error;
  throw new BmadError(error.code, error.message, {
    hint: t`A BMAD MCP server is already running at ${running.origin}/mcp: use it, stop it first, or choose another port with --port.`,
    cause: error,
  });
}

/** What the machine is called by others, the name and its short form; nothing where no others come. */
function machineNames(host: string): string[] {
  if (isLoopback(host)) return [];
  const name = hostname();
  return /^[\w.-]+$/.test(name) ? [...new Set([name, name.split('.', 1)[0] ?? name])] : [];
}

interface Where {
  /** As it is listened on, such as `http://0.0.0.0:2623`. */
  origin: string;
  path: string;
  host: string;
  publicUrl?: string | undefined;
}

/** What is said at the start, a line each; programs look for the address in the first. */
function startLines(
  { origin, path, host, publicUrl }: Where,
  whom: Kept,
  { own, allowed }: ServedProjects,
  note?: string,
): string {
  const { port } = new URL(origin);
  const outer = isEverywhere(host) ? [...machineNames(host).slice(0, 1), ...firstAddress()] : [];
  const reached =
    publicUrl === undefined
      ? outer.map((name) => `http://${inUrl(name)}:${port}${path}`)
      : [`${withoutEnd(publicUrl, '/')}${path}`];
  return [
    t`${PRODUCT} ${VERSION} serves ${origin}${path} to ${whom}. Press Ctrl+C to stop.`,
    ...(reached.length === 0 ? [] : [t`Clients can reach it at ${reached.join(', ')}`]),
    own.root === undefined
      ? t`Project: none (${own.from}); set one with --project`
      : t`Project: ${own.root} (${own.from})`,
    ...(allowed.length === 0 ? [] : [t`Also allowed: ${allowed.join(', ')}`]),
    ...(note === undefined ? [] : [note]),
    '',
  ].join('\n');
}

/** The first address that other machines may know. */
function firstAddress(): string[] {
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal }) => !internal);
  const first = outer.find(({ family }) => family === 'IPv4') ?? outer[0];
  return first === undefined ? [] : [first.address];
}

if (programArguments()[0] === PAGE) servePage().catch((error: unknown) => fail(error, CLI_PROGRAM));
else main().catch((error: unknown) => fail(error));
