import { isForPrograms } from '../../src/operations/reachable.ts';
import { operations } from '../../src/operations/index.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { takesQuery } from '../../src/surfaces/http/api/input.ts';
import { cell } from '../../src/base/text/text.ts';
import { code, propertiesOf, table } from './markdown.ts';

export function httpApiPage(): string[] {
  const offered = operations.filter(isForPrograms);
  const others = operations.filter((operation) => !isForPrograms(operation));
  return [
    '# HTTP API',
    '',
    'The routes of a server that offers everything; [the guide](../guide/http-api.md) says which of them a server offers and',
    'how they are called. `GET /openapi.json` has the schemas of what goes in and comes out. Arguments in italics are required.',
    '',
    ...table(
      ['route', 'methods', 'effect', 'arguments', 'what it does'],
      offered.map((operation) => [
        code(`/api/${operation.name}`),
        takesQuery(operation) ? 'GET, POST' : 'POST',
        operation.effect,
        argumentsOf(operation),
        operation.title,
      ]),
    ),
    '',
    '## Not over HTTP',
    '',
    'What a person decides, what touches files of the user, and what is a part of another surface:',
    '',
    others.map(({ name }) => code(name)).join(', ') + '.',
  ];
}

function argumentsOf(operation: AnyOperation): string {
  const { shape } = operation.input;
  return propertiesOf(operation)
    .filter(([name]) => operation.typedOnly?.includes(name) !== true)
    .map(([name]) => cell(shape[name]?.safeParse(undefined).success === true ? name : `*${name}*`))
    .join(', ');
}
