import { ignoreRules } from '../../src/base/text/glob.ts';
import { describe, expect, it } from 'vitest';
import { quoted } from '../../src/base/errors.ts';
import { jsonIn } from '../../src/base/parse/json.ts';
import { csvRows, parseFrontMatter, parseToml, parseYaml } from '../../src/base/parse/parse.ts';
import { withList } from '../../src/base/parse/toml-list.ts';
import { maskConfigSecrets } from '../../src/base/secrets/config-scanner.ts';
import { isSecretFile } from '../../src/base/secrets/names.ts';
import { stripAddressCredentials } from '../../src/base/secrets/rules.ts';
import { maskCodeSecrets, secretsOut, shownText } from '../../src/base/secrets/scanner.ts';
import { codeWords } from '../../src/services/codebase/words.ts';
import { visible, visibleJson, visibleLines, withoutHidden } from '../../src/base/text/hidden.ts';
import { findSection, outline, sectionsOf, withoutExamples } from '../../src/base/text/markdown.ts';
import { chunksOf, estimateTokens, fitted } from '../../src/base/text/text-budget.ts';
import { cell, decodeEntities, fenced, oneLine } from '../../src/base/text/text.ts';
import { plainPairs } from '../../src/kit/configuration.ts';
import { bulletIn, isUnset, plainTitle, rowIn, topicOf } from '../../src/kit/text.ts';
import { failureIn, museumIn, museumLog } from '../../src/kit/museum/museum.ts';
import { memoryTables, sharedContextIn } from '../../src/kit/memories/entries.ts';
import { decisionsIn, traceIn } from '../../src/kit/memories/decisions.ts';
import { journalIn, statusFileTable } from '../../src/kit/runs/read-run.ts';
import { contextSections, requestIn, requestsIn, teamIn } from '../../src/kit/session/context-sections.ts';
import { handoffsIn } from '../../src/kit/session/handoffs.ts';
import { sessionIn } from '../../src/kit/session/session-state.ts';
import { analyse } from '../../src/meaning/analyse.ts';
import { namedIn } from '../../src/operations/delegation/context-files.ts';
import { firstTag } from '../../src/readers/reader.ts';
import { readV4Agent } from '../../src/readers/v4/agent.ts';
import { describe as describeV4 } from '../../src/readers/v4/record.ts';
import { onlyKeys, pickValue, sectionOf } from '../../src/readers/v4/yaml-text.ts';
import { needlesOf } from '../../src/services/codebase/exact.ts';
import { isTestPath, unfitText } from '../../src/services/codebase/searched-files.ts';
import { VerdictReader } from '../../src/services/completion/verdict.ts';
import { furtherTasks } from '../../src/services/delegation/prompts.ts';
import { allTexts, inside, tagText, yamlBlock } from '../../src/services/delivery/agent.ts';
import { tidyText } from '../../src/services/delivery/agent-character.ts';
import { withStatus } from '../../src/services/handover/compose.ts';
import { readHandover } from '../../src/services/handover/document.ts';
import { fromMarkdown } from '../../src/kit/memories/exported.ts';
import { judgeDocument, plannedIn, statusIn } from '../../src/services/progress/document.ts';
import { readSprintLedger } from '../../src/services/progress/ledgers.ts';
import { storyStatus } from '../../src/services/progress/rules.ts';
import { questionOf } from '../../src/services/search/question.ts';
import { parseGitAddress } from '../../src/sources/git/address.ts';
import { moduleName } from '../../src/sources/bmad-folders.ts';
import { cpuOf, growthOf, HEADS, hostileBlock, hostileLine, LINE_PUMPS, PUMPS } from '../support/growth.ts';

/** How long texts are at first, and milliseconds that what is quadratic takes for one. */
const LINE = { length: 800, fast: 0.25 };
const BLOCK = { length: 2_000, fast: 0.5 };

// As programs have it. The runner's stacks are ten times as long, and make errors what takes longest.
Error.stackTraceLimit = 10;

const eachLine = (work: (line: string) => unknown) => (text: string) => text.split('\n').map(work);
const keep = (text: string): string => text;

