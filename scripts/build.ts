import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { plusModules, prepareReading } from '../src/catalogue/prepared.ts';
import type * as shared from '../src/bin/shared.ts';
import { readers } from '../src/readers/index.ts';
import {
  MODEL_FILE,
  openStaticEmbedder,
  prepareVectors,
  PREPARED_FILE,
} from '../src/meaning/embedders/static.ts';
import { buildCatalogue } from '../src/catalogue/build.ts';
import { createDelivery } from '../src/services/delivery/delivery.ts';
import { passagesOf } from '../src/services/search/meaning-index.ts';
import { prepareTerms, TERMS_FILE } from '../src/services/search/word-index.ts';
import { type RecordText, recordTexts } from '../src/services/search/record-text.ts';
import { agentText } from '../src/app/served-workspace.ts';
import { isListed, STARTABLE } from '../src/model/record.ts';
import { packageSource } from '../src/sources/built-in.ts';
import type { Source } from '../src/sources/tree.ts';
import { copyModules, copyParts, packageFolder } from './built-in-modules.ts';
import {
  bundleApp,
  bundlePage,
  bundle,
  bundleLatePackages,
  libraryDeclarations,
  root,
  unlessNode,
} from './bundle.ts';
import { firstAnswers } from './first-answers.ts';
import { sharedState } from './module-state.ts';
import { makeSbom, SBOM_FILE } from './supply/sbom.ts';
import {
  creditsIn,
  licenceTexts,
  LICENCES_FILE,
  modelName,
  readLock,
  shippedPackages,
} from './supply/shipped.ts';

/** Made beside its place and moved there when it is whole, so that a failed build leaves the last one as it was. */
const dist = join(root, '.cache', 'dist');
const content = join(dist, 'content');
const bmadPackage = packageFolder('bmad-method');

const PROGRAMS = ['server', 'http', 'shared', 'bmad-mcp-server', 'bmad', 'code-thread', 'memory-thread'];

/** BMAD's skills as its installer would lay them out, taken from the exact package; nothing of it is in git. */
async function copyContent(): Promise<void> {
  await copyParts(bmadPackage, content, [
    ['src/core-skills', 'core'],
    ['src/bmm-skills', 'bmm'],
    ['src/scripts', 'scripts'],
    ['LICENSE', 'LICENSE'],
  ]);
  const { version } = JSON.parse(await readFile(join(bmadPackage, 'package.json'), 'utf8')) as {
    version: string;
  };
  const modules = ['core', 'bmm'].map(
    (name) => `  - name: ${name}\n    version: ${version}\n    source: built-in\n`,
  );
  await mkdir(join(content, '_config'), { recursive: true });
  await writeFile(
    join(content, '_config', 'manifest.yaml'),
    `installation:\n  version: ${version}\nmodules:\n${modules.join('')}`,
  );
}

/** The embedding model is a file of its own, read when the first vector is needed. */
async function copyModel(): Promise<void> {
  await cp(join(root, 'assets', MODEL_FILE), join(dist, MODEL_FILE));
}

/** Reads the content once, here, so that no start has to: the first call finds the catalogue ready. */
async function prepareCatalogue(): Promise<void> {
  const source = await packageSource(content, 10_000_000);
  await writeFile(join(dist, 'catalogue.json'), await prepareReading(source, readers));
}

/** The vectors and terms of what is built in: making them would take most of the time of the first search. */
async function prepareSearch(modules: readonly Source[]): Promise<void> {
  const method = await buildCatalogue([await packageSource(content, 10_000_000)], readers);
  const all: RecordText[] = [];
  for (const catalogue of [method, await plusModules(method, modules)]) {
    const delivery = createDelivery({
      catalogue,
      projectRoot: undefined,
      projectBmad: () => Promise.resolve(undefined),
      today: () => '',
    });
    const records = catalogue.winners.filter((record) => STARTABLE.includes(record.kind) && isListed(record));
    all.push(...(await recordTexts(catalogue, records, (agent) => agentText(agent, delivery))));
  }
  await writeFile(
    join(dist, PREPARED_FILE),
    await prepareVectors([...new Set(all.flatMap(passagesOf))], await openStaticEmbedder(dist)),
  );
  await writeFile(join(dist, TERMS_FILE), prepareTerms(all));
}

/**
 * The doors of the library: for `require`, for `import` (the very same code), and the declarations. The sources of
 * these have no code in them, so they are their own declaration file, for both kinds of modules.
 */
async function openLibrary(): Promise<void> {
  const { library } = createRequire(import.meta.url)(join(dist, 'shared.cjs')) as typeof shared;
  const names = Object.keys(library).sort().join(', ');
  await writeFile(
    join(dist, 'library.cjs'),
    `${unlessNode('throw new Error(m)')}\nconst { ${names} } = require('./shared.cjs').library;\nmodule.exports = { ${names} };\n`,
  );
  await writeFile(
    join(dist, 'library.mjs'),
    `import library from './library.cjs';\nexport const { ${names} } = library;\n`,
  );
  for (const kind of ['mts', 'cts']) await writeFile(join(dist, `library.d.${kind}`), libraryDeclarations());
}

/** What of others is in the package, and under which licence; a licence that is not known stops the build. */
async function writeSupply(metafiles: readonly Metafile[]): Promise<void> {
  const lock = await readLock();
  const shipped = await shippedPackages(metafiles, lock);
  const card = await readFile(join(root, 'training', 'MODEL_CARD.md'), 'utf8');
  await writeFile(join(dist, LICENCES_FILE), await licenceTexts(shipped, creditsIn(card)));
  const product = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Parameters<
    typeof makeSbom
  >[0];
  const bytes = await readFile(join(root, 'assets', MODEL_FILE));
  const model = { ...modelName(card), bytes };
  await writeFile(join(dist, SBOM_FILE), makeSbom(product, shipped, model, lock));
}

await rm(dist, { recursive: true, force: true });
const entries = Object.fromEntries(PROGRAMS.map((name) => [name, `src/bin/${name}.ts`]));
const programs = await bundle({ entries, folder: dist });
const twice = await sharedState(programs);
if (twice.length > 0) throw new Error(`State of a module that exists twice:\n${twice.join('\n')}`);
await writeSupply([
  programs,
  await bundleLatePackages(dist),
  await bundlePage(join(dist, 'page')),
  await bundleApp(join(dist, 'app')),
]);
await cp(join(root, 'src', 'page', 'index.html'), join(dist, 'page', 'index.html'));
await openLibrary();
await copyContent();
await copyModel();
await prepareCatalogue();
await prepareSearch(await copyModules(content));
await writeFile(join(dist, 'first-answers.json'), await firstAnswers(join(dist, 'bmad-mcp-server.cjs')));
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(dist, join(root, 'dist'));
