import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';

/** All declarations of the library, which are one file without code. */
export function libraryDeclarations(): string {
  return readFileSync(join(root, 'src', 'library', 'public.ts'), 'utf8').replaceAll('\r\n', '\n');
}
