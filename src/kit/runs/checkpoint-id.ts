import { createHash } from 'node:crypto';
import { pythonJson } from './python-json.ts';

/** Six hexadecimal digits of run, step and variables, the way BMAD's checkpoints are numbered. */
export function checkpointId(
  run: string,
  step: number,
  variables: Readonly<Record<string, unknown>>,
): string {
  return hash(`${run}:${step}:${pythonJson(variables)}`).slice(0, 6);
}

/** By which a state is recognised, whatever the order of its keys. */
export function stateDigest(table: Readonly<Record<string, unknown>>): string {
  return hash(pythonJson(table)).slice(0, 16);
}

function hash(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
