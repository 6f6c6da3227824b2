import { basename, dirname } from 'node:path/posix';
import { fold } from '../../base/text/suggest.ts';
import { STARTABLE, type BmadRecord } from '../../model/record.ts';
import type { KnowledgeDomain, KnowledgeFragment } from './knowledge.ts';

/**
 * What people ask for across domains, and the words by which files and fragments are about it. Releases keep it in
 * different places: version 4 has the test architect's knowledge among its data, the alphas have patterns of architecture
 * beside the workflow that uses them.
 */
const TOPICS: ReadonlyMap<string, readonly string[]> = new Map([
  ['patterns', ['pattern']],
  ['architecture', ['architecture', 'architectural']],
  ['testarch', ['test', 'testing']],
  ['tea', ['test', 'testing']],
]);

const REFERENCE = /\.(?:md|csv|ya?ml|json|xml|txt)$/i;
/** What a workflow is made of is followed, not looked up. */
const MADE_OF =
  /^(?:skill|workflow|instructions?|readme|step-|customize|module|config)|checklist|template|tmpl/i;
const NOT_HERE = /(?:^|-)steps(?:-|$)|^_|^(?:agents|tasks|teams|agent-teams|templates|checklists)$/i;

/** Words as people compare them: without the ending of a plural. */
const wordsOf = (text: string): string[] =>
  fold(text)
    .split(/[^\p{L}\d]+/u)
    .map((word) => word.replace(/(?<=\w{3})s$/, ''));

/** All that the content has about a topic, in the form of a domain; nothing for a name that is no topic, or has nothing. */
export function topicNamed(
  name: string,
  domains: readonly KnowledgeDomain[],
  content: {
    paths: readonly string[];
    records: readonly BmadRecord[];
    moduleOf(path: string): string;
  },
): KnowledgeDomain | undefined {
  const about = TOPICS.get(fold(name));
  if (about === undefined) return undefined;
  const isAbout = (...texts: readonly string[]): boolean =>
    texts.some((text) => wordsOf(text).some((word) => about.includes(word)));
  const found: KnowledgeFragment[] = domains.flatMap((domain) =>
    domain.fragments.filter(({ id, title = '', tags }) => isAbout(domain.name, id, title, ...tags)),
  );
  const covered = new Set(domains.flatMap(({ fragments }) => fragments.map(({ path }) => path)));
  const started = new Set(
    content.records.filter(({ kind }) => STARTABLE.includes(kind)).map((each) => each.bmadRelativePath),
  );
  for (const path of content.paths) {
    const [file, folder] = [basename(path), basename(dirname(path))];
    if (covered.has(path) || started.has(path) || !REFERENCE.test(file) || MADE_OF.test(file)) continue;
    if (path.split('/').some((part) => NOT_HERE.test(part))) continue;
    if (isAbout(file, folder))
      found.push({ id: file.replace(/\.md$/i, ''), description: '', tags: [], path });
  }
  if (found.length === 0) return undefined;
  const once = [...new Map(found.map((fragment) => [fragment.path, fragment])).values()];
  const shared = (id: string): boolean => once.filter((other) => fold(other.id) === fold(id)).length > 1;
  return {
    name: fold(name),
    module: [...new Set(once.map(({ path }) => content.moduleOf(path)))].join(', '),
    aliases: [],
    fragments: once.map((fragment) => (shared(fragment.id) ? { ...fragment, id: fragment.path } : fragment)),
  };
}
