import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { checkFailures, getFailureMuseum } from '../project/failures.ts';
import { getAgentMemory } from './get-agent-memory.ts';
import { logDecision, rememberStructured } from './remember.ts';
import {
  memoryForget,
  memoryGet,
  memoryKeepBoth,
  memoryRestore,
  memorySupersede,
  memoryUpdate,
} from './memory-operations.ts';

const LOG = '_bmad/_memory/decisions-log.md';
const CONTRADICTIONS = `# Log des Contradictions — Corner Shop

## Contradictions Actives

| Date | Agent source | Ancienne mémoire | Nouvelle mémoire | Statut | Résolution |
|------|-------------|-----------------|-----------------|--------|-----------|
| — | — | — | — | — | — |

## Contradictions Résolues

| Date détection | Date résolution | Agent | Sujet | Action |
|---------------|----------------|-------|-------|--------|
| — | — | — | — | — |

---

## Règles de résolution

1. **Plus récent gagne**
`;
const files = { ...KIT_FILES, '_bmad/_memory/contradiction-log.md': CONTRADICTIONS };
const fileOf = (session: MemorySession, path: string): Promise<string> =>
  readFile(join(session.folder, path), 'utf8');

/** What the files of the kit have, in all their forms: words to find it by, and the file. */
const KINDS = [
  ['PostgreSQL ACID', 'decisions', LOG],
  ['sessions sans état jetons', 'decisions', LOG],
  ['choix du bus NATS', 'decisions', LOG],
  ['vider cache Redis panier', 'agent-learnings', '_bmad/_memory/agent-learnings/fullstack-dev.md'],
  ['dépôt principal monorepo', 'agent-learnings', '_bmad/_memory/atlas-learnings.md'],
  ['livré sans lancer les tests', 'failures', '_bmad/_memory/failure-museum.md'],
  ['commits conventionnels branches', 'shared-context', '_bmad/_memory/shared-context.md'],
  ['verrou optimiste panier', 'agent-learnings', '_bmad/_memory/memories.json'],
  ['textes du SDK', 'decisions', '_bmad/_memory/memories.json'],
] as const;

