import table from '../../../assets/words/wishes.json' with { type: 'json' };

/**
 * What people wish for when they mean one of BMAD's workflows or agents and know none of its words: names, in whatever version,
 * then wishes in English and French. Only their meaning is compared, so that one stands for all that are like it; words are
 * the vocabulary's work.
 */
const wishes = new Map<string, readonly string[]>(
  table.flatMap((row) => row.names.map((name): [string, readonly string[]] => [name, row.wishes])),
);

/** What one wishes for who means the thing of this name, without `bmad-`; nothing for names that BMAD does not have. */
export function wishesFor(name: string): readonly string[] {
  return wishes.get(name) ?? [];
}
