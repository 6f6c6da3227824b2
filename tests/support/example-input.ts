import { flagOf } from '../../src/operations/offers.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';

/** The input that the first example of an operation stands for: what is asked of one that no table has an input for. */
export function exampleInput({
  command = '',
  positional = [],
  examples: [example = ''] = [],
  input,
}: AnyOperation): Record<string, string | number | boolean> {
  const words = [...example.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
  if (!`${words.join(' ')} `.startsWith(`${command} `)) return {};
  const found: Record<string, string | number | boolean> = {};
  const places = [...positional];
  const rest = words.slice(command.split(' ').length);
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    const name = word.startsWith('--')
      ? Object.keys(input.shape).find((key) => `--${flagOf(key)}` === word)
      : places.shift();
    if (name === undefined) continue;
    const next = rest[at + 1];
    if (!word.startsWith('--')) found[name] = word;
    else if (next === undefined || next.startsWith('--')) found[name] = true;
    else {
      const isNumber = /^\d+$/.test(next) && input.shape[name]?.safeParse(Number(next)).success === true;
      found[name] = isNumber ? Number(next) : next;
      at += 1;
    }
  }
  return found;
}
