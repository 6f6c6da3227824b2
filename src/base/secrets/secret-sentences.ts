import { byPattern, MASK, type Rule } from './rules.ts';
import { withoutEnd } from '../text/ends.ts';

/**
 * Sentences with words between the name of a secret and its value: `the password for the database is …`, `mot de passe
 * admin : …`, `password '…' for root`. In English a linking word has to come first, since a noun makes it about
 * something else: a password manager, a token type. Lengths are limited, so that no text makes matching slow.
 */
const BLANK = '[ \\t\\u00A0\\u202F]';
const WORDS = `(?:${BLANK}{1,3}[\\p{L}\\p{N}_./'’()-]{1,30})`;
const ENGLISH =
  'passwords?|passwd|pwd|passphrase|passcode|credentials?|(?:(?:api|auth|bot|access|refresh)[ _-])?token|secret|(?:api|access|secret|private|shared|auth|signing|encryption)[ _-]?key';
const LINK = 'for|of|on|in|at|to|from|by|we|i|you|they|that|which|used|here|now|\\([^()\\n]{1,30}\\)';
const FRENCH =
  "mots?[ _-]de[ _-]passe|mdp|cl[ée]s?[ _-](?:d['’]|de[ _])?(?:api|acc[eè]s|secr[eè]te|priv[ée]e|chiffrement|signature)|jetons?(?:[ _-](?:d['’])?(?:api|acc[eè]s))?";
const SIGN = `(?:${BLANK}{0,3}[=:](?![=:>~])|${BLANK}{1,3}(?:is|was|are|est|était|sera|vaut|c['’]est)(?:${BLANK}?:)?(?=${BLANK}))`;
export const TOLD = new RegExp(
  `(?<![\\p{L}\\p{N}_.-])(?:` +
    `(?:(?:${ENGLISH})(?:${BLANK}{1,3}(?:${LINK})(?!\\p{L})${WORDS}{0,4}?)?|(?:${FRENCH})${WORDS}{0,5}?)${SIGN}${BLANK}{0,3}["'\`«]?` +
    `|(?:${ENGLISH}|${FRENCH})${BLANK}{1,3}["'\`«]` +
    `)${BLANK}?(?<value>[^\\s"'\`,;<>{}»]{6,500})`,
  'giu',
);

/** The values that sentences tell. */
export const TOLD_VALUES: Rule = byPattern('the value of a secret', TOLD, ({ value = '' }) => {
  const told = withoutEnd(value, '.,:?)');
  return isTold(told) && told;
});

const SHORTEST_TOLD = 8;
/** `sha256-hashed`, `argon2id`, `base64-encoded`. */
const ALGORITHM = /^[a-z]+-?\d{1,3}[a-z]{0,3}(?:[-_.][a-z]+)*$/i;
const PATH = /^[a-z][a-z0-9._-]*(?:\/[a-z0-9._-]+)+$/;
/** Addresses, places, calls, variables, amounts, days, and a program that keeps passwords. */
const SOMETHING_ELSE = /^[.~]?\/|:\/\/|[()[\]]|^\$|^%\w+%$|^\d+[a-z]{0,12}$|^\d[\d./:TZ-]+$|^1password$/i;

/** Whether it can hardly be a word of a sentence: it has a digit among letters, or a sign. */
export function isStrange(text: string): boolean {
  const core = withoutEnd(text, '!');
  const strange = (/\d/.test(core) && /[A-Za-z]/.test(core)) || /[!@#$%^&*+]/.test(core);
  return strange && !PATH.test(core);
}

/** The same where no sign says that a value follows, and the names of algorithms could. */
export function isStrangeWord(text: string): boolean {
  const core = withoutEnd(text, '!');
  return core.length >= SHORTEST_TOLD && isStrange(text) && !ALGORITHM.test(core);
}

function isTold(value: string): boolean {
  return !value.startsWith(MASK) && isStrangeWord(value) && !SOMETHING_ELSE.test(value);
}
