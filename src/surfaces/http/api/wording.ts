import type { BmadError } from '../../../base/errors.ts';
import { asRequest } from './steps.ts';
import { wordsBehind } from '../../../operations/offers.ts';

/**
 * Answers name the next step as a call of a tool: `{operation:"read", agent:"pm"}` is one of `bmad`, and what goes with a
 * tool of the project is named by its operation. Over HTTP both are routes.
 */
export function stepsAsRoutes(text: string): string {
  return text
    .replace(FORM, (_whole, form: string) => `POST /api/bmad ${form}`)
    .replace(COMPANION, (_whole, name: string) => `POST /api/${name} {`);
}

/** Only the hint names steps; the rest may hold words of whoever asked. */
export function inRoutes(error: BmadError): BmadError {
  const hint = error.wayOut(asRequest);
  return hint === undefined ? error : error.withHint(stepsAsRoutes(hint));
}

const FORM = /(?:\bbmad )?(\{"?operation"?:"\w+"[^{}\n]*\})/g;
const COMPANION = new RegExp(String.raw`\b(${wordsBehind('manage_project').join('|')}) \{`, 'g');
