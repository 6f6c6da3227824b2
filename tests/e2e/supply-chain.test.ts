import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, it } from 'vitest';
import { repository } from '../support/app.ts';
import { CYCLONEDX_SCHEMA, type Sbom, type SbomComponent } from '../support/cyclonedx.ts';
import { installPackedPackage } from '../support/packed-package.ts';

interface Manifest {
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  peerDependencies?: Record<string, string>;
  bundleDependencies?: unknown;
}

interface LockEntry extends Manifest {
  version?: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
}

const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;
const { packages: lock } = await json<{ packages: Record<string, LockEntry> }>(
  join(repository, 'package-lock.json'),
);
const { folder, files } = await installPackedPackage(afterAll);
const installed = join(folder, 'node_modules', 'mcp-server-bmad');
const manifest = await json<Manifest>(join(installed, 'package.json'));
const security = await readFile(join(installed, 'SECURITY.md'), 'utf8');
const sbom = await json<Sbom>(join(installed, 'dist', 'sbom.cdx.json'));

/** What npm runs by itself when a package is installed. */
const AT_INSTALL = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
];
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 13);
const fullName = ({ group, name }: SbomComponent): string =>
  group === undefined ? name : `${group}/${name}`;
const withInstallScript = Object.entries(lock).filter(
  ([, { dev, hasInstallScript }]) => dev !== true && hasInstallScript === true,
);

describe('what an installation runs (S-18)', () => {
  it('is no script of the package', () => {
    for (const name of AT_INSTALL) expect(manifest.scripts ?? {}).not.toHaveProperty(name);
    // With such a file npm would compile something even without a script.
    expect(files.filter((path) => path.endsWith('.gyp'))).toEqual([]);
  });

  it('is no script of a package that it needs, because it needs none', () => {
    expect(manifest.dependencies ?? {}).toEqual({});
    expect(manifest.bundleDependencies).toBeUndefined();
    for (const name of Object.keys(manifest.peerDependencies ?? {}))
      expect(manifest.peerDependenciesMeta?.[name]?.optional, name).toBe(true);
  });

  it('is a script of optional packages only, each of which SECURITY.md names with its script', async () => {
    expect(withInstallScript.map(([path]) => nameOf(path))).toEqual(['@photostructure/sqlite']);
    for (const [path, { optional }] of withInstallScript) {
      expect(optional, path).toBe(true);
      const { scripts = {} } = await json<Manifest>(join(repository, path, 'package.json'));
      const run = AT_INSTALL.flatMap((name) => scripts[name] ?? []);
      expect(run).not.toEqual([]);
      const said = security
        .split('\n\n')
        .filter((text) => [nameOf(path), ...run].every((word) => text.includes(`\`${word}\``)));
      expect(said.join('\n')).toContain('`npm install --ignore-scripts`');
    }
  });

  it('is nothing of packages that the lock file says have no script', async () => {
    for (const [path, { dev, hasInstallScript }] of Object.entries(lock)) {
      if (path === '' || dev === true || hasInstallScript === true) continue;
      const there = join(repository, path, 'package.json');
      // Those for other platforms are not installed.
      if (
        await access(there).then(
          () => false,
          () => true,
        )
      )
        continue;
      const { scripts = {} } = await json<Manifest>(there);
      for (const name of ['preinstall', 'install', 'postinstall'])
        expect(scripts, path).not.toHaveProperty(name);
    }
  });

  it('names every optional package in SECURITY.md', () => {
    for (const name of Object.keys(manifest.optionalDependencies ?? {}))
      expect(security).toContain(`\`${name}\``);
  });
});

