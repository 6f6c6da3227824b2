import * as z from 'zod';
import { ERROR_CODES } from '../../../base/errors.ts';
import { PRODUCT, VERSION } from '../../../base/product.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { takesQuery } from './input.ts';
import { PROBLEM_TYPE, problemType } from './problems.ts';

type Schema = Record<string, unknown>;

/** The description of what is offered, made of the schemas that check it. */
export function openApiDocument(operations: readonly AnyOperation[]): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: PRODUCT,
      version: VERSION,
      description: 'The operations of the server as routes; the same rules hold as for its MCP tools.',
    },
    servers: [{ url: '/' }],
    security: [{}, { token: [] }],
    tags: [
      { name: 'read', description: 'Only reads.' },
      { name: 'write', description: 'Writes into the state of the project.' },
      { name: 'destroy', description: 'Removes something.' },
    ],
    paths: Object.fromEntries(operations.map((operation) => [`/api/${operation.name}`, pathOf(operation)])),
    components: {
      schemas: { Problem: PROBLEM },
      responses: {
        Problem: {
          description: 'Why there is no answer, and what to do next.',
          content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
        },
        ...Object.fromEntries(operations.map((operation) => [operation.name, responseOf(operation)])),
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Where the server has a token.' },
      },
    },
  };
}

const PROBLEM: Schema = {
  type: 'object',
  description: 'An error as RFC 9457 has it.',
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
    retry: { type: 'boolean', description: 'Whether the same call may work later.' },
    hint: { type: 'string', description: 'What to do next.' },
    subject: { type: 'string', description: 'The name, URI or argument it is about.' },
    suggestions: { type: 'array', items: { type: 'string' }, description: 'Names that exist and are close.' },
  },
};

function pathOf(operation: AnyOperation): Schema {
  const { name, title, description, effect } = operation;
  const input = schemaOf(operation.input, 'input');
  const shared = {
    summary: title,
    description,
    tags: [effect],
    responses: {
      200: { $ref: `#/components/responses/${name}` },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
  const required = Array.isArray(input['required']) && input['required'].length > 0;
  return {
    ...(takesQuery(operation)
      ? { get: { operationId: `${name}_get`, ...shared, parameters: parametersOf(input) } }
      : {}),
    post: {
      operationId: name,
      ...shared,
      requestBody: { required, content: { 'application/json': { schema: input } } },
    },
  };
}

/** The answer stands once, for both ways of asking. */
function responseOf(operation: AnyOperation): Schema {
  return {
    description: 'The answer: its data, or the text of it.',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['data', 'failed'],
          properties: {
            data: schemaOf(operation.output, 'output'),
            failed: { type: 'boolean', description: 'Whether the answer reports something broken.' },
          },
        },
      },
      'text/markdown': { schema: { type: 'string' } },
      'text/plain': { schema: { type: 'string' } },
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
