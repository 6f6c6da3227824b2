import MiniSearch from 'minisearch';
import type { Catalogue } from '../../src/catalogue/catalogue.ts';
import {
  isListed,
  qualifiedName,
  shortName,
  type BmadRecord,
  type RecordKind,
} from '../../src/model/record.ts';

interface SearchQuery {
  words: string;
  kinds: readonly RecordKind[];
  module?: string | undefined;
}

interface SearchHit {
  record: BmadRecord;
  score: number;
}

interface Search {
  find(query: SearchQuery): SearchHit[];
}

/** Words that every sentence has and no workflow is about. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do for from have how i in is it like me my of on or our please should that the this to use user want we what when which with would write you your'.split(
    ' ',
  ),
);

/** What abbreviations in names stand for, so that they are found by the words people use. */
const SPELLED_OUT: readonly (readonly [RegExp, string])[] = [
  [/\bprd\b/i, 'product requirements document requirements specification'],
  [/\bprfaq\b/i, 'press release faq working backwards'],
  [/\bux\b/i, 'user experience interface design screens'],
  [/\bqa\b|\be2e\b/i, 'quality assurance end-to-end tests testing'],
  [/\bspec\b/i, 'specification'],
];

const FIELDS = ['name', 'names', 'title', 'phase', 'description', 'help', 'meaning'];
const BOOST = { name: 6, names: 4, title: 3, phase: 1.5, help: 1, description: 1, meaning: 3 };

/** Hits below this share of the best score are noise: one common word in a long description. */
const WORTH_SHOWING = 0.15;

/** Longer queries are cut: nobody types more, and the index need not walk through it. */
const QUERY_LIMIT = 400;

/** The search of 0.1.0 before meaning, kept to compare with: full text over names, titles and descriptions. */
export function earlierSearch(catalogue: Catalogue): Search {
  const records = catalogue.winners.filter(isListed);
  const byId = new Map(records.map((record) => [`${record.kind} ${qualifiedName(record)}`, record]));
  const index = new MiniSearch({
    processTerm: (term) => (STOP_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase()),
    fields: FIELDS,
    searchOptions: {
      boost: BOOST,
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll([...byId].map(([id, record]) => ({ id, ...searchable(record, catalogue) })));
  return {
    find({ words, kinds, module }) {
      const results = index.search(words.slice(0, QUERY_LIMIT));
      const weakest = (results[0]?.score ?? 0) * WORTH_SHOWING;
      return results
        .filter((result) => result.score >= weakest)
        .flatMap((result) => {
          const record = byId.get(String(result.id));
          return record === undefined ? [] : [{ record, score: Math.round(result.score * 100) / 100 }];
        })
        .filter(
          ({ record }) =>
            kinds.includes(record.kind) && (module === undefined || record.moduleName === module),
        );
    },
  };
}

function searchable(record: BmadRecord, catalogue: Catalogue): Record<string, string> {
  const module = catalogue.modules.find(({ code }) => code === record.moduleName);
  const roster = module?.roster.find(({ code }) => code === record.name);
  const help = module?.help.filter((row) => row.skill === record.name) ?? [];
  return {
    name: shortName(record.name),
    names: record.aliases.join(' '),
    title: record.title ?? '',
    phase: [record.phase, record.moduleName, record.kind].join(' '),
    description: [record.description, roster?.description].join(' '),
    help: help.map((row) => `${row.displayName} ${row.description} ${row.outputs}`).join(' '),
    meaning: SPELLED_OUT.filter(([name]) => name.test(record.name.replaceAll('-', ' ')))
      .map(([, words]) => words)
      .join(' '),
  };
}