const PARSERS: Record<string, (text: string) => unknown> = {
  YAML: (text) => parseYaml('a.yaml', text),
  TOML: (text) => parseToml('a.toml', text),
  'pairs of broken YAML': (text) => plainPairs(` a: b${text}#\rx`),
  CSV: (text) => csvRows('a.csv', text),
  'front matter': (text) => parseFrontMatter('a.md', `---\nname: a\n${text}`),
  JSON: (text) => jsonIn(`["${text}`),
  'the outline of a text': (text) => findSection(outline(text), text.slice(0, 200)),
  sections: (text) => sectionsOf(withoutExamples(text)),
  chunks: chunksOf,
  'ignore rules': (text) => ignoreRules(text).verdict('a/b', false),
  entities: decodeEntities,
  'words of code': codeWords,
  terms: analyse,
};

const RENDERERS: Record<string, (text: string) => unknown> = {
  cell: cell,
  fenced: fenced,
  'one line': (text) => oneLine(text, 200),
  visible: (text) => [visible(text), visibleLines(text), visibleJson(text), withoutHidden(text)],
  quoted: quoted,
  fitted: (text) => fitted(text, 500),
  estimated: estimateTokens,
  tidy: (text) => tidyText(text),
};

const MASKERS: Record<string, (text: string) => unknown> = {
  code: (text) => maskCodeSecrets(text, 'a.ts'),
  prose: (text) => maskCodeSecrets(text, 'a.md'),
  configuration: (text) => maskCodeSecrets(text, 'a.conf'),
  'YAML values': (text) => maskConfigSecrets('a.yaml', text),
  'TOML values': (text) => maskConfigSecrets('a.toml', text),
  'JSON values': (text) => maskConfigSecrets('a.json', text),
  environment: (text) => maskConfigSecrets('.env', text),
  'shown text': (text) => shownText(text, keep),
  'stored text': (text) => secretsOut(text, keep),
  'names of files': eachLine(isSecretFile),
  addresses: eachLine(stripAddressCredentials),
};

const KIT: Record<string, (text: string) => unknown> = {
  bullets: eachLine(bulletIn),
  rows: eachLine(rowIn),
  titles: eachLine((line) => [plainTitle(line), topicOf(line), isUnset(line)]),
  decisions: (text) => decisionsIn(text, 'a.md'),
  'shared context': (text) => sharedContextIn(text, 'a.md'),
  'sections of the context': (text) => {
    const sections = contextSections(text);
    return [teamIn(sections), requestsIn(sections, keep)];
  },
  team: (text) => teamIn(contextSections(`## Agents custom\n| id | name |\n|---|---|\n${eachRow(text)}`)),
  requests: eachLine(requestIn),
  'hand-offs': (text) => handoffsIn(`| d | who | what | state |\n|-|-|-|-|\n${eachRow(text)}`),
  session: sessionIn,
  trace: traceIn,
  failures: (text) => museumIn(text, 'a.md'),
  'one failure': (text) => failureIn(text, []),
  'log of failures': (text) => museumLog(text, 'a.jsonl', []),
  memories: memoryTables,
  'status of a run': statusFileTable,
  journal: (text) => journalIn(text).entries,
};

const READERS: Record<string, (text: string) => unknown> = {
  'an agent of version 4': (text) => readV4Agent('a.md', text),
  'a YAML agent of version 4': (text) =>
    readV4Agent('a.md', `\`\`\`yaml\nagent:\n  id: a\n${text}\n\`\`\`\n`),
  'what a file of version 4 is about': (text) => [
    describeV4('task', 'a.md', text),
    describeV4('workflow', 'a.yaml', text),
  ],
  keys: (text) => [sectionOf(text, 'a'), onlyKeys(text, 'a', ['b']), pickValue(text, 'a')],
  tags: (text) => [
    firstTag(text, 'agent'),
    inside(text, 'agent'),
    tagText(text, 'item'),
    allTexts(text, 'item'),
  ],
  'a YAML block': (text) => yamlBlock('a.md', text),
  'names of modules': eachLine(moduleName),
  'git addresses': eachLine((line) => parseGitAddress(line)),
};

