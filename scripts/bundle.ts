import { type Metafile, type Plugin, build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { readdir, readFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { grouped } from '../src/base/values.ts';
import { FRENCH } from '../src/language/french.ts';
import { spokenIn, textsOf } from './french/texts.ts';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Packages that are needed only after the first call; each becomes a file of its own, loaded when first used. */
const LATE = ['commander', 'csv-parse/sync', 'diff', 'pg', 'smol-toml', 'yaml'];

/** Parts of Node that take long to load and that no start needs; they wait for their first use in the same way. */
const LATE_BUILTINS = ['node:crypto'];

/** Optional packages with native or large parts: never inside a bundle, loaded from node_modules if they are there. */
const OPTIONAL = ['@photostructure/sqlite', 'pg-native', 'cloudflare:sockets'];

/**
 * Parts of our own that most sessions never need, each a file of its own: what hosts start has to be compiled whole
 * before it can answer. Parts that are loaded together share a file. Errors keep their meaning across these files (see
 * BmadError).
 */
const LATE_PARTS: Record<string, string> = {
  'src/operations/on-demand.ts': 'operations',
  'src/surfaces/http/api/answers.ts': 'http-api',
  'src/app/open-workspace.ts': 'workspace',
  'src/app/built-in-modules.ts': 'built-in-modules',
  'src/app/host-setup.ts': 'host-setup',
  'src/bin/stdio-servers.ts': 'stdio-servers',
  'src/app/spoken-language.ts': 'spoken-language',
  'src/language/french.ts': 'french',
  'src/hosts/person.ts': 'user-person',
  'src/app/watch-project.ts': 'watching',
  'src/readers/index.ts': 'readers',
  'src/app/project-state.ts': 'project-state',
  'src/services/diagnosis/diagnosis.ts': 'diagnosis',
  'src/config/token-file.ts': 'diagnosis',
  'src/services/git-sources/git-sources.ts': 'git-sources',
  'src/services/git-sources/configured.ts': 'git-configured',
  'src/services/git-sources/upkeep.ts': 'git-sources',
  'src/base/process/tracing.ts': 'calls',
  'src/sources/git/cache.ts': 'git-sources',
  'src/services/memory/memory.ts': 'memory',
  'src/services/memory/place.ts': 'project-state',
  'src/kit/kit-turns.ts': 'kit-turns',
  'src/meaning/analyse.ts': 'static-embedder',
  'src/meaning/embedders/static.ts': 'static-embedder',
  'src/services/codebase/codebase.ts': 'codebase',
  'src/app/threads.ts': 'threads',
  'src/services/completion/completion.ts': 'completion',
  'src/services/knowledge/knowledge.ts': 'knowledge',
  'src/services/progress/progress.ts': 'progress',
  'src/services/search/search.ts': 'search',
  'src/services/ranking/reranker.ts': 'search',
  'src/services/runs/runs.ts': 'runs',
  'src/services/facts/facts.ts': 'project-facts',
  'src/services/delegation/delegation.ts': 'delegation',
  'src/services/shared-state/shared-state.ts': 'state-database',
  'src/lines/database.ts': 'state-database',
  'src/services/calls/audit.ts': 'calls',
  'src/services/calls/again.ts': 'calls',
  'src/operations/activation/context.ts': 'context',
  'src/operations/activation/compile-context.ts': 'context',
  'src/operations/activation/agent-start.ts': 'agent-start',
  'src/operations/activation/work-start.ts': 'agent-start',
  'src/operations/catalogue/paths.ts': 'names',
  'src/operations/runs/run-standing.ts': 'next',
  'src/operations/inbox/waiting-there.ts': 'inbox',
  'src/operations/server/doctor-hosts.ts': 'diagnosis',
  'src/operations/project/verification.ts': 'next',
  'src/operations/project/project-context-data.ts': 'next',
  'src/operations/tasks/task-brief.ts': 'delegation',
  'src/operations/memory/known-about.ts': 'delegation',
  'src/operations/delegation/delegate-to-agent.ts': 'delegation',
  'src/operations/delegation/delegation-context.ts': 'delegation',
  'src/operations/generation-words.ts': 'names',
  'src/base/parse/csv-section.ts': 'names',
  'src/services/delivery/agent-character.ts': 'agent-start',
  'src/services/delivery/skill-material.ts': 'agent-start',
  'src/services/delivery/install-material.ts': 'agent-start',
  'src/services/delivery/agent-menu.ts': 'agent-start',
  'src/services/delivery/render-skill.ts': 'customize',
  'src/services/delivery/customize.ts': 'customize',
  'src/catalogue/names-in-force.ts': 'names',
  'src/catalogue/host-commands.ts': 'host-commands',
  'src/catalogue/changes.ts': 'watching',
  'src/catalogue/kept-readings.ts': 'kept-readings',
  'src/surfaces/cli/screens/index.ts': 'screens',
  'src/surfaces/cli/ask/index.ts': 'screens',
  'src/bin/person.ts': 'screens',
  'src/bin/start-screen.ts': 'screens',
  'src/surfaces/http/oauth/gate.ts': 'oauth',
  'src/surfaces/a2a/routes.ts': 'a2a',
  'src/surfaces/mcp/tool-extras.ts': 'calls',
  'src/surfaces/mcp/telling.ts': 'listening',
};

/** The same for modules whose functions are called without waiting: they are loaded when one of them is first used. */
const LATE_MODULES: Record<string, string> = {
  'src/base/secrets/scanner.ts': 'masking',
  'src/base/text/agent-titles.ts': 'names',
  'src/sources/marketplace.ts': 'built-in-modules',
  'src/catalogue/old-names.ts': 'names',
  'src/services/delivery/missing-file.ts': 'names',
  'src/base/text/glob.ts': 'glob',
  'src/operations/project/state-place.ts': 'project-state',
  'src/operations/project/next-text.ts': 'next',
  'src/operations/server/doctor-text.ts': 'diagnosis',
  'src/operations/project/project-context-text.ts': 'next',
  'src/surfaces/mcp/resource-templates.ts': 'listening',
  'src/surfaces/mcp/traces.ts': 'calls',
};

/** Parts that one of the programs has: who needs only them loads it. */
const IN_PROGRAMS: Record<string, string> = { 'src/surfaces/mcp/stdio.ts': 'server' };

/**
 * What most late parts need of `base`, and share; the rest of it would load parts of Node that few need. What the first call
 * loads has its own, so that it is no file more.
 */
const COMMON = 'common';
const IN_COMMON = new Set(
  [
    'async errors product step values',
    'files/file-lock files/file-modes files/file-refusals files/file-stamps files/file-state files/files',
    'files/leftovers files/open-file files/paths files/repository parse/json parse/parse parse/yaml-document',
    'secrets/names text/diff text/hidden text/markdown text/message text/suggest text/text',
  ].flatMap((line) => line.split(' ').map((name) => `src/base/${name}.ts`)),
);
const WITH_OWN = new Set(['operations', 'workspace']);

/** The files of each late bundle. Where there are several, it has each as a namespace by its place in this list. */
const BUNDLED = grouped(Object.entries({ ...LATE_PARTS, ...LATE_MODULES }), ([, name]) => name);

/** How code gets at a late part. */
function requiring(file: string, name: string): string {
  const all = BUNDLED.get(name) ?? [];
  const own = all.length < 2 ? '' : `.p${all.findIndex(([each]) => each === file)}`;
  return `require("./${name}.cjs")${own}`;
}

const lateFile = (name: string): string => `vendor/${name.replaceAll('/', '-')}`;

/** The SDK's default validator is ajv, a third of the bundle and never used by us; its small one does as well. */
const leanValidator: Plugin = {
  name: 'lean-validator',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: join(root, 'scripts', 'sdk-shims.mjs'),
    }));
  },
};

