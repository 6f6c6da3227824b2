import { createHash } from 'node:crypto';

/** The namespace of RFC 4122 for names of the DNS, which the ids of memories have been made in from the start. */
const NAMESPACE = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex');

/** How much of a text determines its id, in code points: a text with the same beginning is a new version. */
const ID_LENGTH = 150;

const PAIRS = /[\uD800-\uDFFF]/;

/** The id of a memory: the same project, agent and beginning of the text give the same id, on every machine. */
export function memoryId(app: string, agent: string, text: string): string {
  return uuid5(memoryName(app, agent, text));
}

/** What an id is made of. */
export function memoryName(app: string, agent: string, text: string): string {
  const units = text.slice(0, 2 * ID_LENGTH);
  // Hardly any text has characters of two units, and to take thousands of them apart takes long.
  const beginning = PAIRS.test(units)
    ? Array.from(units).slice(0, ID_LENGTH).join('')
    : units.slice(0, ID_LENGTH);
  return `${app}:${agent}:${beginning}`;
}

/** For a text in a file whose beginning another one there has too: from its place and the whole of it. */
export function placeId(app: string, agent: string, source: string, text: string): string {
  return uuid5(`${app}:${agent}:${source}:${text}`);
}

function uuid5(name: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(name, 'utf8').digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The name under which a project's memories are kept, in collections and ids: `bmad-demo-shop`. */
export function appId(family: 'bmad' | 'grimoire', name: string): string {
  return `${family}-${slug(name)}`;
}

/** Lower case, and a hyphen for each space; accents stay. */
export function slug(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}
