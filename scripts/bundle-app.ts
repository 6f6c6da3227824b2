import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { FRENCH } from '../src/language/french.ts';
import { root } from './bundle.ts';
import { textsOf } from './french/texts.ts';

/** The French of what these files say, from the one catalogue. */
async function frenchOf(...files: string[]): Promise<string> {
  const texts = await Promise.all(
    files.map(async (file) => textsOf(await readFile(join(root, 'src', 'page', file), 'utf8')).said),
  );
  const said = texts.flatMap((each) => [...each]).map((text) => [text, FRENCH[text]] as const);
  return JSON.stringify(Object.fromEntries(said));
}

/** The app that hosts show, as they take it: one file with everything in it. */
export async function bundleApp(folder: string): Promise<Metafile> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: 'src/page/app/main.tsx', out: 'app' },
      { in: 'src/page/app/app.css', out: 'app' },
    ],
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: {
      APP_VERSION: JSON.stringify(version),
      FRENCH: await frenchOf('message.ts', 'app/words.ts'),
    },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  // Inside of a page a script ends at this, also where it stands in a string.
  const script = text('.js').replaceAll('</script', '<\\/script');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'board.html'),
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>BMAD</title><style>${text('.css')}</style></head><body><script>${script}</script></body></html>\n`,
  );
  return metafile;
}

/** The page: one script and one style sheet for browsers, with nothing left to fetch. */
export async function bundlePage(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: 'src/page/main.tsx', out: 'page' },
      { in: 'src/page/page.css', out: 'page' },
    ],
    outdir: folder,
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { FRENCH: await frenchOf('message.ts', 'words.ts') },
    legalComments: 'none',
    logLevel: 'warning',
  });
  return metafile;
}
