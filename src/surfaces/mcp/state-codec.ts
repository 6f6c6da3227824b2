import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server';
import type { RoundState } from './sampling-rounds.ts';

const LIFE_SECONDS = 600;

/**
 * Seals what a client of the 2026 protocol carries from one round of a call to the next. State that was changed, is too
 * old, or belongs to another caller or another kind of call is refused. Replicas need the same key.
 */
export function stateCodec<T = RoundState>(key: Uint8Array = randomBytes(32)): RequestStateCodec<T> {
  return createRequestStateCodec<T>({
    key,
    ttlSeconds: LIFE_SECONDS,
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ''}`,
  });
}
