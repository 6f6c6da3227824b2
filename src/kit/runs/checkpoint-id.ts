import { sha256 } from '../../base/sha256.ts';
import { pythonJson } from './python-json.ts';

/** Six hexadecimal digits of run, step and variables, the way BMAD's checkpoints are numbered. */
export function checkpointId(
  run: string,
  step: number,
  variables: Readonly<Record<string, unknown>>,
): string {
  return sha256(`${run}:${step}:${pythonJson(variables)}`).slice(0, 6);
}

/** By which a state is recognised, whatever the order of its keys. */
export function stateDigest(table: Readonly<Record<string, unknown>>): string {
  return sha256(pythonJson(table)).slice(0, 16);
}