describe('the lock file', () => {
  it('has a SHA-512 of every package, as `npm audit signatures` needs', () => {
    const without = Object.entries(lock).filter(
      ([path, { integrity }]) => path !== '' && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('is for exact versions', () => {
    const wanted = { ...manifest.devDependencies, ...manifest.optionalDependencies };
    for (const [name, version] of Object.entries(wanted))
      expect(version, name).toMatch(/^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+$/);
  });
});

describe('the list of what is shipped', () => {
  it('is CycloneDX 1.6', () => {
    const ajv = new Ajv({ allErrors: true, strict: true });
    const isValid = ajv.validate(CYCLONEDX_SCHEMA, sbom);
    expect(ajv.errors ?? []).toEqual([]);
    expect(isValid).toBe(true);
  });

  it('is about this package', async () => {
    const { name, version } = await json<{ name: string; version: string }>(join(repository, 'package.json'));
    expect(sbom.metadata.component).toMatchObject({ type: 'application', name, version });
  });

  it('has every optional package and all that comes with it', () => {
    const installable = Object.entries(lock).filter(([path, { dev }]) => path !== '' && dev !== true);
    const optional = sbom.components.filter(({ scope }) => scope === 'optional');
    expect(optional.map(fullName).sort()).toEqual(installable.map(([path]) => nameOf(path)).sort());
  });

  it('has the packages that decision 0007 says are bundled, the content and the model, and what is within them', async () => {
    const decision = await readFile(join(repository, 'docs/decisions/0007-dependencies.md'), 'utf8');
    const [table = ''] = decision.split('The bundles contain:')[1]?.split('\n\nOptional') ?? [];
    const bundled = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);
    expect(bundled.length).toBeGreaterThan(8);
    const rest = [
      '@modelcontextprotocol/core',
      '@cfworker/json-schema',
      'content-type',
      'ansi-regex',
      'get-east-asian-width',
      'strip-ansi',
      // What pg has within it.
      'pg-cloudflare',
      'pg-connection-string',
      'pg-int8',
      'pg-pool',
      'pg-protocol',
      'pg-types',
      'pgpass',
      'postgres-array',
      'postgres-bytea',
      'postgres-date',
      'postgres-interval',
      'split2',
      'xtend',
      'bmad-method',
      'bmad-method-test-architecture-enterprise',
      'bmad-builder',
      'bmad-creative-intelligence-suite',
      'bmad-game-dev-studio',
      'bmad-static-fr-en',
    ];
    const required = sbom.components.filter(({ scope }) => scope === 'required');
    expect(required.map(fullName).sort()).toEqual([...bundled, ...rest].sort());
  });

  it('has the versions, hashes and licences of the lock file', () => {
    const known = sbom.components.filter((each) => lock[`node_modules/${fullName(each)}`] !== undefined);
    expect(known.length).toBeGreaterThan(25);
    for (const each of known) {
      // What is bundled may be a second version of a name, below the package that needs it.
      const versions = Object.entries(lock).filter(([path]) => nameOf(path) === fullName(each));
      const own = versions.find(([, { version }]) => version === each.version);
      expect(own, each.name).toBeDefined();
      const { integrity = '', license } = own?.[1] ?? {};
      expect(each.licenses).toEqual([{ license: { id: license } }]);
      const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
      expect(each.hashes).toEqual([{ alg: 'SHA-512', content }]);
    }
  });

  it('has the hash of the model that is in the package', async () => {
    const bytes = await readFile(join(installed, 'dist', 'embedder.bin'));
    const model = sbom.components.find(({ type }) => type === 'machine-learning-model');
    expect(model?.hashes).toEqual([
      { alg: 'SHA-256', content: createHash('sha256').update(bytes).digest('hex') },
    ]);
  });

  it('says of each part once what it needs, and reaches all of them from the package', () => {
    const refs = [sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const edges = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const reach = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of edges.get(ref) ?? []) reach(next);
    };
    reach(sbom.metadata.component['bom-ref']);
    expect([...reached].sort()).toEqual([...refs].sort());
  });

  it('has a licence text beside it for all that is in the package', async () => {
    const texts = (await readFile(join(installed, 'dist', 'THIRD_PARTY_LICENSES.txt'), 'utf8')).split(
      `\n${'-'.repeat(80)}\n`,
    );
    const heads = texts.map((text) => text.trim().split('\n')[0]);
    for (const each of sbom.components.filter(
      ({ scope, type }) => scope === 'required' && type !== 'machine-learning-model',
    ))
      expect(heads).toContain(`${fullName(each)} ${each.version} (${each.licenses[0]?.license?.id})`);
    for (const text of texts) expect(text.length).toBeGreaterThan(300);
    expect(texts.at(-1)).toContain('WordNet 3.1, copyright Princeton University');
  });
});
