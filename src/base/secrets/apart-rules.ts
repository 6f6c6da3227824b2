import { byPattern, type Rule, type Span } from './rules.ts';
import { isSecretName } from './secret-names.ts';
import { isNoSecretOf } from './secret-values.ts';

const VALUE = 'the value of a secret';

type MatchedGroups = Readonly<Record<string, string | undefined>>;

const isSecret = ({ key = '', value = '' }: MatchedGroups): boolean =>
  isSecretName(key) && value.length >= 3 && !isNoSecretOf(key, value);

/** In capitals it says what to put there: `"--token", "TOKEN"`. */
const isArgument = (found: MatchedGroups): boolean =>
  isSecret(found) && !/^(?:[A-Z_]+|-.*)$/.test(found['value'] ?? '');

/** The name and the value apart: `name: DB_PASSWORD` and `value: …` on the next line, `key="Password" value="…"`. */
const NAMED =
  /\b(?:name|key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?<key>[\w.:-]{2,60})["']?,?[ \t]{0,4}(?:\r?\n[ \t]{0,40})?["']?\bvalue["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?<value>[^\s"'<>][^"'\n<>\r]{3,400})/gi;

/** An option and its value in a list of arguments: `["--token", "…"]`. */
const ARGUMENT =
  /["']--?(?<key>[a-z][\w-]{1,60})["'][ \t]{0,4},\s{0,60}["'](?<value>[^"'\n]{3,400})(?=["'])/gi;

/** The same one below the other: `- --token`, `- …`. */
const LISTED_ARGUMENT =
  /^[ \t]{0,40}-[ \t]{1,4}["']?--?(?<key>[a-z][\w-]{1,60})["']?[ \t]{0,4}\r?\n[ \t]{0,40}-[ \t]{1,4}["']?(?<value>[^\s"'][^"'\n\r]{2,400})/gim;

/** `define('DB_PASSWORD', '…')`. */
const DEFINED =
  /\bdefine[ \t]{0,4}\([ \t]{0,4}["'](?<key>\w{2,60})["'][ \t]{0,4},[ \t]{0,4}(?:'(?=[^'\n]{3,400}')|"(?=[^"\n]{3,400}"))(?<value>[^'"\n]{3,400})/g;

/** What is used where a variable has no value: `${DB_PASSWORD:-…}` in a shell and in Compose, `${db.password:…}` in Spring. */
const DEFAULT = /\$\{(?<key>[\w.]{2,60})(?::-|:=|[-=:])(?<value>[^}\s?+=*$-][^}\n]{2,200})(?=\})/g;

const KIND = /^kind:[ \t]*["']?Secret["']?[ \t]*\r?$/m;
const DATA = /^(?:data|stringData):[ \t]*\r?$/;
const ENTRY = /^([ \t]+)["']?[\w.-]{1,253}["']?:[ \t]+["']?/;

/** All that a Secret of Kubernetes holds, whatever its entries are called. */
const KUBERNETES_SECRETS: Rule = {
  name: VALUE,
  *find(text): Generator<Span> {
    let from = 0;
    for (const document of text.split(/^(?=---)/m)) {
      if (KIND.test(document)) yield* entries(document, from);
      from += document.length;
    }
  },
};

function* entries(document: string, from: number): Generator<Span> {
  let isData = false;
  /** How far an entry is indented; what is indented further belongs to it. */
  let indent: number | undefined;
  let start = from;
  for (const line of document.split('\n')) {
    const blanks = line.length - line.trimStart().length;
    if (blanks === 0 && line !== '') {
      isData = DATA.test(line);
      indent = undefined;
    } else if (isData && line.trim() !== '') {
      const head = indent === undefined || blanks <= indent ? (ENTRY.exec(line)?.[0].length ?? 0) : blanks;
      if (head !== blanks) indent = blanks;
      const value = line.slice(head).trimEnd();
      const quoted = /["']$/.test(value) ? 1 : 0;
      if (head > 0 && !/^(?:[|>][-+\d]{0,3}|)$/.test(value))
        yield [start + head, start + head + value.length - quoted];
    }
    start += line.length + 1;
  }
}

/** Names and values that other things stand between; for every text. */
export const VALUES_APART: readonly Rule[] = [
  byPattern(VALUE, DEFAULT, isSecret),
  byPattern(VALUE, NAMED, isSecret),
  byPattern(VALUE, ARGUMENT, isArgument),
  byPattern(VALUE, LISTED_ARGUMENT, isArgument),
  byPattern(VALUE, DEFINED, isSecret),
  KUBERNETES_SECRETS,
];
