import { RULES, type RuleName } from '../../src/services/progress/rules.ts';
import { QUOTES } from '../../tests/support/rule-quotes.ts';
import { code, table } from './markdown.ts';

/** The last two parts of a path, which are enough to find it. */
const shortened = (file: string): string => file.split('/').slice(-2).join('/');

/** What comes after what, with the lines of BMAD that state it. */
export function nextRulesPage(): string[] {
  const rows = Object.entries(RULES).map(([name, rule]) => [
    rule.when,
    'ledger' in rule ? code(rule.ledger) : '',
    'work' in rule ? rule.work : '–',
    QUOTES[name as RuleName]
      .map(({ version, file, line }) => `${version} ${code(`${shortened(file)}:${line}`)}`)
      .join(', '),
  ]);
  return [
    '# Rules of the next step',
    '',
    'What comes after what is BMAD’s own decision. Each row names the lines of BMAD’s text that state it, with the version that was',
    'read; other versions of the same form follow the same rule. [The guide](../guide/next-step.md) tells what counts as proof.',
    '',
    ...table(['a file or ledger says', 'the ledger has then', 'what comes next', 'stated by BMAD in'], rows),
  ];
}