/** A module in the place of another, which loads that one when something of it is used. */
function loadedOnUse(required: string, exported: object): string {
  // Since Node 23 there is also one called "module.exports", which is not a name of the package.
  const names = Object.keys(exported).filter((name) => name !== 'default' && name !== 'module.exports');
  return `let all;const load=()=>all??=${required};
    const getters=${JSON.stringify(names.join(' '))}.split(" ").map((name)=>[name,{enumerable:true,get:()=>load()[name]}]);
    module.exports=Object.defineProperties({__esModule:true,get default(){const all=load();return all.default??all}},Object.fromEntries(getters));`;
}

/**
 * A late package is a file of its own, and is loaded when something of it is first used: a file that imports a parser
 * is often run without there being anything to parse.
 */
const latePackages: Plugin = {
  name: 'late-packages',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[a-z]/ }, ({ path, kind, namespace }) => {
      if (namespace === 'late-package') return { path, external: true };
      return [...LATE, ...LATE_BUILTINS].includes(path) && kind !== 'entry-point'
        ? { path, namespace: 'late-package' }
        : undefined;
    });
    esbuild.onLoad({ filter: /.*/, namespace: 'late-package' }, async ({ path }) => {
      const file = LATE_BUILTINS.includes(path) ? path : `./${lateFile(path)}.cjs`;
      return { contents: loadedOnUse(`require("${file}")`, (await import(path)) as object) };
    });
  },
};

