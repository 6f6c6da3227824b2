import { analyse } from '../../meaning/analyse.ts';
import type { MenuItem } from './agent-profile.ts';
import { namedEntry } from './menu-work.ts';

/** An entry of a menu that says what somebody wishes, as it is asked for. */
export interface FittingEntry {
  /** `*shard-prd`, `CP`. */
  said: string;
  text: string;
  /** The message is this very entry. */
  isNamed?: boolean;
  /** The id of the prompt in the agent's own file that it leads to. */
  prompt?: string | undefined;
}

/** What is longer is a description of work, in which words of many entries occur. */
const MOST_TERMS = 12;
/** The next best entry fits less by this factor, or nothing is plain. */
const CLEARLY = 1.3;

/** How much of a wish an entry has to say; else the wish is for something that the menu has no entry for. */
const LEAST_SHARE = 0.4;

interface Entry extends FittingEntry {
  /** The words that it may be asked for by. */
  triggers: ReadonlySet<string>;
  terms: ReadonlySet<string>;
}

const analysed = new WeakMap<readonly MenuItem[], readonly Entry[]>();

function entriesOf(menu: readonly MenuItem[]): readonly Entry[] {
  const entries =
    analysed.get(menu) ??
    menu
      .filter(({ code }) => code !== '')
      .map(({ code, text, also = [] }) => ({
        said: code.split(/\s/, 1)[0] ?? code,
        text,
        triggers: new Set(analyse(also.join(' '))),
        terms: new Set(analyse([code.replace(/\{[^{}]{0,100}\}/g, ' '), ...also, text].join(' '))),
      }));
  analysed.set(menu, entries);
  return entries;
}

/** The entry of a menu that a wish in plain words is for; nothing unless one of them plainly is. */
export function fittingEntry(menu: readonly MenuItem[], wish: string): FittingEntry | undefined {
  const named = namedEntry(menu, wish);
  if (named !== undefined) return { ...named, text: '', isNamed: true };
  const wanted = new Set(analyse(wish.slice(0, 2_000)));
  if (wanted.size === 0 || wanted.size > MOST_TERMS) return undefined;
  const entries = entriesOf(menu);
  const weight = (term: string): number =>
    Math.log(1 + entries.length / Math.max(1, entries.filter(({ terms }) => terms.has(term)).length));
  const scored = entries
    .map((entry) => {
      const shared = [...wanted].filter((term) => entry.terms.has(term));
      return { ...entry, shared, score: shared.reduce((sum, term) => sum + weight(term), 0) };
    })
    .sort((a, b) => b.score - a.score);
  const [best, second] = scored;
  if (best === undefined || best.shared.length < Math.min(2, wanted.size)) return undefined;
  if (best.shared.length < LEAST_SHARE * wanted.size) return undefined;
  // A wish that names another entry as well is plainly for neither.
  const isNamed = ({ triggers }: Entry): boolean => [...wanted].some((term) => triggers.has(term));
  if (scored.some((entry) => entry !== best && isNamed(entry) && !covers(best, entry, wanted)))
    return undefined;
  return best.score > CLEARLY * (second?.score ?? 0) ? { said: best.said, text: best.text } : undefined;
}

/** Whether an entry has all that another one has of a wish. */
function covers(best: Entry, other: Entry, wanted: ReadonlySet<string>): boolean {
  return [...wanted].every((term) => !other.triggers.has(term) || best.terms.has(term));
}
