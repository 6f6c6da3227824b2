import { masked } from '../../base/secrets/rules.ts';
import { URL_CREDENTIALS } from '../../base/secrets/secret-names.ts';
import { visible } from '../../base/text/hidden.ts';

/**
 * What a person reads before deciding whether a project may run its programs. Its author has written it, so nothing may
 * keep a command from being seen: not blanks, not empty lines, and not what looks like a secret.
 */

/** What a shell would neither run nor take for the end of a word. */
const PLAIN_VALUE = /^[\w.~%+,:=@-]*$/;

const CREDENTIALS = {
  ...URL_CREDENTIALS,
  *find(text: string) {
    for (const [start, end] of URL_CREDENTIALS.find(text))
      if (PLAIN_VALUE.test(text.slice(start, end))) yield [start, end] as const;
  },
};

/** Hides secrets that are known, and credentials of URLs unless they could be a command. */
export function withoutSecrets(text: string, hide: (text: string) => string): string {
  return masked(hide(text), [CREDENTIALS]).text;
}

/** A line that logs in to a registry and can do nothing else, in the settings of npm, yarn, pnpm and bun. */
const LOGIN =
  /^([ \t]*(?:\/\/[^\s=]*:)?["']?(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent|token)["']?[ \t]*[=:][ \t]*)["']?[\w.+/=-]+["']?[ \t]*$/gm;

/** Settings without what logs in to a registry: scripts of CI systems print what they allow. */
export function withoutLogins(settings: string): string {
  return settings.replace(LOGIN, '$1***');
}

/** How wide a gap may be, and how many empty lines there may be, before they are said in words. */
const WIDE_GAP = 40;
const MANY_LINES = 20;

function withoutGaps(line: string): string {
  return line.replace(/[\p{Zs}\t]{10,}/gu, (gap) => {
    const tabs = gap.split('\t').length - 1;
    return gap.length + 3 * tabs < WIDE_GAP ? gap : ` [${gap.length} blanks] `;
  });
}

/** A text to its last character: what a terminal would hide or obey as escapes, and long gaps in words. */
export function plainText(text: string): string {
  const shown: string[] = [];
  let empty = 0;
  const close = (): void => {
    if (empty >= MANY_LINES) shown.splice(-empty, empty, `[${empty} empty lines]`);
    empty = 0;
  };
  for (const line of text.split('\n')) {
    if (/\S/.test(line)) close();
    else empty += 1;
    shown.push(withoutGaps(line.split('\t').map(visible).join('\t')));
  }
  close();
  return shown.join('\n');
}
