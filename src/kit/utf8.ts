import { isUtf8 } from 'node:buffer';

/** The text of a file, with its byte order mark; nothing when it is in another encoding, which a rewrite would destroy. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
    : undefined;
}
