import * as z from 'zod';
import { isSecretName } from '../../base/secrets/names.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import type { Context } from '../context.ts';
import { textOrLines } from '../fields.ts';

/** Arguments that the operations about runs share. */

export const runIdField = z.string().min(1).max(200).describe('Exact id of the run');
export const branchField = z.string().min(1).max(200);
export const stepField = z.int().min(0).max(100_000);
const stepWords = 'Expected a whole number, or the name of a step such as "step-02b-vision".';
/** A step by its number, or by the name that the workflow's texts have for it. */
export const namedStepField = z.union(
  [
    stepField,
    z
      .string()
      .trim()
      .min(1)
      .max(200)
      .regex(/\d|\bstep-/i, { error: stepWords }),
  ],
  { error: stepWords },
);
const notesText = z.string().min(1).max(20_000);
export const notesField = textOrLines(notesText);

export const variablesField = z.record(z.string().min(1).max(200), z.unknown(), {
  error: 'Expected an object such as {"topic": "caching"}.',
});

/** A value as it may be kept: a run lies in the project, where others read it. */
export function withoutSecrets<T>(value: T, context: Pick<Context, 'secrets'>): T {
  const hide = (text: string): string => shownText(text, (secret) => context.secrets.hide(secret));
  const safe = (inner: unknown): unknown => {
    if (typeof inner === 'string') return hide(inner);
    if (Array.isArray(inner)) return inner.map(safe);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => [
        key,
        typeof each === 'string' && isSecretName(key) ? '***' : safe(each),
      ]),
    );
  };
  return safe(value) as T;
}
