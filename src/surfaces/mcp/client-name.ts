import { CLIENT_INFO_META_KEY, type Server } from '@modelcontextprotocol/server';

const LONGEST = 60;

interface Said {
  params?: { clientInfo?: unknown; _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
}

/** What a client calls itself, such as `claude-code 2.1.0`: in a message, or when it came. */
export function clientIn(message: unknown, server?: Server): string | undefined {
  const { params } = (message ?? {}) as Said;
  const info = params?._meta?.[CLIENT_INFO_META_KEY] ?? params?.clientInfo ?? server?.getClientVersion();
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || name === '') return undefined;
  return [name, version]
    .flatMap((part) => (typeof part === 'string' ? part.slice(0, LONGEST) : []))
    .join(' ');
}
