import type { AuthInfo } from '@modelcontextprotocol/server';
import { callerKey, type Caller } from '../../base/http/http-route.ts';

/** A caller in the words of the SDK, which hands it to every call. The token itself stays with the front door. */
export function authInfoOf(caller: Caller): AuthInfo {
  const { known, subject = '', mayWrite: writes, own } = caller;
  const extra = { mayWrite: writes, own: own === true, caller: callerKey(caller) };
  return { token: '', clientId: `${known} ${subject}`, scopes: [], extra };
}

/** Distinguishes callers, where they are known. */
export function callerIn(info: AuthInfo | undefined): string | undefined {
  const key = info?.extra?.['caller'];
  return typeof key === 'string' ? key : undefined;
}

/** Whether it is the full token of a server that only its own machine can reach. */
export function isOwn(info: AuthInfo | undefined): boolean {
  return info?.extra?.['own'] === true;
}

export function mayWrite(info: AuthInfo | undefined): boolean {
  return info?.extra?.['mayWrite'] !== false;
}
