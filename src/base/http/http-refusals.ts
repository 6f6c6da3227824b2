import type { Refuse } from './http-route.ts';

/** For clients that speak JSON-RPC: what never became a message has no id. */
export const refuseAsRpc: Refuse = (status, message, headers = {}) =>
  Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });

/** For all other clients (RFC 9457). */
export const refuseAsProblem: Refuse = (status, message, headers = {}) =>
  Response.json(
    { type: 'about:blank', title: titleOf(status), status, detail: message },
    { status, headers: { ...headers, 'content-type': 'application/problem+json' } },
  );

export function titleOf(status: number): string {
  return TITLES[status] ?? 'Refused';
}

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  413: 'Content too large',
  415: 'Unsupported media type',
  408: 'Request timeout',
  429: 'Too many requests',
  431: 'Request header fields too large',
  500: 'Internal error',
  503: 'Unavailable',
};
