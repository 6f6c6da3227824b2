import { sha256 } from '../sha256.ts';
import { basename } from 'node:path';

/** The name of a project's folder among those of the user; the path decides, the name is for people. */
export function projectKey(root: string): string {
  const key = sha256(root).slice(0, 12);
  const name = basename(root)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40);
  return `${name}-${key}`;
}
