import { isSecretName, MASK, stripUrlCredentials } from './secret-names.ts';

/** Keys and tokens that are known by their look. */
const TOKENS =
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[opsur]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}|\b[sr]k[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}|\bAIza[\w-]{30,}|\bnpm_[A-Za-z0-9]{30,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g;

const PRIVATE_KEY = /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** `name = "value"`, `name: 'value'`, `"name": "value"`; lengths are limited so that no text makes matching slow. */
const ASSIGNED =
  /([\w$.-]{2,60})(["'\]]{0,2}[ \t]{0,4}(?::[ \t]{0,4}\w{1,30}[ \t]{0,4})?(?:=>|:=|[:=])[ \t]{0,4})(["'`])((?:(?!\3)[^\n\\]|\\.){4,400})\3/g;

/** Masks what looks like a secret in a piece of source code; the rest stays as it is. */
export function maskCodeSecrets(text: string): string {
  return stripUrlCredentials(text)
    .replace(PRIVATE_KEY, `$1${MASK}`)
    .replace(TOKENS, MASK)
    .replace(ASSIGNED, (whole, name: string, between: string, quote: string, value: string) =>
      isSecretName(name) && !isPlaceholder(value) ? name + between + quote + MASK + quote : whole,
    );
}

/** `${TOKEN}`, `process.env.X`, `<your key>`, `the password is missing`: words, not secrets. */
function isPlaceholder(value: string): boolean {
  return /^(?:\$\{[^}]*\}|\{\{[^}]*\}\}|<[^>]*>|\*+|process\.env\.\w+)$/.test(value) || /\s/.test(value);
}
