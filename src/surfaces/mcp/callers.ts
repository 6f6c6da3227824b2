import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Caller } from '../../base/http/http-route.ts';

/** A caller in the words of the SDK, which hands it to every call. The token itself stays with the front door. */
export function authInfoOf({ known, subject = '', mayWrite: writes }: Caller): AuthInfo {
  return { token: '', clientId: `${known} ${subject}`, scopes: [], extra: { mayWrite: writes } };
}

export function mayWrite(info: AuthInfo | undefined): boolean {
  return info?.extra?.['mayWrite'] !== false;
}
