import { type HttpRoute, refuseAsProblem } from '../../../base/http/http-route.ts';
import { PRODUCT } from '../../../base/product.ts';

interface Scopes {
  read: string;
  write: string;
  /** Lets ask for work over Agent2Agent, and nothing else. Not in the metadata, which are about the MCP endpoint. */
  a2a: string;
  /** Says that a person holds the token: it may decide what is for people only. Not in the metadata either. */
  person: string;
}

export interface MetadataOptions {
  issuer: string;
  scopes: Scopes;
  /** The address of the resource that is protected, for clients. */
  resource(): string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Where the metadata of a resource is: its path follows the well-known one (RFC 9728). */
export function metadataAddress(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

/** Tells clients which issuer to turn to. Some ask at the well-known path alone, others with that of the resource. */
export function metadataRoutes({ issuer, scopes, resource }: MetadataOptions): HttpRoute[] {
  return [WELL_KNOWN, `${WELL_KNOWN}/*`].map((path) => ({
    path,
    methods: ['GET', 'HEAD'],
    open: true,
    refuse: refuseAsProblem,
    async handle({ path: asked }) {
      const own = new URL(metadataAddress(resource())).pathname;
      if (asked !== WELL_KNOWN && asked !== own && asked !== `${WELL_KNOWN}/mcp`)
        return refuseAsProblem(404, `Resource not found. Available: ${own}.`);
      return Response.json(
        {
          resource: resource(),
          resource_name: PRODUCT,
          authorization_servers: [issuer],
          scopes_supported: [scopes.read, scopes.write],
          bearer_methods_supported: ['header'],
        },
        { headers: { 'cache-control': 'max-age=3600' } },
      );
    },
  }));
}
