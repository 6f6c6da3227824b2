import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';

/** All declarations of the library as one text: what its files take from each other is in it already. */
export function libraryDeclarations(): string {
  const texts = ['public.ts', 'public-server.ts'].map((name) =>
    readFileSync(join(root, 'src', 'library', name), 'utf8').replaceAll('\r\n', '\n'),
  );
  return texts
    .join('\n')
    .split('\n')
    .filter((line) => !line.endsWith("from './public.ts';") && !line.endsWith("from './public-server.ts';"))
    .join('\n');
}
