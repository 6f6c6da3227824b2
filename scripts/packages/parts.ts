import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Files } from './product.ts';

/** Claude Desktop passes over a bundle in which one file is larger than some 108 kB; this leaves room. */
export const LARGEST = 90_000;

export interface Parts {
  /** The parts in order, none of them larger than a file may be. */
  parts: Buffer[];
  /** SHA-256 of all of them together. */
  digest: string;
}

/** Files as one packed text in parts: the length of a list, the list of paths and sizes, and the bytes. */
export function inParts(files: Files): Parts {
  const bytes = [...files].map(([path, content]) => [path, Buffer.from(content)] as const);
  const list = Buffer.from(JSON.stringify(bytes.map(([path, content]) => [path, content.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  const packed = gzipSync(Buffer.concat([length, list, ...bytes.map(([, content]) => content)]), {
    level: 9,
  });
  const parts: Buffer[] = [];
  for (let at = 0; at < packed.length; at += LARGEST) parts.push(packed.subarray(at, at + LARGEST));
  return { parts, digest: createHash('sha256').update(packed).digest('hex') };
}
