import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import type { Context } from '../../operations/context.ts';
import type { Channel } from './channel.ts';
import type { Idle } from './idle.ts';

const METHOD_NOT_FOUND = -32_601;

/**
 * News for the session at the other end, from its first list of tools on. The 2026 protocol has no way for messages that
 * nobody has asked for, so the connection stays with the one before it.
 */
export function channelOf(context: Context, idle: Idle, connected: () => Server | undefined) {
  let open: Promise<Channel> | undefined;
  let closed = false;
  idle.afterListing(async () => {
    const { openChannel } = await import('./channel.ts');
    open = openChannel(context, connected);
    const channel = await open;
    if (closed) channel.close();
  });
  return {
    refusal(message: JSONRPCMessage): JSONRPCMessage | undefined {
      if (!('method' in message)) return undefined;
      if (message.method === 'tools/call') void open?.then((channel) => channel.called());
      if (message.method !== 'server/discover' || !('id' in message)) return undefined;
      const error = { code: METHOD_NOT_FOUND, message: 'Method not found' };
      return { jsonrpc: '2.0', id: message.id, error };
    },
    close() {
      closed = true;
      void open?.then((channel) => channel.close());
    },
  };
}
