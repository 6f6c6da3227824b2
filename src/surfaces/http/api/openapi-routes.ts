import { BASE, DOCUMENT } from './paths.ts';

type Schema = Record<string, unknown>;

/** What is served beside the operations, described in the same document. */
export function otherPaths(): Record<string, Schema> {
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
          default: PROBLEM,
        },
      },
    },
    '/metrics': {
      get: {
        operationId: 'metrics',
        summary: 'Metrics in the Prometheus text format',
        tags: ['server'],
        responses: {
          200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
          default: PROBLEM,
        },
      },
    },
  };
}

const PROBLEM = { $ref: '#/components/responses/Problem' };

function getRoute(operationId: string, summary: string, schema: Schema): Schema {
  return {
    operationId,
    summary,
    tags: ['server'],
    responses: { 200: json(summary, schema), default: PROBLEM },
  };
}

function json(description: string, schema: Schema): Schema {
  return { description, content: { 'application/json': { schema } } };
}

function statusSchema(status: string): Schema {
  return { type: 'object', required: ['status'], properties: { status: { const: status } } };
}

const NOT_READY: Schema = {
  type: 'object',
  required: ['status', 'reasons'],
  properties: { status: { const: 'not ready' }, reasons: { type: 'array', items: { type: 'string' } } },
};

const LISTED: Schema = {
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
