import { mkdir, writeFile, readdir, readFile } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';

/** Words that no two workflows share in the same number, so that a search has something to tell apart. */
const TOPICS = ['invoice', 'harbour', 'orchard', 'ledger', 'turbine', 'archive', 'festival', 'glacier'];

/** A made-up project in the shape of the 6.0 installers, with an agent for every ten workflows. */
export async function writeProject(folder: string, workflows: number): Promise<void> {
  const root = join(folder, '_bmad');
  await mkdir(join(root, '_config'), { recursive: true });
  await mkdir(join(root, 'bmm', 'agents'), { recursive: true });
  await writeFile(
    join(root, '_config', 'manifest.yaml'),
    'installation:\n  version: 6.0.4\nmodules:\n  - core\n  - bmm\n',
  );
  const rows = ['name,description,module,path'];
  for (let index = 0; index < workflows; index++) {
    const name = nameOf(index);
    const path = `bmm/workflows/${name}`;
    const about = `Does thing number ${index} with the ${TOPICS[index % TOPICS.length]}`;
    await mkdir(join(root, path), { recursive: true });
    await writeFile(
      join(root, path, 'workflow.md'),
      `---\nname: ${name}\ndescription: ${about}\n---\n\n# ${name}\n\n${'Some instructions to follow. '.repeat(40)}\n`,
    );
    rows.push(`"${name}","${about}","bmm","_bmad/${path}/workflow.md"`);
    if (index % 10 === 0)
      await writeFile(join(root, 'bmm', 'agents', `agent-${index}.md`), agentText(index, path));
  }
  await writeFile(join(root, '_config', 'workflow-manifest.csv'), `${rows.join('\n')}\n`);
}

/** What an edited agent says of itself. */
export const EDITED_TEXT = 'Does another thing now';

/** Another description in the file of one agent, as an editor saves it. */
export async function editAgent(folder: string, index: number, about = EDITED_TEXT): Promise<void> {
  const file = join(folder, '_bmad', 'bmm', 'agents', `agent-${index}.md`);
  await writeFile(file, agentText(index, `bmm/workflows/${nameOf(index)}`, about));
}

const nameOf = (index: number): string => `wf-${String(index).padStart(4, '0')}`;

function agentText(index: number, path: string, about = `Specialist ${index}`): string {
  return `---
name: "agent-${index}"
description: "${about}"
---

<agent id="agent-${index}" name="Nina ${index}" title="Specialist ${index}" icon="x">
<persona><role>Knows the ${TOPICS[index % TOPICS.length]}</role></persona>
<menu>
<item cmd="*go" exec="{project-root}/_bmad/${path}/workflow.md">[GO] Go</item>
</menu>
</agent>
`;
}

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

const WORDS =
  'queue cache harbour schema payment retry index worker ledger tenant region shard token budget'.split(' ');

/** Words of a project, the same on every run for the same seed. */
export function madeWords(seed: number, length: number): string {
  return Array.from({ length }, (_, index) => WORDS[(seed * 7 + index * (seed + 3)) % WORDS.length]).join(
    ' ',
  );
}

const PROSE = ['../../docs/guide/', '../../docs/decisions/'].map(
  (folder) => new URL(folder, import.meta.url),
);
/** Of prose: what begins like a sentence, ends like one, and has no mark of a table or a program in it. */
const SENTENCE = /(?<=^|[.!?] )[A-Z][a-z][^.!?|`<>]{30,160}[.!?](?=\s)/gm;

let sentences: readonly string[] | undefined;

/** A sentence that people have written, as memories are: the same on every run for the same seed, while our documents say the same. */
export function realSentence(seed: number): string {
  sentences ??= PROSE.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').match(SENTENCE) ?? [])
      .map((sentence) => sentence.replaceAll(/\s+/g, ' ')),
  );
  return sentences[(seed * 31) % sentences.length] as string;
}