/**
 * Late parts are loaded with `require`: an `import()` that is left to Node looks through the whole file for the names of
 * its exports first, which takes several times as long as running it, and is slower with each call as well. Even so, each
 * `import()` copies the list of exports: what every call needs keeps the first one.
 */
const lateParts: Plugin = {
  name: 'late-parts',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir, namespace }) => {
      if (namespace.startsWith('late')) return { path, external: true };
      if (namespace === 'virtual') return undefined;
      const file = relative(root, resolve(resolveDir, path)).split(sep).join('/');
      if (file in LATE_MODULES && kind === 'import-statement')
        return { path: file, namespace: 'late-module' };
      const isLate = kind === 'dynamic-import' && (file in LATE_PARTS || file in IN_PROGRAMS);
      return isLate ? { path: file, namespace: 'late' } : undefined;
    });
    esbuild.onLoad({ filter: /.*/, namespace: 'late-module' }, async ({ path }) => {
      const exported = (await import(pathToFileURL(join(root, path)).href)) as object;
      return { contents: loadedOnUse(requiring(path, LATE_MODULES[path] ?? ''), exported) };
    });
    esbuild.onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: `module.exports=${requiring(path, LATE_PARTS[path] ?? IN_PROGRAMS[path] ?? '')};`,
    }));
  },
};

const sharedCommon: Plugin = {
  name: 'shared-common',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, namespace }) => {
      const file = relative(root, resolve(resolveDir, path)).split(sep).join('/');
      return namespace === 'file' && IN_COMMON.has(file)
        ? { path: `./${COMMON}.cjs`, external: true }
        : undefined;
    });
  },
};

const ZOD = 'vendor/zod';

/** The late parts share one zod with what they use of it; the programs have their own, which a start needs less of. */
const sharedZod: Plugin = {
  name: 'shared-zod',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      relative(root, importer).startsWith('src') ? { path: `./${ZOD}.cjs`, external: true } : undefined,
    );
  },
};

/** An entry with what our sources use of zod, and nothing else of it. */
async function zodInUse(): Promise<string> {
  const all = (await import('zod')) as object;
  const names = new Set<string>();
  for (const file of await readdir(join(root, 'src'), { recursive: true })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const text = await readFile(join(root, 'src', file), 'utf8');
    // Of the core only types are used.
    for (const [, name = ''] of text.matchAll(/\bz\.(?!core\b)(\w+)/g))
      if (Object.hasOwn(all, name)) names.add(name);
  }
  return `export { ${[...names].sort().join(', ')} } from 'zod';`;
}

