import { isUtf8 } from 'node:buffer';
import { decodeText, encodingOf } from '../../base/text/decode.ts';
import { maskConfigSecrets } from '../../base/secrets/scanner.ts';
import type { Origin } from '../../model/origin.ts';

/** A file as it is handed out: text, or bytes when it is not text. */
export interface ServedFile {
  path: string;
  mimeType: string;
  text?: string;
  bytes?: Buffer;
  /** Nothing for files the server writes itself, such as the merged help catalogue. */
  origin?: Origin;
}

const MIME_TYPES = new Map([
  ['md', 'text/markdown'],
  ['yaml', 'application/x-yaml'],
  ['yml', 'application/x-yaml'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['csv', 'text/csv'],
]);

export function mimeTypeOf(path: string): string {
  return MIME_TYPES.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? 'text/plain';
}

/** Text keeps every byte but the values of secret-looking settings; what is not text is handed out as bytes. */
export function serve(path: string, bytes: Buffer, origin?: Origin): ServedFile {
  const known = mimeTypeOf(path);
  const file = { path, ...(origin === undefined ? {} : { origin }) };
  if (known === 'text/plain' && encodingOf(bytes) === 'utf-8' && (bytes.includes(0) || !isUtf8(bytes))) {
    return { ...file, mimeType: 'application/octet-stream', bytes };
  }
  const text = decodeText(bytes, true);
  return { ...file, mimeType: known, text: maskConfigSecrets(path, text) };
}
