import { t } from '../base/text/message.ts';
import { quoted } from '../base/errors.ts';
import { fold } from '../base/text/suggest.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { plusModules } from '../catalogue/prepared.ts';
import type { BuiltInModule } from '../model/module.ts';
import { moduleSource } from '../sources/built-in.ts';
import type { Source } from '../sources/tree.ts';
import { ALL, METHOD, ONLY } from './served-workspace.ts';

interface Place {
  contentRoot: string;
  maxFileBytes: number;
}

/** These of all modules, as origins. */
export function moduleSources(
  chosen: readonly BuiltInModule[],
  all: readonly BuiltInModule[],
  { contentRoot, maxFileBytes }: Place,
): Source[] {
  return chosen.map((module) => moduleSource(module, all.indexOf(module), contentRoot, maxFileBytes));
}

/** Words of the setting that say nothing. */
export function unknownModules(words: readonly string[], all: readonly BuiltInModule[]): string[] {
  const known = [...METHOD, ...all.map(({ code }) => code), ALL, ONLY];
  return words
    .filter((word) => !known.some((other) => fold(other) === fold(word)))
    .map((word) => t`${quoted(word)} is not a built-in module, and is ignored; known: ${known.join(', ')}`);
}

/** The content with these modules behind it. */
export async function withModules(
  catalogue: Catalogue,
  chosen: readonly BuiltInModule[],
  all: readonly BuiltInModule[],
  place: Place,
): Promise<Catalogue> {
  return plusModules(catalogue, moduleSources(chosen, all, place));
}