const SERVICES: Record<string, (text: string) => unknown> = {
  'quoted words': eachLine(needlesOf),
  'unfit files': (text) => unfitText(Buffer.from(text), text),
  'test paths': eachLine(isTestPath),
  verdict: (text) => {
    const reader = new VerdictReader();
    return text.split('\n').map((line) => reader.line(line, 'stdout'));
  },
  'further tasks': furtherTasks,
  'names in a context': eachLine(namedIn),
  'a list in a configuration': (text) => withList('a.toml', text, 'sources', (list) => [...list, 'x']),
  'a hand-over': (text) => readHandover('a.md', text),
  'the status of a hand-over': (text) => withStatus(text, { status: 'accepted', by: 'a', at: 'b' }),
  'memories in Markdown': fromMarkdown,
  'a document': (text) => judgeDocument('prd', 'prd.md', text),
  status: eachLine((line) => [statusIn(line), storyStatus(line)]),
  epics: (text) => plannedIn('epics.md', text),
  sprint: (text) => readSprintLedger('sprint-status.yaml', text),
  question: questionOf,
};

function eachRow(text: string): string {
  return text
    .split('\n')
    .map((line) => `| ${line.replaceAll('|', '')} | b |`)
    .join('\n');
}

/** A text that is refused has been looked at too. */
function tolerant(work: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      return work(text);
    } catch {
      return undefined;
    }
  };
}

describe.each([
  ['parser', PARSERS],
  ['renderer', RENDERERS],
  ['masker', MASKERS],
  ['file of the kit', KIT],
  ['reader', READERS],
  ['service', SERVICES],
])('time in proportion to the text (S-06, S-09): %s', (_, works) => {
  it.each(Object.entries(works))('%s', (_name, work) => {
    const slow: string[] = [];
    const look = (what: string, make: (length: number) => string, { length, fast }: typeof LINE): void => {
      const grown = growthOf(tolerant(work), make, length, fast);
      if (grown !== undefined) slow.push(`${JSON.stringify(what)}: ${grown}`);
    };
    for (const head of HEADS)
      for (const pump of PUMPS) look(head + pump, (length) => hostileLine(head, pump, length), LINE);
    for (const pump of LINE_PUMPS) look(pump, (length) => hostileBlock(pump, length), BLOCK);
    expect(slow).toEqual([]);
  });
});

describe('the measurement', () => {
  const blanks = (length: number): string => hostileLine('a', ' ', length);

  it('sees work that grows faster than the text, and none in what does not', () => {
    expect(growthOf((text) => /\s+$/.test(text), blanks, LINE.length, LINE.fast)).toMatch(
      /ms for four times/,
    );
    const often = (text: string): unknown => Array.from({ length: 200 }, () => text.split(' ').join('-'));
    expect(growthOf(often, blanks, LINE.length, LINE.fast)).toBeUndefined();
  });
});

describe('blocks that nothing closes (S-06)', () => {
  /** No two are indented alike, so that none is the end of another. */
  const opening = (at: number): string =>
    `${at.toString(2).padStart(14, '0').replaceAll('0', ' ').replaceAll('1', '\t')}\`\`\`yaml\na: b`;

  it('are not followed to the end of the file each', () => {
    const make = (length: number): string => Array.from({ length }, (_, at) => opening(at)).join('\n');
    expect(growthOf((text) => readV4Agent('a.md', text), make, 1_000, 4)).toBeUndefined();
  });
});

describe('texts that look like secrets again and again (S-09)', () => {
  const LONG = 60_000;
  const prose = 'An ordinary sentence about the shop, with a word or two more.\n';
  const filled = (text: string): string => text.repeat(Math.ceil(LONG / text.length));

  it.each([
    ['shown text', MASKERS['shown text']],
    ['code', MASKERS['code']],
  ])('take no longer than they must: %s', (_, mask) => {
    const cpu = (text: string): number => cpuOf(() => mask?.(text));
    const ordinary = Math.max(3, ...[1, 2].map(() => cpu(filled(prose))));
    const slow = ['eyJ-', 'sk-', 'M-', 'curl -u ', '<item ', 'a="', '-----BEGIN PRIVATE KEY-----\n'].filter(
      (shape) => [1, 2, 3].every(() => cpu(filled(shape)) > 80 * ordinary),
    );
    expect(slow).toEqual([]);
  });
});
