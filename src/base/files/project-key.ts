import { createHash } from 'node:crypto';
import { basename } from 'node:path';

/** The name of a project's folder among those of the user; the path decides, the name is for people. */
export function projectKey(root: string): string {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const name = basename(root)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40);
  return `${name}-${key}`;
}
