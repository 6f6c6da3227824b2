import * as z from 'zod';
import recorded from '../../../../assets/api/examples.json' with { type: 'json' };
import { ERROR_CODES } from '../../../base/errors.ts';
import { PRODUCT, VERSION } from '../../../base/product.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { BASE, DOCUMENT, PROBLEM_TYPE, problemType, takesQuery } from './input.ts';

type Schema = Record<string, unknown>;

interface DocumentOptions {
  /** Whether callers have to show a token. */
  secured: boolean;
  /** Whether callers may start programs. */
  runsPrograms?: boolean;
}

/** The description of what is offered, made of the schemas that check it. */
export function openApiDocument(
  operations: readonly AnyOperation[],
  { secured, runsPrograms = false }: DocumentOptions,
): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: PRODUCT,
      version: VERSION,
      description:
        'The server’s operations as routes, under the same rules as its MCP tools. Answers are JSON; with Accept: text/markdown or text/plain they are the text that a person or a model reads.',
    },
    servers: [{ url: '/' }],
    security: secured ? [{ token: [] }] : [],
    tags: [...new Set([...operations.map(tagOf), SERVER])].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(
        operations.map((operation) => [`${BASE}/${operation.name}`, pathOf(operation, runsPrograms)]),
      ),
      ...otherPaths(),
    },
    components: {
      schemas: {
        Problem: PROBLEM,
        ...Object.fromEntries(operations.map((operation) => [operation.name, answerOf(operation)])),
      },
      examples: Object.fromEntries(
        operations
          .map(({ name }) => [name, { value: EXAMPLES[name]?.answer }] as const)
          .filter(([, { value }]) => value !== undefined),
      ),
      responses: {
        Problem: {
          description: 'What went wrong, and what to do next.',
          content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
        },
        ...Object.fromEntries(
          REFUSALS.map(({ name, description, header }) => [name, refusal(description, header)]),
        ),
        Unchanged: {
          description: 'The answer has not changed; there is no body.',
          headers: { ETag: headerOf('Of the answer you already have.') },
        },
      },
      ...(secured
        ? {
            securitySchemes: {
              token: {
                type: 'http',
                scheme: 'bearer',
                description: 'The server’s token, or an access token from its OAuth issuer.',
              },
            },
          }
        : {}),
    },
  };
}

/** What a call may be refused with; only a change can be in the way of another. */
const REFUSALS: readonly {
  status: number;
  name: string;
  description: string;
  header?: 'Retry-After' | 'WWW-Authenticate';
  writes?: true;
}[] = [
  {
    status: 400,
    name: 'BadRequest',
    description: 'An argument is missing, unknown or wrong, or the body is not a JSON object.',
  },
  { status: 401, name: 'Unauthorized', description: 'A token is needed.', header: 'WWW-Authenticate' },
  {
    status: 403,
    name: 'Forbidden',
    description: 'This caller may not do that here.',
    header: 'WWW-Authenticate',
  },
  { status: 404, name: 'NotFound', description: 'Nothing has this name.' },
  {
    status: 409,
    name: 'Conflict',
    description: 'Someone else holds it, it has changed, or several things have this name.',
  },
  {
    status: 422,
    name: 'KeyUsed',
    description: 'The Idempotency-Key was used for another call.',
    writes: true,
  },
  {
    status: 429,
    name: 'TooMany',
    description: 'A bound of the token, or too many wrong tokens.',
    header: 'Retry-After',
  },
  {
    status: 503,
    name: 'Unavailable',
    description: 'Something does not respond, or too much is asked for.',
    header: 'Retry-After',
  },
];

const SERVER = 'server';

/** The noun that it is about, as commands have it: the first of two words, else the tool that it is or belongs to. */
function tagOf({ command = '', toolset, behind = {} }: AnyOperation): string {
  const [noun = '', verb] = command.split(' ');
  return verb === undefined ? (toolset ?? Object.keys(behind)[0] ?? SERVER) : noun;
}

/** What was asked and answered in a small project, with long texts and lists cut short. */
const EXAMPLES: Readonly<Record<string, { input?: unknown; answer?: unknown }>> = recorded;

const HEADERS = {
  'Retry-After': 'Seconds after which another try may succeed, where that is known.',
  'WWW-Authenticate': 'How to be admitted, where a token or a scope is missing.',
} as const;

function refusal(description: string, header: keyof typeof HEADERS | undefined): Schema {
  return {
    description,
    ...(header === undefined ? {} : { headers: { [header]: headerOf(HEADERS[header]) } }),
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

const headerOf = (description: string): Schema => ({ description, schema: { type: 'string' } });

const PROBLEM: Schema = {
  type: 'object',
  description: 'An error as defined by RFC 9457.',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: {
      type: 'string',
      description: `\`about:blank\`, or one of: ${Object.keys(ERROR_CODES)
        .map((code) => problemType(code as keyof typeof ERROR_CODES))
        .join(', ')}.`,
    },
    title: { type: 'string', description: 'The kind of error.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What went wrong.' },
    code: { type: 'string', enum: Object.keys(ERROR_CODES) },
    retry: { type: 'boolean', description: 'Whether the same call may succeed later.' },
    hint: { type: 'string', description: 'What to do next.' },
    subject: { type: 'string', description: 'The name, URI or argument it is about.' },
    suggestions: { type: 'array', items: { type: 'string' }, description: 'Similar names that exist.' },
  },
};

function pathOf(operation: AnyOperation, runsPrograms: boolean): Schema {
  const { name, title, description, effect, needsOneOf = [] } = operation;
  const input = inputOf(operation, runsPrograms);
  const oneOf =
    needsOneOf.length === 0 ? '' : ` At least one of these is required: ${needsOneOf.join(', ')}.`;
  const shared = { summary: title, description: `${description}${oneOf}`, tags: [tagOf(operation)] };
  const responses = {
    200: responseOf(operation),
    ...Object.fromEntries(
      REFUSALS.filter(({ writes }) => writes !== true || effect !== 'read').map((each) => [
        each.status,
        { $ref: `#/components/responses/${each.name}` },
      ]),
    ),
    default: { $ref: '#/components/responses/Problem' },
  };
  const required =
    needsOneOf.length > 0 || (Array.isArray(input['required']) && input['required'].length > 0);
  return {
    ...(takesQuery(operation)
      ? {
          get: {
            operationId: `${name}_get`,
            ...shared,
            parameters: [...parametersOf(input), KNOWN_TAG],
            responses: { ...responses, 304: { $ref: '#/components/responses/Unchanged' } },
          },
        }
      : {}),
    post: {
      operationId: name,
      ...shared,
      ...(effect === 'read' ? {} : { parameters: [KEY] }),
      requestBody: {
        required,
        content: { 'application/json': { schema: input, example: EXAMPLES[name]?.input } },
      },
      responses,
    },
  };
}

const KNOWN_TAG: Schema = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of an answer you already have.',
  schema: { type: 'string' },
};

