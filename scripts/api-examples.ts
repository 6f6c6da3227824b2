// Records what the routes of the HTTP API answer in a small project, for the examples of the OpenAPI document.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { operations } from '../src/operations/index.ts';
import { isForPrograms } from '../src/operations/reachable.ts';
import { TOOLSETS } from '../src/base/product.ts';
import { createApiRoutes } from '../src/surfaces/http/api/route.ts';
import { API_DAY, type ApiCall } from '../tests/support/api-day.ts';
import { contextIn } from '../tests/support/app.ts';
import { exampleInput } from '../tests/support/example-input.ts';
import { KIT_FILES, writeFiles } from '../tests/support/kit-project.ts';
import { served } from '../tests/support/served.ts';

const FILE = join(import.meta.dirname, '../assets/api/examples.json');
const CONTENT = join(import.meta.dirname, '../dist/content');
const EPICS =
  '## Epic 1: Shop\n\n### Story 1.2: Pay\n\n**Acceptance Criteria:**\n\n**Given** a cart **Then** it is paid.\n';

interface Example {
  input: unknown;
  answer?: unknown;
}

const cleanUps: (() => Promise<void>)[] = [];
const folder = await mkdtemp(join(tmpdir(), 'api-'));
cleanUps.push(() => rm(folder, { recursive: true, force: true }));
try {
  const found = await recorded();
  await writeFile(FILE, `${JSON.stringify(found, undefined, 1)}\n`);
  const without = Object.keys(found).filter((name) => found[name]?.answer === undefined);
  process.stdout.write(
    `${Object.keys(found).length} examples, ${without.length} without an answer: ${without.join(', ')}\n`,
  );
} finally {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
}

async function recorded(): Promise<Record<string, Example>> {
  await writeFiles(folder, { ...KIT_FILES, '_bmad-output/planning-artifacts/epics.md': EPICS });
  const context = await contextIn(folder, { flags: { toolsets: [...TOOLSETS] } });
  const { origin } = await served(context, createApiRoutes(context), (cleanUp) => cleanUps.push(cleanUp));
  const offered = operations.filter(isForPrograms);
  const named = new Set(API_DAY.map(({ name }) => name));
  const rest = offered.flatMap((each): ApiCall[] =>
    named.has(each.name) ? [] : [{ name: each.name, input: exampleInput(each) }],
  );
  const known = new Map<string, string>();
  const found = new Map<string, Example>();
  for (const { name, input, keeps = {} } of [...API_DAY, ...rest]) {
    const said = JSON.parse(JSON.stringify(input), (_key, value: unknown) =>
      typeof value === 'string' ? (known.get(value) ?? value) : value,
    ) as object;
    const response = await fetch(`${origin}/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(said),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.ok)
      for (const [as, at] of Object.entries(keeps)) known.set(as, String(valueAt(answer['data'], at)));
    if (!response.ok) process.stdout.write(`${name}: ${String(answer['detail'])}\n`);
    if (!found.has(name))
      found.set(name, { input: abridged(said), ...(response.ok ? { answer: abridged(answer) } : {}) });
  }
  return Object.fromEntries(offered.map(({ name }) => [name, found.get(name) ?? { input: {} }]));
}

function valueAt(value: unknown, place: string): unknown {
  return place.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);
}

/** Of long lists the first, and of long texts the beginning; with no path of this machine. */
function abridged(value: unknown): unknown {
  if (typeof value === 'string') {
    const text = value.replaceAll(folder, '/srv/project').replaceAll(CONTENT, '/opt/bmad/content');
    return text.length > 200 ? `${text.slice(0, 199)}…` : text;
  }
  if (Array.isArray(value)) return value.slice(0, 2).map(abridged);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, abridged(inner)]));
}
