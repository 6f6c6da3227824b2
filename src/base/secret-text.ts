import { BmadError } from './errors.ts';
import { MASK, stripUrlCredentials } from './secret-names.ts';
import { hasPrivateKey, maskPrivateKeys, maskShapes, namesSecret } from './secret-shapes.ts';

/** `password=…`, `api_key: "…"`, `mot de passe : …`; French puts a blank, often one that does not break, first. */
const ASSIGNMENT =
  /(?<![\w.-])(mots?[ _-]de[ _-]passe|[\w.-]{2,60})(["']?[ \t\u00A0\u202F]{0,3}(?:=|:)[ \t\u00A0\u202F]{0,3})(?:(["'])((?:(?!\3)[^\n]){6,500})\3|([^\s"'`,;<>{}]{6,500}))/gi;

/**
 * Takes out of a text what must not be kept. Memories are shared: they lie in files that a team commits, and are given
 * to models of other days. A private key is refused, because a text around one has no other purpose.
 */
export function secretsOut(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  if (hasPrivateKey(text))
    throw new BmadError('invalid_input', 'The text holds a private key, which is not remembered.', {
      subject: 'text',
      hint: 'Say where the key is kept instead.',
    });
  return masked(text, hide);
}

/** A text of somebody else's file, as it may be shown: nobody can be told to write it otherwise. */
export function shownText(text: string, hide: (text: string) => string): string {
  return masked(maskPrivateKeys(text), hide).text;
}

/** Refuses a name or a tag that is a secret: masked, it would say nothing. */
export function refuseSecret(text: string, subject: string, hide: (text: string) => string = String): void {
  const { found } = hasPrivateKey(text) ? { found: ['a private key'] } : masked(text, hide);
  if (found.length === 0) return;
  throw new BmadError('invalid_input', `What was given for ${subject} looks like ${found.join(', ')}.`, {
    subject,
    hint: 'Give a plain word; secrets are not remembered.',
  });
}

function masked(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  const found = new Set<string>();
  const step = (what: string, next: string, before: string): string => {
    if (next !== before) found.add(what);
    return next;
  };
  let safe = step('a secret of this environment', hide(text), text);
  safe = step('credentials in a URL', stripUrlCredentials(safe), safe);
  const shapes = maskShapes(safe);
  for (const what of shapes.found) found.add(what);
  safe = step(
    'the value of a secret',
    shapes.text.replace(
      ASSIGNMENT,
      (all, name: string, sign: string, quote: string | undefined, inside?: string, bare?: string) =>
        namesSecret(name) && isValue(inside ?? bare ?? '', sign, quote ?? '')
          ? `${name}${sign}${quote ?? ''}${MASK}${quote ?? ''}`
          : all,
    ),
    shapes.text,
  );
  return { text: safe, found: [...found] };
}

/** In prose, "password: required" is about a password; a value has a digit or a sign in it, or stands in quotes. */
function isValue(value: string, sign: string, quote: string): boolean {
  if (value.startsWith(MASK) || /^\$|^%\w+%$/.test(value)) return false;
  return (
    sign.includes('=') ||
    quote !== '' ||
    (/\d/.test(value) && /[A-Za-z]/.test(value)) ||
    /[!@#$%^&*+]/.test(value)
  );
}
