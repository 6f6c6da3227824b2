import { createHash } from 'node:crypto';
import { needs, resolved, type Lock, type Shipped, type Way } from './shipped.ts';

export const SBOM_FILE = 'sbom.cdx.json';

interface Component {
  type: 'application' | 'library' | 'data' | 'machine-learning-model';
  'bom-ref': string;
  group?: string;
  name: string;
  version: string;
  description?: string;
  scope?: 'required' | 'optional';
  hashes?: { alg: string; content: string }[];
  licenses: ({ license: { id: string } } | { expression: string })[];
  purl?: string;
  properties?: { name: string; value: string }[];
}

interface Product {
  name: string;
  version: string;
  license: string;
}

/** The table of word vectors, which is ours and has no package. */
export interface Model {
  name: string;
  version: string;
  bytes: Buffer;
}

/**
 * What a person gets with our package, in the form of CycloneDX 1.6. The same sources give the same bytes: it has no time
 * in it, and its number comes from what it says.
 */
export function makeSbom(product: Product, shipped: readonly Shipped[], model: Model, lock: Lock): string {
  const component: Component = {
    type: 'application',
    'bom-ref': purlOf(product.name, product.version),
    ...named(product.name),
    version: product.version,
    licenses: licensesOf(product.license),
    purl: purlOf(product.name, product.version),
  };
  const components = [modelComponent(model, product.license), ...shipped.map(packageComponent)];
  const said = {
    metadata: { lifecycles: [{ phase: 'build' }], component },
    components,
    dependencies: dependenciesOf(component['bom-ref'], components, shipped, lock),
  };
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(said), version: 1 };
  return `${JSON.stringify({ ...head, ...said }, undefined, 2)}\n`;
}

const DESCRIPTIONS: Readonly<Record<Way, string>> = {
  bundled: 'Inside the programs in dist.',
  within: 'Inside the programs in dist, as part of another package that is.',
  copied: 'Its skills and scripts are in dist/content, unchanged.',
  optional: 'Installed beside the package where the platform has it; the programs work without it.',
};

function packageComponent({ name, version, licence, integrity, way, parent }: Shipped): Component {
  const inside = [{ name: 'cdx:npm:package:bundled', value: String(way !== 'optional') }];
  return {
    type: way === 'copied' ? 'data' : 'library',
    'bom-ref': purlOf(name, version),
    ...named(name),
    version,
    description: parent === undefined ? DESCRIPTIONS[way] : `${DESCRIPTIONS[way].slice(0, -1)}: ${parent}.`,
    scope: way === 'optional' ? 'optional' : 'required',
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
    licenses: licensesOf(licence),
    purl: purlOf(name, version),
    properties: inside,
  };
}

function modelComponent({ name, version, bytes }: Model, licence: string): Component {
  return {
    type: 'machine-learning-model',
    'bom-ref': `${name}@${version}`,
    name,
    version,
    description: 'The table of word vectors in dist/embedder.bin.',
    scope: 'required',
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(bytes).digest('hex') }],
    licenses: licensesOf(licence),
  };
}

function dependenciesOf(
  product: string,
  components: readonly Component[],
  shipped: readonly Shipped[],
  lock: Lock,
): { ref: string; dependsOn: string[] }[] {
  const refs = new Map(shipped.map((each) => [each.path ?? '', purlOf(each.name, each.version)]));
  const children = (from: string, names: readonly string[]): string[] =>
    names.flatMap((name) => refs.get(resolved(name, from, lock) ?? '-') ?? []);
  const own = lock[''] ?? {};
  const direct = [
    ...components.filter(({ purl }) => purl === undefined).map((model) => model['bom-ref']),
    ...children('', [...Object.keys(own.devDependencies ?? {}), ...needs(own)]),
  ];
  const edges = shipped.map(({ name, version, path = '', way }) => ({
    ref: purlOf(name, version),
    // Of what is copied, only the files are here and nothing of what its own programs need.
    dependsOn: [
      ...(way === 'copied' || way === 'within' ? [] : children(path, needs(lock[path]))),
      ...shipped.filter(({ parent }) => parent === name).map((each) => purlOf(each.name, each.version)),
    ].sort(),
  }));
  return [{ ref: product, dependsOn: direct.sort() }, ...edges];
}

/** `pkg:npm/%40scope/name@1.0.0`. */
function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function named(name: string): { group?: string; name: string } {
  const [scope = '', rest] = name.split('/');
  return rest === undefined ? { name } : { group: scope, name: rest };
}

function licensesOf(licence: string): Component['licenses'] {
  return /[ (]/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }];
}

/** The hash of the lock file, `sha512-` and Base64, as hexadecimal digits. */
function hashOf(integrity: string): { alg: string; content: string } {
  if (!integrity.startsWith('sha512-')) throw new Error(`This is not a SHA-512: ${integrity}`);
  return { alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') };
}

function serialOf(said: unknown): string {
  const digits = createHash('sha256').update(JSON.stringify(said)).digest('hex');
  // Version 8 of a UUID is one of the maker's own, variant 10.
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
  ];
  return `urn:uuid:${[...parts, digits.slice(20, 32)].join('-')}`;
}
