import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { KIT_STACKS, type KitStack } from '../../kit/stacks.ts';

/** Other names people and hosts use. */
const OTHER_NAMES: Readonly<Record<string, KitStack>> = {
  ts: 'typescript',
  javascript: 'typescript',
  js: 'typescript',
  node: 'typescript',
  react: 'typescript',
  golang: 'go',
  py: 'python',
  tf: 'terraform',
  k8s: 'kubernetes',
  sh: 'shell',
  bash: 'shell',
};

/** The stack a caller means; nothing for `auto`, which the kit's script does not know. */
export function stackNamed(name: string | undefined): KitStack | undefined {
  const wanted = name?.trim().toLowerCase() ?? 'auto';
  if (wanted === 'auto') return undefined;
  const known = KIT_STACKS.find((stack) => stack === wanted) ?? OTHER_NAMES[wanted];
  if (known !== undefined) return known;
  throw new BmadError('invalid_input', `There is no stack ${quoted(name ?? '')}.`, {
    subject: 'stack',
    suggestions: nearest(wanted, KIT_STACKS, 1),
    hint: `Stacks: auto, ${KIT_STACKS.join(', ')} (short forms: k8s, ts, py, tf, sh).`,
  });
}
