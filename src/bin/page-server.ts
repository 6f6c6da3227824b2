import { join } from 'node:path';
import type { Outside } from '../app/app.ts';
import type { HttpRoute } from '../base/http/http-route.ts';
import { VERSION } from '../base/product.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Context } from '../operations/context.ts';
import type { Gate } from '../surfaces/http/gate.ts';
import { inUrl, isEverywhere } from '../surfaces/http/names.ts';
import { createEventsRoute } from '../surfaces/http/page/events.ts';
import {
  createProofRoute,
  type Instance,
  newIdentity,
  openInstances,
} from '../surfaces/http/page/instances.ts';
import { openPasses } from '../surfaces/http/page/passes.ts';
import { personGate } from '../surfaces/http/page/person-gate.ts';
import { createPageRoutes, type SeenClient } from '../surfaces/http/page/routes.ts';
import { onlyThisMachine } from './http-access.ts';
import { stdioServers } from './stdio-servers.ts';

export interface PagePlan {
  outside: Outside;
  /** Whether there is a page at all; without it, there are only the events. */
  isOn: boolean;
  kind: Instance['kind'];
  /** Whether only its own machine can reach the server. */
  own: boolean;
  /** Who is admitted without being known as a person. */
  behind: Gate;
  projects(): Promise<readonly string[]>;
  /** The address of the server for browsers; known once it listens. */
  address(): string;
  /** The address that a proxy serves it under, as its user has set it. */
  publicUrl?: string | undefined;
  /** The clients of the MCP server, where there is one. */
  clients?(): readonly SeenClient[];
}

/** What a server has for people: the page, the way in for them, and its name on the list of servers that are running. */
export function pageParts(context: Context, plan: PagePlan) {
  const { outside, isOn, kind, own, behind, projects, address, publicUrl, clients = () => [] } = plan;
  const state = userStateFolder(outside);
  const passes = openPasses(state);
  const instances = openInstances(state);
  const identity = newIdentity();
  const options = {
    passes,
    // Those that are served under one public address share the links to it.
    places: [identity.id, ...(publicUrl === undefined ? [] : [publicUrl])],
    folder: join(outside.contentRoot, '..', 'page'),
    projects,
    instances: async () => (await instances.answering(identity)).proven,
    stdioServers: () => stdioServers(state).running(),
    clients,
    address,
  };
  const routes: HttpRoute[] = [
    createEventsRoute(context, { passes }),
    createProofRoute(identity),
    ...(isOn ? createPageRoutes(context, options) : []),
  ];
  return {
    isOn,
    id: identity.id,
    routes,
    gate: isOn
      ? personGate(behind, {
          passes,
          own,
          origins: () => (URL.canParse(address()) ? [new URL(address()).origin] : []),
        })
      : behind,
    /** Puts the server on the list; where that cannot be written, it is not on it. Answers with how to take it off. */
    async enlist(origin: string): Promise<() => Promise<void>> {
      try {
        return await instances.add({
          ...identity,
          pid: process.pid,
          origin,
          publicUrl,
          kind,
          page: isOn,
          roots: [...(await projects())],
          started: new Date().toISOString(),
          version: VERSION,
        });
      } catch (error) {
        context.log.info('instances', { error: String(error) });
        return async () => undefined;
      }
    },
  };
}

/** Whether a server with these settings has the page: only for its own machine, unless somebody has switched it on. */
export function hasPage(config: Context['config']): boolean {
  return config.page === 'on' || (config.page === 'loopback' && onlyThisMachine(config));
}

/** How a program of this machine reaches a server that listens on this address. */
export function localOrigin(origin: string, host: string): string {
  if (!isEverywhere(host)) return origin;
  return `http://${inUrl(host === '0.0.0.0' ? '127.0.0.1' : '::1')}:${new URL(origin).port}`;
}
