import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository } from '../../tests/support/app.ts';

/** A piece of a page that uses the library, as a program; one that does not open it itself gets a `bmad`. */
export function libraryScript(source: string): string {
  const packages = createRequire(import.meta.url);
  const library = pathToFileURL(join(repository, 'dist', 'library.mjs')).href;
  const opens = source.includes('openBmad(') || !/\bbmad\./.test(source);
  const text = [
    `import { BmadError, BmadServer, GitSourceResolver, openBmad } from '${library}';`,
    ...(opens ? [] : ['const bmad = await openBmad();']),
    source
      .replace(/^import .* from 'mcp-server-bmad';$/m, '')
      // It lies where no packages are.
      .replace(/(?<= from ')@[^']+(?=';$)/gm, (name) => pathToFileURL(packages.resolve(name)).href),
    ...(opens ? [] : ['bmad.close();']),
  ];
  return text.join('\n');
}