const KEY: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'With the same key, the same call is made once; for 24 hours it gets the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** What starts programs is left out where it is refused, and what only a person may type everywhere. */
function inputOf(
  { input, runsProgramsWith = [], typedOnly = [], needsOneOf = [] }: AnyOperation,
  runsPrograms: boolean,
): Schema {
  const schema = schemaOf(input, 'input');
  const properties = Object.entries((schema['properties'] ?? {}) as Schema);
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.filter(
        ([name]) => !typedOnly.includes(name) && (runsPrograms || !runsProgramsWith.includes(name)),
      ),
    ),
    ...(needsOneOf.length === 0 ? {} : { anyOf: needsOneOf.map((name) => ({ required: [name] })) }),
  };
}

/** Some makers of clients learn only from a response that is in its place that its answer is JSON. */
function responseOf(operation: AnyOperation): Schema {
  const { name, effect } = operation;
  const recording = { recorded: { $ref: `#/components/examples/${name}` } };
  return {
    description: 'The answer.',
    headers: {
      ...(takesQuery(operation) ? { ETag: headerOf('Of an answer to GET.') } : {}),
      ...(effect === 'read'
        ? {}
        : { 'Idempotency-Replayed': headerOf('"true" where it is the answer of an earlier call.') }),
    },
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${name}` },
        ...(EXAMPLES[name]?.answer === undefined ? {} : { examples: recording }),
      },
    },
  };
}

/** It appears once, for both methods. */
function answerOf({ output }: AnyOperation): Schema {
  return {
    type: 'object',
    required: ['data', 'failed'],
    properties: {
      data: schemaOf(output, 'output'),
      failed: { type: 'boolean', description: 'Whether the answer reports a failure.' },
    },
  };
}

function parametersOf(input: Schema): Schema[] {
  const required = new Set(input['required'] as string[] | undefined);
  return Object.entries((input['properties'] ?? {}) as Record<string, Schema>).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.has(name),
      ...(description === undefined ? {} : { description }),
      schema,
    }),
  );
}

function schemaOf(schema: z.ZodObject, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...plain } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // That a whole number fits into a number says nothing about the operation.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return plain;
}

type RouteSchema = Record<string, unknown>;

/** What is served beside the operations, described in the same document. */
function otherPaths(): Record<string, RouteSchema> {
  return {
    [BASE]: { get: getRoute('operations_list', 'The operations that this server offers', LISTED) },
    [DOCUMENT]: { get: getRoute('openapi', 'This document', { type: 'object' }) },
    '/healthz': {
      get: { ...getRoute('healthz', 'Whether the process is alive', statusSchema('ok')), security: [] },
    },
    '/readyz': {
      get: {
        ...getRoute('readyz', 'Whether the server is ready for work', statusSchema('ready')),
        security: [],
        responses: {
          200: json('Ready.', statusSchema('ready')),
          503: json('Not ready, with the reasons.', NOT_READY),
          default: REFUSAL,
        },
      },
    },
    '/metrics': {
      get: {
        operationId: 'metrics',
        summary: 'Metrics in the Prometheus text format',
        tags: [SERVER],
        responses: {
          200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
          default: REFUSAL,
        },
      },
    },
  };
}

const REFUSAL = { $ref: '#/components/responses/Problem' };

function getRoute(operationId: string, summary: string, schema: RouteSchema): RouteSchema {
  return {
    operationId,
    summary,
    tags: [SERVER],
    responses: { 200: json(summary, schema), default: REFUSAL },
  };
}

function json(description: string, schema: RouteSchema): RouteSchema {
  return { description, content: { 'application/json': { schema } } };
}

function statusSchema(status: string): RouteSchema {
  return { type: 'object', required: ['status'], properties: { status: { const: status } } };
}

const NOT_READY: RouteSchema = {
  type: 'object',
  required: ['status', 'reasons'],
  properties: { status: { const: 'not ready' }, reasons: { type: 'array', items: { type: 'string' } } },
};

const LISTED: RouteSchema = {
  type: 'object',
  required: ['operations'],
  properties: {
    operations: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'path', 'methods', 'effect', 'title', 'description'],
        properties: {
          name: { type: 'string' },
          path: { type: 'string' },
          methods: { type: 'array', items: { enum: ['GET', 'POST'] } },
          effect: { enum: ['read', 'write', 'destroy'] },
          title: { type: 'string' },
          description: { type: 'string' },
        },
      },
    },
  },
};
