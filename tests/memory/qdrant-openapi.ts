import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../support/app.ts';
import type { Exchange } from './fake-qdrant.ts';

const run = promisify(execFile);
const schema = '@qdrant/js-client-rest/dist/types/openapi/generated_schema.d.ts';

/** The types that Qdrant’s makers generate from their OpenAPI, by method and path; what has no body is sent without one. */
const TYPES = `import type { paths } from '${join(repository, 'node_modules', schema).replace(/\.d\.ts$/, '.js')}';
type Call<M extends string, P extends keyof paths> = M extends keyof paths[P] ? paths[P][M] : never;
type Json<T> = T extends { content: { 'application/json': infer B } } ? B : never;
export type Sent<M extends string, P extends keyof paths> =
  Call<M, P> extends { requestBody?: infer R } ? Json<NonNullable<R>> : undefined;
export type Answered<M extends string, P extends keyof paths> =
  Call<M, P> extends { responses: { 200: infer R } } ? Json<R> : never;
`;

/** Whether every exchange is what the published OpenAPI says, by the compiler: what it objects to, and how many there were. */
export async function againstOpenApi(
  exchanges: readonly Exchange[],
): Promise<{ objections: string[]; checked: number; paths: string[] }> {
  const lines = new Map<string, string>();
  for (const { method, path, body, answer } of exchanges) {
    const of = `'${method}', '${path}'`;
    // Vectors and texts differ in what they hold, not in their shape.
    lines.set(`sent ${of} ${JSON.stringify(shaped(body))}`, `Sent<${of}> = ${literal(body)}`);
    lines.set(`answered ${of} ${JSON.stringify(shaped(answer))}`, `Answered<${of}> = ${literal(answer)}`);
  }
  const folder = join(repository, '.cache', `qdrant-openapi.${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    const declared = [...lines.values()].map((line, at) => `export const e${at}: ${line};`);
    const file = join(folder, 'exchanges.ts');
    await writeFile(file, `${TYPES}${declared.join('\n')}\n`);
    const tsc = join(repository, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
    const output = await run(process.execPath, [tsc, ...options, file], { maxBuffer: 1e8 }).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    const objections = output.split('\n').filter((line) => line.includes('error TS'));
    const paths = new Set(exchanges.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
    return { objections, checked: lines.size, paths: [...paths].sort() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const literal = (value: unknown): string => (value === undefined ? 'undefined' : JSON.stringify(value));

/** A value by its keys and the kinds of what they hold; of a list, the kinds that are in it. */
function shaped(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shaped(each))))].sort();
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, shaped(each)]),
  );
}
