import { fold } from '../base/text/suggest.ts';
import type { BuiltInModule } from '../model/module.ts';

/** These are the method itself, and there whatever is chosen. */
export const METHOD: readonly string[] = ['core', 'bmm'];
export const ALL = 'all';
export const ONLY = 'only';

/** What the setting `modules` makes of the modules that come with the server. */
export interface ModuleChoice {
  /** In lists and prompts, like the method itself. */
  shown: BuiltInModule[];
  /** For callers who name them or search. */
  beside: BuiltInModule[];
}

export function chosenModules(words: readonly string[], all: readonly BuiltInModule[]): ModuleChoice {
  const chosen = new Set(words.map(fold));
  const isShown = ({ code }: BuiltInModule): boolean => chosen.has(ALL) || chosen.has(fold(code));
  return {
    shown: all.filter(isShown),
    beside: chosen.has(ONLY) ? [] : all.filter((module) => !isShown(module)),
  };
}
