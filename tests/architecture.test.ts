import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureRooms, readLimits } from '../scripts/rooms.ts';
import { repository } from './support/app.ts';
import { DOORS } from './support/doors.ts';

/** Who may import whom. A folder that is not in this table is an error, so a new one has to be placed first. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  base: [],
  model: ['base'],
  config: ['base', 'model'],
  meaning: ['base'],
  lines: ['base'],
  kit: ['base', 'model', 'lines'],
  hosts: ['base'],
  language: ['base'],
  sources: ['base', 'model', 'config'],
  readers: ['base', 'model', 'sources'],
  catalogue: ['base', 'model', 'sources', 'readers'],
  services: ['base', 'model', 'meaning', 'lines', 'kit', 'sources', 'catalogue'],
  operations: ['base', 'model'],
  surfaces: ['base', 'language', 'operations'],
  // Of sources only the parser of git addresses, which has to answer at once.
  library: ['base', 'sources', 'operations'],
  app: [
    'base',
    'model',
    'config',
    'meaning',
    'kit',
    'hosts',
    'language',
    'sources',
    'readers',
    'catalogue',
    'services',
    'operations',
  ],
  bin: ['base', 'config', 'language', 'operations', 'surfaces', 'library', 'app'],
  // Runs in browsers: it knows the server by the answers of its HTTP API alone.
  page: [],
};

/** Words and tables, which every folder but the page's may read. */
const DATA = /^\.\.\/assets\/.*\.json$/;

/**
 * Operations are handed their services; this one file names the types of what they get. What operations answer is typed by
 * their declarations; the page reads answers, and names these types in one file.
 */
const TYPES_ONLY = new Map([
  ['operations/context.ts', ['config', 'kit', 'hosts', 'sources', 'catalogue', 'services']],
  ['page/answers.ts', ['operations']],
]);

/** What services may use of `sources`: trees to read from, and for the git sources what fetches and names repositories. */
const SOURCES_OF_SERVICES: Record<string, readonly string[]> = {
  delivery: ['sources/tree.ts'],
  'git-sources': ['sources/tree.ts', 'sources/git/address.ts'],
};

/** The same, for types alone: what does the work is handed in. */
const SOURCE_TYPES_OF_SERVICES: Record<string, readonly string[]> = {
  'git-sources': ['sources/discover.ts', 'sources/git/cache.ts', 'sources/git/git.ts'],
};

/** What has a `run` and is not an operation: the completion contract of a project. */
const SERVICES_THAT_RUN = new Set(['completion']);

/** The files of `app/` that every start loads. */
const EARLY_OF_APP = /^app\/(?:app|settings|parts|git-sources|watching|workspaces)\.ts$/;

/** Globals that only the programs may touch. */
const PROGRAM_ONLY = /\bprocess\.(?:env|argv|stdin|stdout|stderr|exit|exitCode|cwd|on|once)\b/;

