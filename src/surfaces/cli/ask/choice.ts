import { span, type Line } from '../screen/lines.ts';
import { wrapped } from '../screen/wrap.ts';
import type { Prompt } from './prompt.ts';

export interface Choice<Value> {
  /** What it does. */
  label: string;
  value: Value;
}

/**
 * A few ways to go on, each with a letter of its name. The last one changes nothing: it is taken by Enter and by "n". Any
 * other key is none.
 */
export function choice<Value>(choices: readonly Choice<Value>[]): Prompt<'open', Value> {
  const keyed = withKeys(choices);
  const last = choices.at(-1);
  return {
    start: 'open',
    stays: true,
    press(state, { name, text, ctrl }) {
      const typed = text?.toLowerCase();
      const taken = ctrl === true ? undefined : keyed.find(({ key }) => key === typed);
      if (taken !== undefined) return { done: taken.value };
      const none = name === 'return' || name === 'enter' || typed === 'n';
      return none && last !== undefined ? { done: last.value } : state;
    },
    draw: (_state, { width }) => ({ lines: wrapped(choiceLine(keyed), width) }),
  };
}

function choiceLine(keyed: readonly { key: string; label: string }[]): Line {
  return keyed.flatMap(({ key, label }, at) => [
    ...(at === 0 ? [] : [span('  ')]),
    span(`[${key}]`, 'name'),
    span(` ${label}`),
  ]);
}

/** The first letter of each label that no other has yet; digits, once there is none. */
function withKeys<Value>(
  choices: readonly { label: string; value: Value }[],
): { key: string; label: string; value: Value }[] {
  const taken = new Set(['n']);
  return choices.map((each, at) => {
    const letters = each.label.toLowerCase().match(/\p{L}/gu) ?? [];
    const key = letters.find((letter) => !taken.has(letter)) ?? String(at + 1);
    taken.add(key);
    return { ...each, key };
  });
}
