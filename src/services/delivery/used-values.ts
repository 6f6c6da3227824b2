import { field, isTable, tableOf, type Table } from '../../base/parse/parse.ts';

const UNKNOWN_PROJECT = '(unknown: ask the user for the folder, or pass "project" with the call)';
const NOBODY = '(none given: leave it out)';

interface Known {
  /** The flat configuration of the record's module. */
  values: Table;
  projectRoot: string | undefined;
  today: string;
}

/**
 * The values that a text and its own files use, whatever way they write them, and no others; but a user who has chosen a
 * language is to be spoken to in it even where the text does not ask for that.
 */
export function usedValues(
  { values, projectRoot, today }: Known,
  texts: readonly string[],
  own: readonly [string, string][] = [],
): [string, string][] {
  const known = [...own, ...plainSettings(values, projectRoot), ['date', today] as [string, string]];
  const isUsed = ([key, value]: [string, string]): boolean =>
    isChosenLanguage(key, value) || texts.some((text) => uses(text, key));
  const used = known
    .filter(isUsed)
    .map(([key, value]): [string, string] => [key, isNobody(key, value) ? NOBODY : value]);
  return [['project-root', projectRoot ?? UNKNOWN_PROJECT], ...used];
}

/** Central values are those of all modules: a skill of the core asks for the folders of another that is there. */
export function valuesOfAll({ central, values }: { central: Table; values: Table }): Table {
  const others = Object.values(tableOf(field(central, 'modules'))).filter(isTable);
  return { ...Object.assign({}, ...others), ...values } as Table;
}

/** What installers write where no name is given is nobody's name. */
const isNobody = (key: string, value: string): boolean => key === 'user_name' && value === 'BMad';

function isChosenLanguage(key: string, value: string): boolean {
  return key === 'communication_language' && !/^english$/i.test(value);
}

/** The settings that are texts or can be written as one. */
export function plainSettings(table: Table, projectRoot: string | undefined): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[key, String(value).replaceAll('{project-root}', () => projectRoot ?? '{project-root}')]]
      : [],
  );
}

/** `{user_name}`, `` `user_name` ``, `config:user_name`: a word like this is the name of a value; `date` may be just a word. */
function uses(text: string, key: string): boolean {
  if (!key.includes('_')) return text.includes(`{${key}}`) || text.includes(`\`${key}\``);
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length))
    if (!isPartOfName(text[at - 1]) && !isPartOfName(text[at + key.length])) return true;
  return false;
}

function isPartOfName(character: string | undefined): boolean {
  return character !== undefined && /[\w-]/.test(character);
}
