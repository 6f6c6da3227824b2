import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeFiles } from '../../tests/support/kit-project.ts';
import { memorySession, type MemorySession } from '../../tests/support/memory-session.ts';
import { bmad } from './unified/bmad.ts';
import { bmadResources } from './catalogue/details.ts';
import { complete } from './client/prompts.ts';
import { list } from './catalogue/list.ts';
import { listFiles } from './catalogue/records.ts';
import { read } from './catalogue/read.ts';
import { listResources, readResource } from './client/resources.ts';
import { searchCodebase } from './codebase/search-codebase.ts';
import { spawnSubagentTask } from './tasks/tasks.ts';

const SECRET = 'forgotten-and-unmasked';
const STATE = /bmad-memory|\.receipts|\.tasks|\.runs/i;

/** A project with the kit's files and with everything of ours that lies beside them. */
async function project(): Promise<MemorySession> {
  const session = await memorySession(onTestFinished);
  await session.remember('decisions', 'architect', 'Orders are kept in PostgreSQL');
  await writeFiles(session.folder, {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.2.0\nmodules:\n  - name: bmm\n',
    '_bmad/_memory/.bmad-memory/old.jsonl': SECRET,
    '_bmad/_memory/.bmad-memory-backup/notes.md': SECRET,
    '_bmad/_memory/.receipts/receipts.jsonl': SECRET,
    '_bmad/.tasks/queue.jsonl': SECRET,
    '_bmad/_memory/.runs/main/run.lock': SECRET,
    '_bmad/_memory/notes.md': '# Notes\n',
    '_bmad/notes/read.md': '# Read\n',
  });
  await symlink('.bmad-memory/old.jsonl', join(session.folder, '_bmad/_memory/linked.md'));
  await symlink('.bmad-memory', join(session.folder, '_bmad/_memory/linked'));
  return session;
}

async function everyResource({ ok }: MemorySession): Promise<string[]> {
  const uris: string[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await ok(listResources, cursor === undefined ? {} : { cursor });
    uris.push(...(data['items'] as { uri: string }[]).map(({ uri }) => uri));
    cursor = data['next'] as string | undefined;
  } while (cursor !== undefined);
  return uris;
}

describe('our own state in a project', () => {
  it('is in no list, search or completion', async () => {
    const session = await project();
    const uris = await everyResource(session);
    expect(uris).toContain('bmad://notes/read.md');
    const { data: files } = await session.ok(listFiles);
    const texts = [
      uris.join('\n'),
      JSON.stringify(files),
      ...(await Promise.all(
        [
          [list, { what: 'resources', pattern: '_memory/**' }],
          [list, { what: 'resources', pattern: '**/.*/**' }],
          [bmad, { operation: 'list', query: 'resources', pattern: '**/*.jsonl' }],
          [bmadResources, { operation: 'list', pattern: '_memory/**' }],
        ].map(async ([operation, input]) => (await session.ok(operation as typeof list, input)).answer.body),
      )),
      JSON.stringify((await session.ok(complete, { what: 'path', value: '_memory/.b' })).data),
    ];
    for (const text of texts) {
      expect(text).not.toMatch(STATE);
      expect(text).not.toContain('_memory/linked');
    }
  });

  it.each([
    '_memory/.bmad-memory/.bmad-memory.db',
    '_memory/.bmad-memory/old.jsonl',
    '_memory/%2ebmad-memory/old.jsonl',
    '_memory/.BMAD-Memory/old.jsonl',
    './_memory/.bmad-memory/old.jsonl',
    '_memory/./.bmad-memory/old.jsonl',
    '_memory/agent-learnings/../.bmad-memory/old.jsonl',
    '_memory//.bmad-memory/old.jsonl',
    '_memory/.bmad-memory-backup/notes.md',
    '_memory/.receipts/receipts.jsonl',
    '.tasks/queue.jsonl',
    '_memory/.runs/main/run.lock',
    '_memory/linked.md',
    '_memory/linked/old.jsonl',
  ])('is not read as %s', async (path) => {
    const { fail } = await project();
    for (const [operation, input] of [
      [readResource, { uri: `bmad://${path}` }],
      [read, { target: `bmad://${path}` }],
      [read, { target: path, kind: 'resource' }],
      [bmad, { operation: 'read', type: 'resource', uri: `bmad://${path}` }],
      [bmadResources, { operation: 'read', uri: `bmad://${path}` }],
    ] as const) {
      const error = await fail(operation, input);
      expect(['not_found', 'forbidden'], `${operation.name}: ${error.text}`).toContain(error.code);
      expect(error.text).not.toContain(SECRET);
    }
  });

  it('is neither code of the project nor context for a task', async () => {
    const { ok, fail } = await project();
    const { data } = await ok(searchCodebase, { query: SECRET });
    expect(JSON.stringify(data)).not.toContain('.bmad-memory');
    for (const file of ['_bmad/_memory/.bmad-memory/old.jsonl', '_bmad/_memory/linked.md']) {
      const task = { agent: 'dev', task: 'Look', output_key: 'look', context_files: [file] };
      expect((await fail(spawnSubagentTask, task)).code).toBe('not_found');
    }
  });
});