/** Files that are run here, so that the programs hold what comes out of them and not what it takes to make it. */
const prepared: Plugin = {
  name: 'prepared',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\.prepared\.ts$/ }, async ({ path }) => {
      const values = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
      const constants = Object.entries(values).map(
        ([name, value]) => `export const ${name}=JSON.parse(${JSON.stringify(JSON.stringify(value))});`,
      );
      return { contents: constants.join('\n'), loader: 'js' };
    });
  },
};

export interface Bundle {
  /** Source file by name of the output, without extension. */
  entries: Record<string, string>;
  folder: string;
}

/** Bundles programs the one way we do it: CommonJS, minified, everything inside (docs/decisions/0010). */
export async function bundle({ entries, folder }: Bundle): Promise<Metafile> {
  const common = [...IN_COMMON].map((file) => `export * from "./${file}";`);
  const made: Record<string, string> = { [ZOD]: await zodInUse(), [COMMON]: common.join('\n') };
  for (const [name, all] of BUNDLED)
    if (all.length > 1)
      made[name] = all.map(([file], at) => `export * as p${at} from "./${file}";`).join('\n');
  const parts = Object.fromEntries(
    [...BUNDLED].map(([name, [first]]) => [name, name in made ? name : (first?.[0] ?? name)]),
  );
  const isOwn = ([name]: [string, string]): boolean => WITH_OWN.has(name);
  const programs = [...Object.entries(entries), ...Object.entries(parts).filter(isOwn)];
  const later = Object.entries(parts).filter((part) => !isOwn(part));
  const plugins = [virtual(made), leanValidator, leanSchemas, prepared, latePackages, lateParts];
  const files = await Promise.all([
    run(Object.fromEntries(programs.filter(([name]) => !FIRST.has(name))), folder, { plugins }),
    run(Object.fromEntries(programs.filter(([name]) => FIRST.has(name))), folder, {
      plugins,
      target: 'node10',
      banner: unlessNode('require("fs").writeSync(2,m+"\\n");process.exit(1)'),
    }),
    run(Object.fromEntries(later), folder, { plugins: [sharedZod, sharedCommon, ...plugins] }),
    run({ [COMMON]: COMMON }, folder, { plugins }),
    run({ [ZOD]: ZOD }, folder, { plugins: [virtual(made)] }),
  ]);
  return {
    inputs: Object.assign({}, ...files.map(({ inputs }) => inputs)) as Metafile['inputs'],
    outputs: Object.assign({}, ...files.map(({ outputs }) => outputs)) as Metafile['outputs'],
  };
}

/** Entries that are no files, by their names. */
const virtual = (made: Readonly<Record<string, string>>): Plugin => ({
  name: 'virtual',
  setup(esbuild) {
    esbuild.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === 'entry-point' && path in made ? { path, namespace: 'virtual' } : undefined,
    );
    esbuild.onLoad({ filter: /.*/, namespace: 'virtual' }, ({ path }) => ({
      contents: made[path] ?? '',
      resolveDir: root,
    }));
  },
});

/** What Node is given to run: an old one has to understand these files as far as to be told that it is too old. */
const FIRST = new Set(['bmad', 'bmad-mcp-server']);

/** Code for any Node that acts on the message `m` if it is older than what package.json asks for. */
export function unlessNode(act: string): string {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const [major = '', minor = ''] = engines.node.replace('>=', '').split('.');
  return `(function(){var v=process.versions.node.split("."),m="BMAD MCP Server needs Node.js ${major}.${minor} or later, and this is Node.js "+process.versions.node+" ("+process.execPath+").";if(+v[0]<${major}||+v[0]===${major}&&+v[1]<${minor}){${act}}})();`;
}

/** Node hands `module.exports` to a default import; a package that has a default export is to be that export. */
const DEFAULT_FIRST =
  'if(module.exports.default)module.exports=Object.assign(module.exports.default,module.exports);';

/** The late packages themselves, beside the programs that ask for them. */
export async function bundleLatePackages(folder: string): Promise<Metafile> {
  return run(Object.fromEntries(LATE.map((name) => [lateFile(name), name])), folder, {
    footer: DEFAULT_FIRST,
  });
}

