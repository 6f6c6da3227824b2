import { remembering } from '../../base/remembering.ts';
import { analyse } from '../../meaning/analyse.ts';
import { subjectWords } from '../../meaning/wordings.ts';
import { haveOpposites, shareAPlace } from './opposites.ts';
import { GIVEN_UP, KEPT, TURN } from './turns.ts';

export type Relation = 'near-duplicate' | 'may contradict';

/** For the built-in model and for words alone; docs/decisions/0021 has the figures, `training/limits.ts` prints them. */
export const LIMITS = {
  /** Shares of common words, and nearness in meaning, from which two texts are taken to say the same. */
  sameWords: 0.7,
  sameMeaning: 0.8,
  /** From which they are about the same thing, so that a difference in what they say about it matters. */
  subjectWords: 0.5,
  subjectMeaning: 0.75,
};
export type Limits = typeof LIMITS;

/** Other models have other scales, most of them with texts closer to each other; they have not been measured. */
const UNMEASURED: Limits = { ...LIMITS, sameMeaning: 0.93 };

export function limitsFor(embedder: string | undefined): Limits {
  return embedder === undefined || embedder.startsWith('bmad-static') ? LIMITS : UNMEASURED;
}

interface Statement {
  type: string;
  text: string;
  terms: readonly string[];
}

export function relationOf(
  fresh: Statement,
  other: Statement,
  cosine: number | undefined,
  limits: Limits = LIMITS,
): Relation | undefined {
  const found = foundIn(fresh, other, cosine, limits);
  // Few pairs come so far, and to find these takes longest.
  const isElse = (): boolean =>
    isAnotherThing(fresh, other) || isOfOnePath(fresh, other) || isOfOnePath(other, fresh);
  return found === undefined || isElse() ? undefined : found;
}

function foundIn(
  fresh: Statement,
  other: Statement,
  cosine: number | undefined,
  limits: Limits,
): Relation | undefined {
  const [mine, theirs] = [new Set(fresh.terms), new Set(other.terms)];
  const common = [...mine].filter((term) => theirs.has(term)).length;
  const jaccard = common / Math.max(1, mine.size + theirs.size - common);
  const shared = common / Math.max(1, Math.min(mine.size, theirs.size));
  const subject =
    (shared >= limits.subjectWords && common >= 2) ||
    (cosine ?? 0) >= limits.subjectMeaning ||
    givesUp(fresh, other) ||
    givesUp(other, fresh) ||
    (haveOpposites(fresh.text, other.text) && shareAPlace(fresh.text, other.text));
  const isSame = jaccard >= limits.sameWords || (cosine ?? 0) >= limits.sameMeaning;
  if (subject && fresh.type === other.type && differs(fresh, other)) return 'may contradict';
  // The contrary in nearly the same words is not the same, whoever has noted it as what.
  if (isSame && isTurned(fresh, other)) return 'may contradict';
  return isSame ? 'near-duplicate' : undefined;
}

/** Without what is expressly kept. */
const plainly = remembering((text) => text.replace(KEPT, ' '));

const turned = remembering((text) => plainly(text).search(TURN) >= 0);

/** Where what is given up ends, and what comes in its place or the reason begins. */
const CLAUSE_END =
  /[:;,.!?()—–]|(?<!\p{L})(?:for|with|in favou?r|because|since|and|but|pour|par|au profit|en faveur|car|parce|puisque|et|mais)(?!\p{L})/iu;
const MOST_GIVEN_UP = 3;

/** The terms of a part of a sentence that say what it is about. */
const subjectOf = (part: string): string[] =>
  analyse(subjectWords(part.replace(TURN, ' ').replace(GIVEN_UP, ' ')));

/** What a text says is given up, as far as it names it: `JWT` in `We drop JWT: it is too long`. */
const givenUp = remembering((text): string[][] => {
  const plain = plainly(text);
  return [...plain.matchAll(GIVEN_UP)]
    .map((match) => subjectOf(plain.slice(match.index + match[0].length).split(CLAUSE_END, 1)[0] ?? ''))
    .filter((terms) => terms.length > 0 && terms.length <= MOST_GIVEN_UP);
});

/** What a text that gives something up may be about. */
const subjectsGivenUp = remembering((text): string[][] => {
  const plain = plainly(text);
  return plain.search(GIVEN_UP) < 0 ? [] : [subjectOf(plain), ...givenUp(text)];
});

