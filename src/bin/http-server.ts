import { present } from '../base/values.ts';
import { hostname, networkInterfaces } from 'node:os';
import { createContext, type Outside } from '../app/app.ts';
import { type ServedProjects, servedProjects } from '../app/settings.ts';
import { inTurn } from '../base/async.ts';
import { BmadError } from '../base/errors.ts';
import { createTurns } from '../base/http/turns.ts';
import { PRODUCT, VERSION } from '../base/product.ts';
import { type Catalogue, type Kept, speaking, t } from '../base/text/message.ts';
import { withoutEnd } from '../base/text/text.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Called, Context, Observed } from '../operations/context.ts';
import { openTaskFigures } from '../operations/tasks/task-view.ts';
import { createApiRoutes } from '../surfaces/http/api/route.ts';
import { openFrontDoor } from '../surfaces/http/front-door.ts';
import { catalogueFigures, createHealthRoutes, createMetrics } from '../surfaces/http/health.ts';
import { inUrl, isEverywhere, isLoopback } from '../surfaces/http/names.ts';
import { openInstances } from '../surfaces/http/page/instances.ts';
import { createMcpRoute } from '../surfaces/mcp/http/route.ts';
import { decideAccess, onlyThisMachine } from './http-access.ts';
import { httpPort } from './outside.ts';
import { hasPage, localOrigin, pageParts } from './page-server.ts';
import { broughtBy, observedCall } from '../operations/observed.ts';
import type { ToldRefusal } from '../surfaces/http/refusals.ts';

interface Asked {
  port?: string | undefined;
  newToken?: boolean;
  /** Those of the person who starts it; nothing for English. */
  words?: Catalogue | undefined;
}

/** The server over HTTP with all that it serves, as it listens; signals and what is printed are its program's. */
export async function openHttpServer(around: Outside, { port: typed, newToken = false, words }: Asked) {
  const surroundings = { ...around, forOthers: true };
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
    newToken,
    resource: () => `${address ?? ''}${mcp.path}`,
  });
  const mcp = createMcpRoute(context, { key: access.key, streams: config.httpRequests });
  const { secured } = access;
  const a2a = config.a2a
    ? (await import('../surfaces/a2a/routes.ts')).createA2aRoutes(context, { secured, address })
    : [];
  const page = pageParts(context, {
    outside: surroundings,
    isOn: hasPage(config),
    kind: 'serve',
    own: onlyThisMachine(config),
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
  const port = httpPort(true, typed ?? String(config.httpPort)) ?? config.httpPort;
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
  const url = `${serving.origin}${mcp.path}`;
  const [a2aRoute] = a2a;
  return {
    context,
    url,
    ended: serving.ended,
    running: serving.running,
    drain: serving.drain,
    /** Takes it off the list of servers that are running. */
    leave,
    async close(): Promise<void> {
      await serving.close();
      context.close();
    },
    /** What is said at the start, a line each. */
    startLines: (): string =>
      startLines(config, url, access.whom, projects, note) +
      (page.isOn ? t`Page for people: ${address}/ ("bmad page" prints the link that lets you in)\n` : '') +
      (a2aRoute === undefined ? '' : `Agent2Agent: ${address}${a2aRoute.path}\n`),
  };
}

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

/** What is said at the start, a line each; programs look for the address in the first, as it is listened on. */
function startLines(
  { httpHost, publicUrl }: Context['config'],
  url: string,
  whom: Kept,
  { own, allowed }: ServedProjects,
  note?: string,
): string {
  const { port, pathname: path } = new URL(url);
  const outer = isEverywhere(httpHost) ? [...machineNames(httpHost).slice(0, 1), ...firstAddress()] : [];
  const reached =
    publicUrl === undefined
      ? outer.map((name) => `http://${inUrl(name)}:${port}${path}`)
      : [`${withoutEnd(publicUrl, '/')}${path}`];
  return [
    t`${PRODUCT} ${VERSION} serves ${url} to ${whom}. Press Ctrl+C to stop.`,
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

/** The requests that the door has refused have no operation, and often nobody knows whose they are. */
const DOOR = 'door';
const NOBODY = { kind: 'unknown', name: '' };
/** A token that has used up its calls is not the server's fault, so it is counted under another name. */
const QUOTA = 'quota';

/**
 * Keeps who has called what: changes and refusals, and what only reads where that is asked for. A call that is answered is
 * in the audit, unless that could not be written.
 */
export async function auditOf({ audit: open, config }: Pick<Context, 'audit' | 'config'>) {
  const audit = await open();
  const [reads, required] = [config.audit.includes('all'), config.audit.includes('required')];
  const lineOf = ({ operation, meant = operation, by }: Called) => ({ operation: meant, by });

  async function announce(called: Called): Promise<void> {
    const error = await audit.note({ ...lineOf(called), outcome: 'begun', ms: 0 });
    if (error === undefined) return;
    throw new BmadError('unavailable', t`The call cannot be audited, so nothing was changed.`, {
      hint: t`The server’s operator requires it with the setting audit. The server’s log says why it cannot be written.`,
    });
  }

  return {
    async observe(seen: Observed): Promise<void> {
      if (!seen.writes && !reads && seen.code !== 'forbidden') return;
      const project = await seen.project?.();
      await audit.note({
        ...lineOf(seen),
        ...present({ project, target: seen.target }),
        outcome: seen.reason === QUOTA ? QUOTA : (seen.code ?? 'ok'),
        ms: seen.ms,
      });
    },
    ...(required ? { announce } : { announce: undefined }),
    refused(refusals: readonly ToldRefusal[]): void {
      for (const { reason: outcome, count, by, project } of refusals)
        void audit.note({
          operation: DOOR,
          by: by === undefined ? NOBODY : observedCall(DOOR, broughtBy(by)).by,
          ...present({ project }),
          outcome,
          ms: 0,
          count,
        });
    },
    trouble: audit.trouble,
  };
}
