import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRODUCT, SERVER_KEY } from '../../src/base/product.ts';
import { isListed, shortName, type BmadRecord } from '../../src/model/record.ts';
import { root } from '../bundle.ts';

/** Files of a package by their paths in it. */
export type Files = Map<string, string | Buffer>;

export interface Agent {
  /** What it is called by: `architect`. */
  name: string;
  /** `Winston, System Architect`. */
  who: string;
}

/** What all packages say of the product, each thing from the one place that has it. */
export interface Product {
  name: string;
  /** What the MCP registry calls it; the registry looks for it in the published package. */
  registryName: string;
  title: string;
  /** The key hosts file the server under. */
  key: string;
  version: string;
  description: string;
  /** The same in at most a hundred characters, which is what the registry takes. */
  short: string;
  keywords: readonly string[];
  licence: string;
  node: string;
  agents: readonly Agent[];
}

interface Manifest {
  name: string;
  mcpName: string;
  version: string;
  description: string;
  keywords: string[];
  license: string;
  engines: { node: string };
}

const json = async <T>(...path: string[]): Promise<T> =>
  JSON.parse(await readFile(join(root, ...path), 'utf8')) as T;

export async function readProduct(): Promise<Product> {
  const manifest = await json<Manifest>('package.json');
  const { records } = await json<{ records: BmadRecord[] }>('dist', 'catalogue.json');
  const { description } = manifest;
  return {
    name: manifest.name,
    registryName: manifest.mcpName,
    title: PRODUCT,
    key: SERVER_KEY,
    version: manifest.version,
    description,
    short: 'Agents, workflows and knowledge of the BMad Method for every MCP host. Independent project.',
    keywords: manifest.keywords,
    licence: manifest.license,
    node: manifest.engines.node,
    agents: records
      .filter((record) => record.kind === 'agent' && isListed(record))
      .map(({ name, displayName, title }) => ({
        name: shortName(name),
        who: [displayName, title].filter(Boolean).join(', '),
      })),
  };
}

export const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The call with which an agent begins, in words that every host understands. */
export const startOf = ({ name }: Agent, message: string): string =>
  `Call the tool \`bmad\` of the MCP server \`${SERVER_KEY}\` with operation "execute", agent "${name}" and message "${message}". Leave the message out if it is empty. Then follow the answer: become the agent it describes, and stay in character until you are asked to stop.`;
