import type { IncomingHttpHeaders } from 'node:http';

/** How long a browser may cache the answer. */
const MAX_AGE_S = 600;

const EXPOSED = 'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after, etag, link';

/** Lets pages of the origins that were allowed by name call the server; without any, browsers get nothing from it. */
export function pageRules(origins: readonly string[]) {
  const known = new Set(origins.map((origin) => new URL(origin).origin));
  const allows = (origin: string | undefined): origin is string => origin !== undefined && known.has(origin);
  return {
    allows,
    /** The question of a browser before the request proper; nothing, if it is something else. */
    preflight(
      method: string,
      headers: IncomingHttpHeaders,
      methods: readonly string[],
    ): Response | undefined {
      const asked = headers['access-control-request-method'];
      if (method !== 'OPTIONS' || asked === undefined || !allows(headers.origin)) return undefined;
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-methods': methods.join(', '),
          // Whatever the page wants to send is checked when it comes.
          'access-control-allow-headers':
            headers['access-control-request-headers'] ?? 'authorization, content-type',
          'access-control-max-age': String(MAX_AGE_S),
        },
      });
    },
    /** Lets the page read the answer. */
    opened(response: Response, origin: string | undefined): Response {
      if (known.size > 0) response.headers.append('vary', 'origin');
      if (!allows(origin)) return response;
      response.headers.set('access-control-allow-origin', origin);
      response.headers.set('access-control-expose-headers', EXPOSED);
      return response;
    },
  };
}