interface Shape {
  plugins?: Plugin[];
  footer?: string;
  target?: string;
  /** Code that runs before all else. */
  banner?: string;
}

async function run(
  entries: Record<string, string>,
  folder: string,
  { plugins = [], footer = '', target = 'node20', banner = '' }: Shape,
): Promise<Metafile> {
  const { metafile, warnings } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([out, input]) => ({ in: input, out })),
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    external: OPTIONAL,
    minify: true,
    metafile: true,
    platform: 'node',
    target,
    format: 'cjs',
    define: { 'import.meta.url': '__bundleUrl' },
    banner: { js: `${banner}const __bundleUrl=require("url").pathToFileURL(__filename).href;` },
    legalComments: 'none',
    plugins,
    footer: { js: footer },
    logLevel: 'warning',
  });
  // Such as two files of `base` that export the same name.
  if (warnings.length > 0) throw new Error('The bundler warns.');
  return metafile;
}

/** One schema of the SDK, with all that is made for it. */
const SCHEMA = /^const (\w+) = ((?:z\.|\w+Schema\b)[^]*?);\n(?=\n|\/[*/]|const |function |class |export )/gm;
/** Puts all of them on a list for programs that want to check messages themselves, which ours do not. */
const LISTED =
  /^for \(const (?:key of SPEC_SCHEMA_KEYS|\[key, schema\] of Object\.entries\(authSchemas\))\).*$/gm;

/** What kind of message one is, the SDK asks several times of each, by schemas; to find that it does not fit takes longest. */
const KIND = /^const (isJSONRPC\w+) = \(value\) => (\w+)\.safeParse\(value\)\.success;$/gm;
/** Without this, none of that kind fits. */
const KIND_HAS: Readonly<Record<string, string>> = {
  isJSONRPCRequest: 'method',
  isJSONRPCNotification: 'method',
  isJSONRPCResultResponse: 'result',
  isJSONRPCErrorResponse: 'error',
};

const quickKind = (whole: string, name: string, schema: string): string =>
  KIND_HAS[name] === undefined
    ? whole
    : `const ${name} = (value) => value?.${KIND_HAS[name]} !== undefined && ${schema}.safeParse(value).success;`;

/**
 * The SDK makes each schema of the protocol when it is loaded, but checks messages with others, made when they are needed.
 * Marked as free of effects, those that nothing uses are left out.
 */
const leanSchemas: Plugin = {
  name: 'lean-schemas',
  setup(esbuild) {
    const filter = /@modelcontextprotocol[\\/](?:core|server)[\\/]dist[\\/](?:auth|schemas|src)-[\w-]+\.mjs$/;
    esbuild.onLoad({ filter }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const marked = text.replace(LISTED, '').replace(SCHEMA, 'const $1 = /* @__PURE__ */ (() => $2)();\n');
      if (marked === text) throw new Error(`${path} has no schemas that can be left out.`);
      return { contents: marked.replace(KIND, quickKind), loader: 'js' };
    });
  },
};

/** All declarations of the library, which are one file without code. */
export function libraryDeclarations(): string {
  return readFileSync(join(root, 'src', 'library', 'public.ts'), 'utf8').replaceAll('\r\n', '\n');
}

/** The French of what the page says, or its app, from the one catalogue. */
async function frenchOf(of: 'page' | 'app'): Promise<string> {
  const all = await readdir(join(root, 'src', 'page'), { recursive: true });
  const files = all.filter(
    (file) => /\.tsx?$/.test(file) && (file === 'message.ts' || file.startsWith('app') === (of === 'app')),
  );
  const texts = await Promise.all(
    files.map(
      async (file) => textsOf(spokenIn(await readFile(join(root, 'src', 'page', file), 'utf8'))).said,
    ),
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
      FRENCH: await frenchOf('app'),
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
    define: { FRENCH: await frenchOf('page') },
    legalComments: 'none',
    logLevel: 'warning',
  });
  return metafile;
}
