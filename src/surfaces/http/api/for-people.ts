import * as z from 'zod';
import { BmadError } from '../../../base/errors.ts';
import { nearest } from '../../../base/text/suggest.ts';
import { FOR_PEOPLE, ON_THE_PAGE } from '../../../operations/for-people.ts';
import { operations } from '../../../operations/index.ts';
import type { AnyOperation } from '../../../operations/operation.ts';

const BY_NAME = new Map(operations.map((operation) => [operation.name, operation]));

const actSchema = z.strictObject({
  operation: z.string().min(1).max(100),
  args: z.record(z.string(), z.unknown()).default({}),
});

type Act = z.output<typeof actSchema>;

/** What a person wants to have done: one of the closed list, with who has decided where that is kept. */
export function actOf(sent: Record<string, unknown>): Act | BmadError {
  const { data, success } = actSchema.safeParse(sent);
  if (!success)
    return new BmadError('invalid_input', 'Expected an object with "operation" and "args".', {
      hint: `Operations: ${FOR_PEOPLE.join(', ')}.`,
    });
  const { operation, args } = data;
  if (!isForPeople(operation))
    return new BmadError('not_found', 'There is no such operation for people.', {
      suggestions: nearest(operation, FOR_PEOPLE, 3),
      hint: `Operations: ${FOR_PEOPLE.join(', ')}. All others are below /api, or commands.`,
    });
  const keepsWho = 'by' in namedForPeople(operation).input.shape;
  return { operation, args: keepsWho ? { by: ON_THE_PAGE, ...args } : args };
}

function isForPeople(name: string): boolean {
  return (FOR_PEOPLE as readonly string[]).includes(name);
}

export function namedForPeople(name: string): AnyOperation {
  const found = isForPeople(name) ? BY_NAME.get(name) : undefined;
  if (found === undefined) throw new Error(`There is no operation ${name} for people.`);
  return found;
}