/** Whether the first says of a thing that the second is about that it is no longer used. */
function givesUp({ text }: Statement, { terms }: Statement): boolean {
  return subjectsGivenUp(text).some(
    (subject) =>
      subject.length > 0 && subject.length <= MOST_GIVEN_UP && subject.every((term) => terms.includes(term)),
  );
}

/** Whether what the first gives up is something that the second does not speak of. */
function givesUpElse({ text }: Statement, { terms }: Statement): boolean {
  const given = givenUp(text);
  return given.length > 0 && !given.flat().some((term) => terms.includes(term));
}

/** Whether one says that something is so, and the other that it is not. */
function isTurned(a: Statement, b: Statement): boolean {
  const oneDenies = turned(a.text) !== turned(b.text);
  // `It is not public` and `It requires a login` agree.
  if (haveOpposites(a.text, b.text)) return !oneDenies;
  return oneDenies && !givesUpElse(a, b) && !givesUpElse(b, a);
}

/** A path, as of a route: `/health does not touch PostgreSQL` says nothing of a text that does not name it. */
const PATH = /(?<![\p{L}\p{N}.:/])\/[a-z][\w./{}:-]*/iu;

/** Whether the first denies something of one path only, and the second is not about that. */
function isOfOnePath({ text }: Statement, other: Statement): boolean {
  const plain = plainly(text);
  const path = PATH.exec(plain.slice(0, Math.max(0, plain.search(TURN))))?.[0];
  return path !== undefined && !other.text.includes(path);
}

function differs(a: Statement, b: Statement): boolean {
  const [mine, theirs] = [numbersIn(a.text), numbersIn(b.text)];
  return isTurned(a, b) || (mine !== '' && theirs !== '' && mine !== theirs);
}

/** Versions, ports and limits: where both name some and these are others, one of the texts is out of date. */
function numbersIn(text: string): string {
  const plain = text
    .replace(/\d{4}-\d{2}-\d{2}/g, '')
    .replace(ITEM, ' ')
    .replace(HOLDER, ' ');
  return (plain.match(/(?<![\p{L}\d.])v?\d+(?:[.,]\d+)*(?![\p{L}\d])/gu) ?? []).sort().join(' ');
}

/** Numbers that are names: `story 1.3`, `issue #12`, `récit 2-1`, `FR-7`. */
const ITEM =
  /(?:(?<!\p{L})(?:stor(?:y|ies)|r[ée]cits?|issues?|tickets?|tasks?|t[âa]ches?|bugs?|pull requests?|merge requests?|PR|MR|US|FR|NFR|AC|ADR|RFC)[ \t\u00A0_-]*(?:n[°o]\.?[ ]?)?[#!]?|(?<![\p{L}\d])#)(\d+(?:[.-]\d+)*)(?!\d)/giu;
/** What many of them are in. A version is a name where the text begins with it, and a value elsewhere. */
const HOLDER =
  /(?<!\p{L})(epics?|[ée]pop[ée]es?|sprints?|milestones?|jalons?|phases?|it[ée]rations?|steps?|[ée]tapes?)[ \t\u00A0_-]*(?:n[°o]\.?[ ]?)?#?(\d+(?:[.-]\d+)*)(?!\d)|^\W*(?:the |la )?(version)[ \t\u00A0]+v?(\d+(?:[.-]\d+)*)(?!\d)/giu;
/** In a memory about stories, `1.3 Login: done`. */
const STORY_NUMBER = /(?<![\p{L}\d.])(\d{1,3}\.\d{1,3})(?![\p{L}\d]|\.\d)/gu;

/** Whether both name a thing by its number, and not the same one: then neither says anything about the other. */
function isAnotherThing(a: Statement, b: Statement): boolean {
  for (const named of [itemsIn, holdersIn]) {
    const [mine, theirs] = [named(a), named(b)];
    if (mine.length === 0 || theirs.length === 0) continue;
    return !mine.some((name) => theirs.includes(name));
  }
  return false;
}

function itemsIn({ type, text }: Statement): string[] {
  const items = [...text.matchAll(ITEM)].map(([, number = '']) => number.replaceAll('-', '.'));
  if (items.length > 0 || type !== 'stories') return items;
  return [...text.matchAll(STORY_NUMBER)].map(([, number = '']) => number);
}

function holdersIn({ text }: Statement): string[] {
  return [...text.matchAll(HOLDER)].map(([, kind, number, version, its]) =>
    `${kind ?? version} ${number ?? its}`.toLowerCase(),
  );
}