/** Every way to write to a terminal. */
const PRINTS =
  /\bprocess\s*\.\s*(?:stdout|stderr)\b|\bconsole\b|\bprocess\s*\[|\{[^}]*\b(?:stdout|stderr)\b[^}]*\}\s*=\s*process\b|from 'node:(?:process|tty|console)'|\bemitWarning\(/;

const source = join(repository, 'src');

async function sourceFiles(): Promise<string[]> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(source, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

const folderOf = (file: string): string => file.slice(0, Math.max(file.indexOf('/'), 0));

interface Import {
  file: string;
  specifier: string;
  typeOnly: boolean;
  /** Loaded when it is first needed. */
  late: boolean;
}

async function importsOf(file: string): Promise<Import[]> {
  const text = await readFile(join(source, file), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\('([^']+)'\)/g,
  );
  return [...found].map((match) => ({
    file,
    specifier: match[2] ?? match[3] ?? '',
    typeOnly: match[1] !== undefined,
    late: match[3] !== undefined,
  }));
}

const files = await sourceFiles();
const production = files.filter((file) => !file.endsWith('.test.ts'));
const imports = (await Promise.all(production.map(importsOf))).flat();

describe('architecture', () => {
  it('looks at the real code', () => {
    expect(production.length).toBeGreaterThan(40);
    expect(imports.length).toBeGreaterThan(150);
  });

  it('lets no file import to its right', () => {
    const wrong = imports.flatMap(({ file, specifier, typeOnly }) => {
      if (!specifier.startsWith('.')) return [];
      const target = relative(source, resolve(source, dirname(file), specifier))
        .split(sep)
        .join('/');
      const [from, to] = [folderOf(file), folderOf(target)];
      const allowed = MAY_IMPORT[from];
      if (DATA.test(target) && from !== 'page') return [];
      if (allowed === undefined) return [`${file}: the folder "${from}" is not in the table`];
      if (from === to || allowed.includes(to)) return [];
      if (typeOnly && TYPES_ONLY.get(file)?.includes(to) === true) return [];
      return [`${file} imports ${target}; ${from} may import: ${allowed.join(', ') || 'nothing of ours'}`];
    });
    expect(wrong).toEqual([]);
  });

  it('is what the page about it says', async () => {
    const page = await readFile(join(repository, 'docs/architecture.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)\/` \| .* \| ([^|]+) \|$/gm)];
    const said = rows.map(([, folder = '', may = '']) => [folder, may === '–' ? [] : may.split(', ').sort()]);
    expect(Object.fromEntries(said)).toEqual(
      Object.fromEntries(Object.entries(MAY_IMPORT).map(([folder, may]) => [folder, [...may].sort()])),
    );
  });

  it('keeps services, readers and surfaces apart from their siblings', () => {
    const wrong = imports.flatMap(({ file, specifier }) => {
      if (!specifier.startsWith('.')) return [];
      const target = relative(source, resolve(source, dirname(file), specifier))
        .split(sep)
        .join('/');
      const [from, to] = [file.split('/'), target.split('/')];
      const siblings = ['services', 'readers', 'surfaces'].includes(from[0] ?? '') && from[0] === to[0];
      if (!siblings || from.length < 3 || to.length < 3 || from[1] === to[1]) return [];
      return [`${file} imports its sibling ${target}`];
    });
    expect(wrong).toEqual([]);
  });

  it('lets services use of sources what they are allowed to, and no more', () => {
    const used = new Set<string>();
    const wrong = imports.flatMap(({ file, specifier, typeOnly }) => {
      const [folder, service = ''] = file.split('/');
      if (folder !== 'services' || !specifier.includes('/sources/')) return [];
      const target = relative(source, resolve(source, dirname(file), specifier))
        .split(sep)
        .join('/');
      used.add(`${service} ${target}`);
      if (SOURCES_OF_SERVICES[service]?.includes(target) === true) return [];
      if (typeOnly && SOURCE_TYPES_OF_SERVICES[service]?.includes(target) === true) return [];
      return [`${file} imports ${target}`];
    });
    expect(wrong).toEqual([]);
    const allowed = [SOURCES_OF_SERVICES, SOURCE_TYPES_OF_SERVICES].flatMap((table) =>
      Object.entries(table).flatMap(([service, targets]) => targets.map((target) => `${service} ${target}`)),
    );
    expect(allowed.filter((pair) => !used.has(pair))).toEqual([]);
  });

  it('lets each package in through one door', () => {
    const wrong = imports.flatMap(({ file, specifier }) => {
      if (specifier.startsWith('.')) return [];
      const [name = ''] = /^(?:node:.*|@[^/]+\/[^/]+|[^/]+)/.exec(specifier) ?? [];
      const door = DOORS[name];
      if (door === undefined)
        return name.startsWith('node:') ? [] : [`${file} imports ${name}, which has no door yet`];
      const isOpen = [door].flat().some((each) => file.startsWith(each));
      return isOpen ? [] : [`${file} imports ${name}; its door is ${String(door)}`];
    });
    expect(wrong).toEqual([]);
  });

  it('starts programs in one place, which survives that they cannot be started (R-02)', async () => {
    const named = await Promise.all(
      production.map(async (file) =>
        /child_process|\b(?:spawn|fork|execFile)(?:Sync)?\(/.test(await readFile(join(source, file), 'utf8'))
          ? [file]
          : [],
      ),
    );
    expect(named.flat().sort()).toEqual([
      // Holds the text of a program that runs between us and another, as a process of its own.
      'base/process/process.ts',
      'base/process/start-program.ts',
    ]);
  });

  it('loads no parser before something has to be parsed', () => {
    const early = new Set(['operations', 'surfaces', 'bin']);
    const wrong = imports.filter(
      ({ file, specifier, typeOnly }) =>
        (early.has(folderOf(file)) || EARLY_OF_APP.test(file)) &&
        specifier.endsWith('base/parse/parse.ts') &&
        !typeOnly,
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  /** The files whose code, comments aside, has something in it. */
  async function having(pattern: RegExp, among: readonly string[]): Promise<string[]> {
    const texts = await Promise.all(among.map((file) => readFile(join(source, file), 'utf8')));
    return among.filter((_, at) => pattern.test(texts[at]?.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '') ?? ''));
  }

  it('touches the process only in the programs', async () => {
    const others = production.filter((name) => !name.startsWith('bin/'));
    expect(await having(PROGRAM_ONLY, others)).toEqual([]);
  });

  it('prints in one place, which shows what is hidden in a text (S-03)', async () => {
    expect(await having(PRINTS, production)).toEqual(['bin/printer.ts', 'bin/program-place.ts']);
  });

  it('has every operation run by execute.ts, which checks who may call it and with what', async () => {
    const callers = /^(?:operations|surfaces|library|app|bin)\//;
    const wrong: string[] = [];
    for (const file of production.filter((name) => callers.test(name) && name !== 'operations/execute.ts')) {
      const runs = (await readFile(join(source, file), 'utf8')).matchAll(/(\w+)\??\.run\(/g);
      for (const [call, owner = ''] of runs)
        if (!SERVICES_THAT_RUN.has(owner)) wrong.push(`${file}: ${call}`);
    }
    expect(wrong).toEqual([]);
  });

  it('keeps files short', async () => {
    const long: string[] = [];
    const others = ['tests', 'scripts'].map(async (folder) =>
      (await readdir(join(repository, folder), { recursive: true }))
        .filter((name) => /\.(?:ts|mjs)$/.test(name))
        .map((name) => join(folder, name)),
    );
    const all = [...files.map((file) => join('src', file)), ...(await Promise.all(others)).flat()];
    for (const file of all) {
      const lines = (await readFile(join(repository, file), 'utf8')).split('\n').length;
      if (lines > 500) long.push(`${file}: ${lines} lines`);
    }
    expect(long).toEqual([]);
  });

  it('lets no room grow without a line in tests/rooms.json that says so', async () => {
    const [measured, limits] = await Promise.all([measureRooms(), readLimits()]);
    const grown = Object.entries(measured).flatMap(([room, { lines, files: count }]) => {
      const limit = limits[room];
      if (limit === undefined) return [`${room} has no limit`];
      const over = lines > limit.lines || count > limit.files;
      return over
        ? [`${room}: ${lines} lines in ${count} files; at most ${limit.lines} in ${limit.files}`]
        : [];
    });
    expect(grown).toEqual([]);
  });

  it('has no folder of more than 25 files', () => {
    const folders = new Map<string, number>();
    for (const file of production) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
    expect([...folders].filter(([, count]) => count > 25)).toEqual([]);
  });

  it('has no circles, not even of types', () => {
    const uses = new Map<string, string[]>(production.map((file) => [file, []]));
    for (const { file, specifier, late } of imports)
      if (specifier.startsWith('.') && !late)
        uses.get(file)?.push(
          relative(source, resolve(source, dirname(file), specifier))
            .split(sep)
            .join('/'),
        );
    const reachesItself = (file: string): boolean => {
      const reached = new Set<string>();
      const next = [...(uses.get(file) ?? [])];
      for (let at = next.pop(); at !== undefined; at = next.pop()) {
        if (reached.has(at)) continue;
        reached.add(at);
        next.push(...(uses.get(at) ?? []));
      }
      return reached.has(file);
    };
    expect(production.filter(reachesItself)).toEqual([]);
  });

  it('has tests beside every service, or says in AGENTS.md where they are', async () => {
    const text = await readFile(join(repository, 'AGENTS.md'), 'utf8');
    const elsewhere = new Map(
      [...text.matchAll(/^\| `(services\/[^`]+)` \|(.+)\|$/gm)].map(([, folder = '', cell = '']) => [
        folder,
        [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
      ]),
    );
    const foldersOf = (names: readonly string[]): Set<string> =>
      new Set(names.filter((name) => name.startsWith('services/')).map((name) => dirname(name)));
    const tested = foldersOf(files.filter((file) => file.endsWith('.test.ts')));
    const untested = [...foldersOf(production)].filter((folder) => !tested.has(folder));
    expect([...elsewhere.keys()].sort()).toEqual(untested.sort());
    for (const place of [...elsewhere.values()].flat())
      await expect(stat(join(repository, place)), place).resolves.toBeDefined();
    expect([...elsewhere].filter(([, places]) => places.length === 0)).toEqual([]);
  });

  it('has no vague file names', () => {
    expect(files.filter((file) => /(?:^|\/)(?:utils?|helpers?|common|misc|manager)\b/.test(file))).toEqual(
      [],
    );
  });

  it('has no types named after how they came about instead of what they are', async () => {
    const vague = /\b(?:interface|type|class) (?:World|Found|Outcome|Wanted|Gathered|Info|Stuff|Thing)\b/;
    expect(await having(vague, files)).toEqual([]);
  });
});
