import type { Socket } from 'node:net';

/** The connections of one address, the oldest first; guests have had a call admitted before. */
interface Waiting {
  address: string;
  strangers: Set<Socket>;
  guests: Set<Socket>;
}

/**
 * Connections over which no admitted call runs: nobody knows who is behind them. There is room for `most`, of which one
 * address gets half. For one more, another is closed: of the address that has its half, otherwise of the one with the most,
 * and there the one that has waited longest, guests last. A client that sends its request is through by then; one that only
 * holds connections loses its own.
 */
export function createDoorstep(most: number) {
  const addresses = new Map<string, Waiting>();
  const places = new Map<Socket, Waiting>();
  const calls = new Map<Socket, number>();

  function wait(socket: Socket, as: 'strangers' | 'guests'): void {
    if (socket.destroyed) return;
    const address = networkOf(socket.remoteAddress);
    const known = addresses.get(address);
    if (known !== undefined && sizeOf(known) >= Math.ceil(most / 2)) closeOldest(known);
    else if (places.size >= most) closeOldest(fullest());
    const own = addresses.get(address) ?? { address, strangers: new Set(), guests: new Set() };
    addresses.set(address, own);
    own[as].add(socket);
    places.set(socket, own);
  }

  function leave(socket: Socket): void {
    const own = places.get(socket);
    if (own === undefined) return;
    places.delete(socket);
    own.strangers.delete(socket);
    own.guests.delete(socket);
    if (sizeOf(own) === 0) addresses.delete(own.address);
  }

  function fullest(): Waiting | undefined {
    let found: Waiting | undefined;
    for (const own of addresses.values()) if (found === undefined || sizeOf(own) > sizeOf(found)) found = own;
    return found;
  }

  function closeOldest(own: Waiting | undefined): void {
    const [oldest] = own?.strangers.size === 0 ? own.guests : (own?.strangers ?? []);
    if (oldest === undefined) return;
    leave(oldest);
    oldest.destroy();
  }

  return {
    /** Someone has connected. */
    arrived(socket: Socket): void {
      wait(socket, 'strangers');
      socket.once('close', () => {
        calls.delete(socket);
        leave(socket);
      });
    },
    /** A call that came over it has been admitted. */
    admitted(socket: Socket): void {
      leave(socket);
      calls.set(socket, (calls.get(socket) ?? 0) + 1);
    },
    /** That call is over. */
    answered(socket: Socket): void {
      const left = (calls.get(socket) ?? 0) - 1;
      if (left > 0) calls.set(socket, left);
      else if (calls.delete(socket)) wait(socket, 'guests');
    },
  };
}

const sizeOf = ({ strangers, guests }: Waiting): number => strangers.size + guests.size;

/** A client that has one IPv6 address has the 2^64 beside it, so those count as one. */
export function networkOf(address = ''): string {
  const [four] = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.exec(address) ?? [];
  if (four !== undefined) return four;
  const [front = [], back] = address.split('::').map((part) => part.split(':').filter(Boolean));
  if (back === undefined) return front.slice(0, 4).join(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}
