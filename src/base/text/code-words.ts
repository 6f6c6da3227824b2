import common from '../../../assets/words/code.json' with { type: 'json' };

/** Words that are common in code and in questions about it, and carry no meaning. */
const STOP_WORDS = new Set(Object.values(common).flatMap((words) => words.split(' ')));

/** Longer runs are hashes, keys and encoded data: no one searches for them by words, and some must not be kept. */
const LONGEST_WORD = 48;

/** Runs of letters and digits, exactly as in the code. */
export const RAW_WORD = /[\w$\u00c0-\u024f\u0370-\u1fff\u3040-\ud7ff]+/g;

/** `parseHTTPHeader_v2` is `parse`, `HTTP`, `Header`, `v2`. */
export function splitIdentifier(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_$]+/)
    .filter((part) => part !== '');
}

/** The words of a text in the form in which they are compared: parts of identifiers, folded, without endings. */
export function codeWords(text: string): string[] {
  const words: string[] = [];
  for (const [raw] of text.matchAll(RAW_WORD)) {
    if (raw.length > LONGEST_WORD || (raw.length >= 20 && /\d.*\d.*\d/.test(raw))) continue;
    for (const part of splitIdentifier(raw)) {
      const word = part
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
      if (word.length > 1 && !STOP_WORDS.has(word) && !STOP_WORDS.has(part.toLowerCase()))
        words.push(stem(word));
    }
  }
  return words;
}

/** Takes common English endings off, so that `parsing`, `parsed`, `parser` and `parses` are one word. */
function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let root = word;
  if (root.endsWith('ies') && root.length > 4) root = `${root.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x|z)es$/.test(root)) root = root.slice(0, -2);
  else if (/[^su]s$/.test(root) && !root.endsWith('is')) root = root.slice(0, -1);
  const before = root.slice(0, Math.max(0, root.search(/(?:ing|ed|er|or)$/)));
  const shorter = /[aeiouy]/.test(before) ? before : '';
  if (shorter.length >= 3 && root.length >= 5) root = undoubled(shorter);
  else if (/[st]ion$/.test(root) && root.length > 6) root = root.slice(0, -3);
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
}

function undoubled(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}
