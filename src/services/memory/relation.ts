export type Relation = 'near-duplicate' | 'may contradict';

export interface Limits {
  /** Shares of common words, and nearness in meaning, from which two texts are taken to say the same. */
  sameWords: number;
  sameMeaning: number;
  /** From which they are about the same thing, so that a difference in what they say about it matters. */
  subjectWords: number;
  subjectMeaning: number;
}

/** For the built-in model and for words alone; docs/decisions/0021 has the figures, `training/limits.ts` prints them. */
export const LIMITS: Limits = { sameWords: 0.7, sameMeaning: 0.8, subjectWords: 0.5, subjectMeaning: 0.75 };

/** Other models have other scales, most of them with all texts nearer to each other; nobody has measured them here. */
const UNMEASURED: Limits = { ...LIMITS, sameMeaning: 0.93 };

export function limitsFor(embedder: string | undefined): Limits {
  return embedder === undefined || embedder.startsWith('bmad-static') ? LIMITS : UNMEASURED;
}

interface Said {
  type: string;
  text: string;
  terms: readonly string[];
}

export function relationOf(
  fresh: Said,
  other: Said,
  cosine: number | undefined,
  limits: Limits = LIMITS,
): Relation | undefined {
  const [mine, theirs] = [new Set(fresh.terms), new Set(other.terms)];
  const common = [...mine].filter((term) => theirs.has(term)).length;
  const jaccard = common / Math.max(1, mine.size + theirs.size - common);
  const shared = common / Math.max(1, Math.min(mine.size, theirs.size));
  const subject = (shared >= limits.subjectWords && common >= 2) || (cosine ?? 0) >= limits.subjectMeaning;
  if (subject && fresh.type === other.type && differs(fresh.text, other.text)) return 'may contradict';
  return jaccard >= limits.sameWords || (cosine ?? 0) >= limits.sameMeaning ? 'near-duplicate' : undefined;
}

/** Words that deny, or say that something is no longer so, in English and French. */
const TURN =
  /\b(?:not|never|no longer|don't|doesn't|isn't|won't|stop|instead of|rather than|replaced?|abandon(?:ed|né|nons)?|remplac\w*|plutôt que|au lieu d|ne\s+(?:\S+\s+)?(?:pas|plus|jamais)|n'\S+\s+(?:pas|plus|jamais)|jamais|interdit\w*|forbidden)(?![\p{L}])/iu;

function differs(a: string, b: string): boolean {
  const [mine, theirs] = [numbersIn(a), numbersIn(b)];
  return TURN.test(a) !== TURN.test(b) || (mine !== '' && theirs !== '' && mine !== theirs);
}

/** Versions, ports and limits: where both name some and these are others, one of the texts is out of date. */
function numbersIn(text: string): string {
  const plain = text.replace(/\d{4}-\d{2}-\d{2}/g, '');
  return (plain.match(/(?<![\p{L}\d.])v?\d+(?:[.,]\d+)*(?![\p{L}\d])/gu) ?? []).sort().join(' ');
}
