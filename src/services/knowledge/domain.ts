import { fold } from '../../base/text/suggest.ts';

/** One piece of knowledge, small enough to be loaded alone. */
export interface KnowledgeFragment {
  id: string;
  title?: string;
  description: string;
  tags: readonly string[];
  /** Content path. */
  path: string;
}

/** Knowledge that belongs together: what an index lists, or the files of a data folder. */
export interface KnowledgeDomain {
  /** What to ask for it by; with its module where two modules have one of that name. */
  name: string;
  module: string;
  aliases: readonly string[];
  fragments: readonly KnowledgeFragment[];
}

/** Gathers fragments under the name and module of their domain; copies of the same fragment count once. */
export class DomainShelf {
  readonly #domains = new Map<
    string,
    { short: string; module: string; aliases: Set<string>; fragments: Map<string, KnowledgeFragment> }
  >();

  add(short: string, module: string, aliases: readonly string[], found: readonly KnowledgeFragment[]): void {
    if (found.length === 0) return;
    const key = `${fold(module)}/${fold(short)}`;
    const domain = this.#domains.get(key) ?? { short, module, aliases: new Set(), fragments: new Map() };
    this.#domains.set(key, domain);
    for (const alias of aliases) if (fold(alias) !== fold(short)) domain.aliases.add(alias);
    for (const fragment of found) {
      const known = domain.fragments.get(fold(fragment.id));
      if (known === undefined) domain.fragments.set(fold(fragment.id), fragment);
      // Files of two folders may share a name; rows of an index with one id are copies of each other.
      else if (fragment.tags.length === 0 && known.path !== fragment.path)
        domain.fragments.set(fold(fragment.path), { ...fragment, id: fragment.path });
    }
  }

  /** All domains in a fixed order. */
  all(): KnowledgeDomain[] {
    const found = [...this.#domains.values()];
    const shared = (short: string): boolean =>
      found.filter((other) => fold(other.short) === fold(short)).length > 1;
    return found
      .map(({ short, module, aliases, fragments }) => ({
        name: shared(short) ? `${module}/${short}` : short,
        module,
        aliases: [short, `${module}/${short}`, ...aliases],
        fragments: [...fragments.values()],
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
