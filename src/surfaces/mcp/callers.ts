import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Caller } from '../../base/http/http-route.ts';

/** A caller in the words of the SDK, which hands it to every call. The token itself stays with the front door. */
export function authInfoOf({ known, subject = '', mayWrite: writes, own }: Caller): AuthInfo {
  const extra = { mayWrite: writes, own: own === true };
  return { token: '', clientId: `${known} ${subject}`, scopes: [], extra };
}

/** Whether it is the full token of a server that only its own machine can reach. */
export function isOwn(info: AuthInfo | undefined): boolean {
  return info?.extra?.['own'] === true;
}

export function mayWrite(info: AuthInfo | undefined): boolean {
  return info?.extra?.['mayWrite'] !== false;
}
