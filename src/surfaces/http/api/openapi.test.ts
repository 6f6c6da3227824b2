import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import { served } from '../../../../tests/support/served.ts';
import { operations } from '../../../operations/index.ts';
import { isForPrograms } from '../../../operations/reachable.ts';
import { openApiDocument } from './openapi.ts';
import { createApiRoutes } from './route.ts';

interface Document extends Record<string, unknown> {
  openapi: string;
  paths: Record<string, Record<string, { parameters?: { name: string }[]; requestBody?: object }>>;
}

interface Answer {
  content?: object;
  headers?: object;
}

const offered = operations.filter(isForPrograms);
const all = openApiDocument(offered, { secured: true });

/** What a reference inside the document leads to. */
function at(document: unknown, reference: string): unknown {
  const [, ...steps] = reference.split('/');
  return steps.reduce<unknown>(
    (inner, step) => (inner as Record<string, unknown> | undefined)?.[step],
    document,
  );
}

describe('the OpenAPI document', () => {
  it('is valid by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(all))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('is found wanting by the same validator when it is broken', async () => {
    const { paths: _paths, components: _components, ...broken } = structuredClone(all);
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('has no reference that leads nowhere, and every operation once', () => {
    const text = JSON.stringify(all);
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target));
    expect([...references].filter((target) => at(all, target ?? '') === undefined)).toEqual([]);
    expect(references.size).toBeGreaterThan(50);
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(offered.length);
  });

  it('has one kind of answer in each response, and the refusals with their headers', () => {
    const { paths, components } = all as unknown as {
      paths: Record<
        string,
        Record<string, { responses: Record<string, Answer>; parameters?: { name: string }[] }>
      >;
      components: { responses: Record<string, Answer> };
    };
    const calls = Object.values(paths).flatMap((path) => Object.values(path));
    const answers = calls.flatMap(({ responses }) => Object.values(responses));
    for (const { content = {} } of [...answers, ...Object.values(components.responses)])
      expect(Object.keys(content).length).toBeLessThanOrEqual(1);
    // Makers of clients look for what is answered where it is: behind a reference some find nothing.
    expect(calls.filter(({ responses }) => responses['200']?.content === undefined)).toEqual([]);
    const spawn = paths['/api/spawn_subagent_task']?.['post'];
    expect(Object.keys(spawn?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '422',
      '429',
      '503',
      'default',
    ]);
    expect(spawn?.parameters?.map(({ name }) => name)).toEqual(['Idempotency-Key']);
    expect(Object.keys(paths['/api/search']?.['get']?.responses ?? {})).not.toContain('422');
    const headersOf = (one?: Answer): string[] => Object.keys(one?.headers ?? {});
    const { Unauthorized, TooMany, Unavailable, Unchanged } = components.responses;
    expect([Unauthorized, TooMany, Unavailable, Unchanged].map(headersOf)).toEqual([
      ['WWW-Authenticate'],
      ['Retry-After'],
      ['Retry-After'],
      ['ETag'],
    ]);
    expect(headersOf(paths['/api/search']?.['get']?.responses['200'])).toEqual(['ETag']);
    expect(headersOf(spawn?.responses['200'])).toEqual(['Idempotency-Replayed']);
  });

  it('is in order of the nouns that operations are about', () => {
    const { tags, paths } = all as unknown as {
      tags: { name: string }[];
      paths: Record<string, Record<string, { tags: string[] }>>;
    };
    const tagOf = (name: string) => paths[`/api/${name}`]?.['post']?.tags;
    expect(['task_claim', 'memory_list', 'run_open', 'search', 'recall_structured'].map(tagOf)).toEqual([
      ['task'],
      ['memory'],
      ['run'],
      ['bmad'],
      ['memory'],
    ]);
    const used = Object.values(paths).flatMap((path) => Object.values(path).flatMap((each) => each.tags));
    expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
  });

  it('is served for what this server offers', async () => {
    const context = await contextIn(await temporaryFolder(afterAll), { flags: { toolsets: ['bmad'] } });
    const { origin } = await served(context, createApiRoutes(context), afterAll);
    const document = (await (await fetch(`${origin}/openapi.json`)).json()) as Document;
    expect(document.openapi).toBe('3.1.0');
    expect(document.paths['/api/search']?.['get']?.parameters?.[0]).toMatchObject({
      name: 'query',
      in: 'query',
      required: true,
    });
    expect(document.paths['/api/search']?.['post']?.requestBody).toMatchObject({ required: true });
    expect(document.paths['/api/task_claim']).toBeUndefined();
    expect((await new Validator().validate(document)).valid).toBe(true);
  });

  it.each([
    ['true', true],
    ['false', false],
  ])('has what starts programs where callers may do that: %s', async (contractsOverHttp, shown) => {
    const context = await contextIn(await temporaryFolder(afterAll), { flags: { contractsOverHttp } });
    const { origin } = await served(context, createApiRoutes(context), afterAll);
    const document = (await (await fetch(`${origin}/openapi.json`)).json()) as Document;
    const doctor = document.paths['/api/doctor'] ?? {};
    expect(JSON.stringify(doctor['post']?.requestBody).includes('"handshake":')).toBe(shown);
    expect(doctor['get']?.parameters?.some(({ name }) => name === 'handshake') ?? false).toBe(shown);
  });
});