describe('a memory that only a file has', () => {
  it('has an id that it can be cited, read and superseded by, whatever the file', async () => {
    const session = await memorySession(onTestFinished, { files });
    for (const [words, type, file] of KINDS) {
      const [hit] = await session.recall(words, { type });
      expect(hit, words).toMatchObject({ type, stored: false });
      expect(hit?.sources[0], words).toMatch(new RegExp(`^${file}`));
      const again = await session.ok(memoryGet, { id: hit?.id });
      expect(again.answer.body).toContain(hit?.snippet.slice(0, 20).split(' ')[0] ?? '?');
      const { data, answer } = await session.ok(rememberStructured, {
        type,
        agent: 'architect',
        text: `Zebra quagga instead, number ${KINDS.findIndex(([other]) => other === words)}`,
        supersedes: hit?.id,
      });
      expect(data['superseded'], words).toMatchObject({ id: hit?.id });
      expect(answer.body).toContain(`Supersedes [${type}] `);
      const found = await session.recall(words, { type });
      expect(
        found.map(({ id }) => id),
        words,
      ).not.toContain(hit?.id);
      const gone = await session.ok(memoryGet, { id: hit?.id });
      expect(gone.answer.body).toContain('Superseded by ');
    }
    for (const [path, text] of Object.entries(files))
      if (path.endsWith('.md') && !/decisions-log|contradiction|learnings\/architect/.test(path))
        expect(await fileOf(session, path), path).toBe(text);
    // What people wrote stays in the log, too.
    expect((await fileOf(session, LOG)).startsWith(KIT_FILES[LOG] ?? '?')).toBe(true);
  });

  it('is marked where the kit has a word for it: in memories.json, and in its log of contradictions', async () => {
    const session = await memorySession(onTestFinished, { files });
    const [lock] = await session.recall('verrou optimiste panier');
    const by = await session.remember(
      'agent-learnings',
      'fullstack-dev',
      'Le panier a un verrou | pessimiste',
    );
    const { data } = await session.ok(memorySupersede, { id: lock?.id, by });
    expect(data['files']).toEqual(['_bmad/_memory/memories.json', '_bmad/_memory/contradiction-log.md']);
    const tables = JSON.parse(await fileOf(session, '_bmad/_memory/memories.json')) as object[];
    expect(tables[0]).toMatchObject({
      id: 1,
      metadata: { app_id: 'bmad-corner-shop', superseded: true, superseded_by: by },
    });
    const page = await fileOf(session, '_bmad/_memory/contradiction-log.md');
    expect(page).toMatch(
      /\|--------\|\n\| [\d-]{10} \| [\d-]{10} \| fullstack-dev \| Le module panier nécessite un verrou optimiste \| Remplacée par : Le panier a un verrou \\\| pessimiste \|\n\n---\n/,
    );
    expect(page.startsWith(CONTRADICTIONS.slice(0, CONTRADICTIONS.indexOf('## Contradictions Rés')))).toBe(
      true,
    );
    expect(page.endsWith('## Règles de résolution\n\n1. **Plus récent gagne**\n')).toBe(true);
  });

  it('is forgotten and comes back; a line of a table is left alone, and the answer says so', async () => {
    const session = await memorySession(onTestFinished, { files });
    const [row] = await session.recall('PostgreSQL ACID');
    const { data } = await session.ok(memoryForget, { id: row?.id });
    expect(data['notes']).toEqual([`Still written in ${LOG}:7; answers leave it out.`]);
    expect(await session.recall('PostgreSQL ACID')).toEqual([]);
    expect(await fileOf(session, LOG)).toBe(KIT_FILES[LOG]);
    await session.ok(memoryRestore, { id: row?.id });
    expect(await session.recall('PostgreSQL ACID')).toMatchObject([{ id: row?.id }]);
  });

  it('is named where people wrote what is forgotten, also where it has been remembered, and not where it still holds', async () => {
    const text = 'Les paniers sont gardés un mois';
    const session = await memorySession(onTestFinished, { files: { [LOG]: `- [2020-01-01] ${text}\n` } });
    const id = await session.remember('decisions', 'pm', text);
    expect((await session.ok(memoryUpdate, { id, tags: ['panier'] })).data['notes']).toEqual([]);
    const { data } = await session.ok(memoryForget, { id });
    expect(data['notes']).toEqual([`Still written in ${LOG}:1; answers leave it out.`]);
    expect(await session.recall('paniers gardés')).toEqual([]);
  });

  it('stays forgotten, unless a file says it again later: then that can be found, changed and forgotten', async () => {
    const session = await memorySession(onTestFinished, { files });
    const words = 'verrou optimiste panier';
    const memories = '_bmad/_memory/memories.json';
    const before = await fileOf(session, memories);
    const [hit] = await session.recall(words);
    const id = hit?.id ?? '';
    await session.ok(memoryForget, { id });
    const texts = async (): Promise<string> =>
      (await session.recall(words)).map(({ snippet }) => snippet).join();
    // The file of that time comes back.
    await writeFile(join(session.folder, memories), before);
    expect(await texts()).not.toContain('verrou optimiste');
    const later = new Date(Date.now() + 60_000).toISOString();
    await writeFile(join(session.folder, memories), before.replaceAll(/2026-03-01T10:00:00\.\d+/g, later));
    expect(await texts()).toContain('verrou optimiste');
    await session.ok(memoryUpdate, { id, tags: ['caisse'] });
    const { data } = await session.ok(memoryGet, { id });
    expect(data['memory']).toMatchObject({ id, tags: ['caisse'] });
    expect(data['memory']).not.toHaveProperty('forgotten_at');
    await session.ok(memoryForget, { id });
    expect(await texts()).not.toContain('verrou optimiste');
  });

  it('is changed under its id, and its own dated line with it', async () => {
    const session = await memorySession(onTestFinished, { files });
    const [line] = await session.recall('sessions sans état jetons');
    await session.ok(memoryUpdate, { id: line?.id, text: '[ARCH] Sessions en base, jetons courts' });
    const log = await fileOf(session, LOG);
    expect(log).not.toContain('Sessions sans état');
    expect(log).toContain('- [2026-02-27] [ARCH] Sessions en base, jetons courts');
    const hits = await session.recall('sessions jetons');
    expect(hits.map(({ snippet }) => snippet)).toEqual(['[ARCH] Sessions en base, jetons courts']);
  });

  it('leaves the museum when it is superseded, and is found there by its id or number', async () => {
    const session = await memorySession(onTestFinished, { files });
    const shown = await session.ok(getFailureMuseum);
    const [first] = shown.data['failures'] as { id: string; title: string }[];
    expect(first).toMatchObject({ title: 'Livré sans lancer les tests' });
    expect(shown.answer.body).toContain(`id ${first?.id}`);
    await session.ok(memorySupersede, { id: first?.id });
    const { data } = await session.ok(getFailureMuseum);
    expect(data).toMatchObject({ total: 1, failures: [{ title: 'Une ligne ancienne' }] });
    const { data: checked } = await session.ok(checkFailures, { change: 'Livrer sans lancer les tests' });
    expect(checked).toMatchObject({ warnings: [], compared: 1 });
    const log = '{"failure_id":"FM-007","title":"Backups were never restored","severity":"high"}\n';
    const other = await memorySession(onTestFinished, {
      files: { '_grimoire/_memory/failure-museum.jsonl': log },
    });
    expect((await other.ok(memoryGet, { id: 'fm-007' })).answer.body).toContain(
      'Backups were never restored',
    );
  });

  it('has an id of its own where another begins in the same way', async () => {
    const long =
      'Every request to the payment provider carries an idempotency key made from the order '.repeat(2);
    const session = await memorySession(onTestFinished, {
      files: { [LOG]: `- [2026-01-01] ${long}and the day\n- [2026-01-02] ${long}and the hour\n` },
    });
    const hits = await session.recall('idempotency key');
    expect(new Set(hits.map(({ id }) => id)).size).toBe(2);
    const hour = hits.find(({ sources }) => sources[0]?.endsWith(':2'));
    await session.ok(memorySupersede, { id: hour?.id });
    expect(await session.recall('idempotency key')).toMatchObject([{ sources: [`${LOG}:1`] }]);
  });

  it('is named with its id by every answer that lists it', async () => {
    const session = await memorySession(onTestFinished, { files });
    const [hit] = await session.recall('vider cache Redis panier');
    const { answer } = await session.ok(getAgentMemory, { agent: 'stack' });
    expect(answer.body).toContain(`fullstack-dev.md:5, id ${hit?.id})`);
    const near = await session.ok(rememberStructured, {
      type: 'agent-learnings',
      agent: 'stack',
      text: 'Ne jamais vider le cache Redis entre les tests du panier',
    });
    expect(near.answer.body).toContain(`fullstack-dev.md, id ${hit?.id}: Vider le cache`);
  });
});

