import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A sentence whose words stand in few places of the documents, as a user's do. */
export const QUESTION = 'How are git sources fetched and kept in the cache, and who approves a new version?';

/** What an answer to the question has to have of the documents: the place where the architecture says it. */
export const ANSWERED = 'sources/git/';

const STORY = `# Story 1.2: Offer a new version of a source

Status: in-progress

## Story

As the owner of a project I want to see what a new version of a git source changes before I approve it.

## Acceptance Criteria

1. The version that is approved is served until I approve another.
2. The difference is shown by file, and what an agent is told stands first.
`;

/**
 * A project in the middle of its work, with documents of the size and kind that real ones have: our own. The guide says
 * what the product does, as a PRD would; the architecture is one.
 */
export async function writeDocumentsProject(
  folder: string,
  root: string,
): Promise<{ documentBytes: number }> {
  const guide = join(root, 'docs', 'guide');
  const pages = (await readdir(guide)).filter((name) => name.endsWith('.md')).sort();
  const texts = await Promise.all(pages.map((name) => readFile(join(guide, name), 'utf8')));
  const documents = {
    'planning-artifacts/prd.md': texts.join('\n'),
    'planning-artifacts/architecture.md': await readFile(join(root, 'docs', 'architecture.md'), 'utf8'),
    'implementation-artifacts/1-2-new-version.md': STORY,
  };
  const files = {
    ...documents,
    'implementation-artifacts/sprint-status.yaml':
      'development_status:\n  epic-1: in-progress\n  1-1-add-a-source: done\n  1-2-new-version: in-progress\n',
  };
  for (const [path, text] of Object.entries(files)) {
    const place = join(folder, '_bmad-output', path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, text);
  }
  return {
    documentBytes: Object.values(documents).reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  };
}