describe('two memories about the same', () => {
  const OLD = 'The checkout supports 3 payment providers';
  const NEW = 'The checkout supports 5 payment providers';

  it('are settled by the calls that the answer gives: supersede, keep both', async () => {
    const session = await memorySession(onTestFinished, { files: { [LOG]: `- [2026-01-01] ${OLD}\n` } });
    const logged = await session.ok(logDecision, { text: NEW, agent: 'pm' });
    const fresh = String(logged.data['id']);
    const old = (await session.recall(OLD)).find(({ stored }) => !stored)?.id;
    expect(logged.answer.body).toContain(
      `Near (80 %) [decisions] team, 2026-01-01, ${LOG}, id ${old}: ${OLD}`,
    );
    expect(logged.answer.steps?.slice(0, 2).map(({ operation, args }) => [operation, args])).toEqual([
      ['memory_supersede', { id: old, by: fresh }],
      ['memory_keep_both', { id: fresh, other: old }],
    ]);
  });

  it('are no longer marked once both are kept', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    const old = await session.remember('decisions', 'pm', OLD);
    const fresh = await session.remember('decisions', 'pm', NEW, ['shop']);
    const { answer } = await session.ok(memoryKeepBoth, { id: fresh, other: old });
    expect(answer.body).toContain('Both are kept');
    expect(answer.body).not.toContain('holds-with');
    for (const tags of [undefined, ['other']]) {
      const again = await session.ok(rememberStructured, { type: 'decisions', agent: 'pm', text: NEW, tags });
      expect(again.data['similar']).toEqual([]);
    }
    expect((await session.fail(memoryKeepBoth, { id: old, other: old })).code).toBe('invalid_input');
  });

  it('are refused together with an id that does not exist, before anything is written', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    const error = await session.fail(rememberStructured, {
      type: 'decisions',
      agent: 'pm',
      text: NEW,
      supersedes: '00000000-0000-5000-8000-000000000000',
    });
    expect(error.code).toBe('not_found');
    expect(await session.recall(NEW)).toEqual([]);
  });
});
