import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { memoryForget } from './memory-operations.ts';
import { rememberStructured } from './remember.ts';

const session = await memorySession(afterAll);
const memory = (name: string): Promise<string> =>
  readFile(join(session.folder, '_bmad/_memory', name), 'utf8');

describe('remember_structured', () => {
  it('creates, knows again, and updates with the earlier text kept', async () => {
    const text = `${'Orders are written to PostgreSQL in one transaction, '.repeat(3)} always.`;
    const given = { type: 'decisions', agent: 'architect', text, tags: ['db'] };
    const first = await session.ok(rememberStructured, given);
    expect(first.data).toMatchObject({ outcome: 'created', memory: { tags: ['db'], revision: 1 } });
    expect(first.data['files']).toEqual(['_bmad/_memory/decisions-log.md', '_bmad/_memory/memories.json']);
    expect((await session.ok(rememberStructured, given)).data['outcome']).toBe('unchanged');
    // Without tags, those it has stay.
    const { tags: _tags, ...untagged } = given;
    expect((await session.ok(rememberStructured, untagged)).data['outcome']).toBe('unchanged');
    const changed = await session.ok(rememberStructured, {
      ...untagged,
      text: text.replace('always', 'never'),
    });
    expect(changed.data).toMatchObject({
      outcome: 'updated',
      memory: { id: (first.data['memory'] as { id: string }).id, tags: ['db'], revision: 2 },
      previous: { revision: 1, text },
    });
    expect(changed.answer.body).toContain('the earlier text is kept as a revision');
    const log = await memory('decisions-log.md');
    expect(log).not.toContain('always.');
    expect(log.match(/never\./g)).toHaveLength(1);
  });

  it('has the id that the kit would give it', async () => {
    // bmad-corner-shop:dev:…, computed by the kit's own rule.
    const id = await session.remember('stories', 'dev', 'Story 12 is about the returns of goods');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await session.remember('failures', 'dev', 'Story 12 is about the returns of goods')).toBe(id);
  });

  it('shows what is about the same, with nearness and day, and how to settle each, and nothing else (J-E4, J-O5, J-O16, Q-E2, 36-3)', async () => {
    for (const embedder of ['none', 'static']) {
      const own = await memorySession(onTestFinished, { flags: { embedder }, files: {} });
      const said = [
        'readlist keeps its Items in one JSON file ($READLIST_FILE or ~/.readlist.json), not SQLite',
        'Sessions of readlist expire after 15 minutes, Items never',
        'PostgreSQL — ACID',
        'readlist keeps Items in a file, not in SQLite',
      ];
      const ids: string[] = [];
      for (const text of said) ids.push(await own.remember('decisions', 'architect', text));
      await own.remember('failures', 'dev', 'readlist kept its Items in SQLite, and lost them');
      const say = async (text: string) =>
        own.ok(rememberStructured, { type: 'decisions', agent: 'pm', text });
      const { data, answer } = await say('readlist keeps its Items in SQLite, not in a JSON file.');
      const similar = data['similar'] as { id: string; nearness: number; type: string; updatedAt: string }[];
      expect(similar[0]).toMatchObject({ relation: 'about the same' });
      expect(similar.map(({ type }) => type)).not.toContain('failures');
      for (const { nearness } of similar) expect(nearness).toBeGreaterThanOrEqual(0.5);
      expect(answer.body).toMatch(
        /^Near \(\d+ %\) \[decisions\] architect, \d{4}-\d\d-\d\d, id .*JSON file/m,
      );
      const fresh = (data['memory'] as { id: string }).id;
      // Each is there with its id, which may take the place of the nearest one's.
      expect(new Set(similar.map(({ id }) => id))).toEqual(new Set([ids[0], ids[3]]));
      for (const { id } of similar) expect(answer.body).toContain(`id ${id}`);
      expect(answer.steps).toMatchObject([
        { operation: 'memory_supersede', args: { id: similar[0]?.id, by: fresh } },
        { operation: 'memory_keep_both', args: { id: fresh, other: similar[0]?.id } },
      ]);
      const french = await say(
        'La base de données du projet est PostgreSQL, retenue pour ses garanties ACID.',
      );
      expect((french.data['similar'] as { id: string }[])[0]?.id).toBe(ids[2]);
      const other = await say('Deadlines of readlist are shown in the time of the user');
      expect([other.data['similar'], other.answer.steps ?? []]).toEqual([[], []]);
    }
  });

  it('tells of the same text under another id, and both are recalled', async () => {
    const text = 'Invoices are numbered without gaps';
    const first = await session.remember('decisions', 'pm', text);
    const again = await session.ok(rememberStructured, { type: 'decisions', agent: 'sm', text });
    const second = (again.data['memory'] as { id: string }).id;
    expect(second).not.toBe(first);
    expect((again.data['similar'] as object[])[0]).toMatchObject({ relation: 'same text', id: first });
    expect(again.answer.body).toMatch(new RegExp(`Same text as \\[decisions\\] pm, .*id ${first}`));
    const hits = await session.recall('invoices numbered gaps');
    expect(hits.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
    expect(
      (await session.ok(rememberStructured, { type: 'decisions', agent: 'pm', text })).data,
    ).toMatchObject({
      outcome: 'unchanged',
      similar: expect.arrayContaining([
        expect.objectContaining({ relation: 'same text', id: second }),
      ]) as unknown,
    });
  });

  it('says what happened to a text that was forgotten, or only has other tags', async () => {
    const given = {
      type: 'decisions',
      agent: 'pm',
      text: 'Refunds are paid within two weeks',
      tags: ['money'],
    };
    const id = await session.remember('decisions', 'pm', given.text, given.tags);
    await session.ok(memoryForget, { id });
    const back = await session.ok(rememberStructured, given);
    expect(back.data).toMatchObject({ outcome: 'updated', revived: true });
    expect(back.answer.body).toContain(
      'Restored: it had been forgotten or superseded, with the same meaning',
    );
    expect(back.answer.body).not.toContain('revision');
    const tagged = await session.ok(rememberStructured, { ...given, tags: ['refunds'] });
    expect(tagged.answer.body).toContain('the text is the same, its tags changed');
    expect(tagged.answer.body).not.toContain('Before:');
  });

  it('tells of what a file of the project says already', async () => {
    const { data } = await session.ok(rememberStructured, {
      type: 'agent-learnings',
      agent: 'stack',
      text: 'Ne jamais vider le cache Redis entre les tests du panier',
    });
    expect((data['similar'] as object[])[0]).toMatchObject({
      relation: 'about the same',
      source: '_bmad/_memory/agent-learnings/fullstack-dev.md',
    });
  });

  it('masks secrets everywhere it writes', async () => {
    const { data } = await session.ok(rememberStructured, {
      type: 'shared-context',
      agent: 'ops',
      text: 'The staging key is sk-live-abcdefghijklmnopqrstuvwxyz0123',
    });
    expect(data['memory']).toMatchObject({ text: 'The staging key is ***' });
    expect(String(data['notes'])).toContain('Masked');
    expect(await memory('memories.json')).not.toContain('abcdefghijkl');
    expect(await memory('activity.jsonl')).not.toContain('abcdefghijkl');
  });

  it.each([
    [{ type: 'opinions' }, 'invalid_input', 'type'],
    [{ text: 'short' }, 'invalid_input', 'text'],
    [{ text: 'x'.repeat(3_000_000) }, 'too_large', 'text'],
    [{ agent: '../../etc' }, 'invalid_input', 'agent'],
    [{ agent: 'a/b' }, 'invalid_input', 'agent'],
    [{ tags: { db: 1 } }, 'invalid_input', 'tags'],
    [{ mood: 'good' }, 'invalid_input', undefined],
  ])('refuses %j', async (wrong, code, subject) => {
    const error = await session.fail(rememberStructured, {
      type: 'decisions',
      agent: 'dev',
      text: 'A text that is long enough',
      ...wrong,
    });
    expect(error).toMatchObject({ code, ...(subject === undefined ? {} : { subject }) });
    expect(error.hint).toBeTruthy();
  });

  it('suggests the type that was meant', async () => {
    const error = await session.fail(rememberStructured, {
      type: 'decisoins',
      agent: 'dev',
      text: 'A text that is long enough',
    });
    expect(error.suggestions).toEqual(['decisions']);
  });

  it('cleans NUL and halves of characters', async () => {
    const { data } = await session.ok(rememberStructured, {
      type: 'stories',
      agent: 'dev',
      text: 'null\0 byte and half \uD83D of it',
    });
    expect((data['memory'] as { text: string }).text).toBe('null byte and half \uFFFD of it');
    expect(data['notes']).toHaveLength(2);
  });

  it('leaves a project without a memory folder clean', async () => {
    const plain = await memorySession(afterAll, { files: { 'package.json': '{}' } });
    await plain.remember('decisions', 'dev', 'Nothing of this lies in the project');
    expect((await readdir(plain.folder)).sort()).toEqual(['package.json']);
    expect(await plain.recall('nothing lies')).toHaveLength(1);
  });

  it('is refused in read-only mode, and makes no folder', async () => {
    const still = await memorySession(afterAll, { flags: { embedder: 'none', readOnly: 'true' } });
    const error = await still.fail(rememberStructured, {
      type: 'stories',
      agent: 'dev',
      text: 'A text that is long enough',
    });
    expect(error.code).toBe('forbidden');
    expect((await still.recall('cache redis'))[0]?.sources).toHaveLength(1);
    expect(await readdir(join(still.folder, '_bmad/_memory'))).not.toContain('.bmad-memory');
  });

  it('is refused where there is no project', async () => {
    const session2 = await openSession(afterAll, { cwd: '/', home: '/nowhere' });
    const error = await session2.fail(rememberStructured, {
      type: 'stories',
      agent: 'dev',
      text: 'A text that is long enough',
    });
    expect(error.message).toContain('There is no project');
    expect(
      (
        await session.fail(rememberStructured, {
          type: 'stories',
          agent: 'dev',
          text: 'A text that is long enough',
          project: '/',
        })
      ).code,
    ).toBe('invalid_input');
  });
});

describe('M-41: what is said in French', () => {
  it('is kept for the agent that a French title names, and found by both', async () => {
    const { ok, remember, recall } = await memorySession(onTestFinished, { files: {} });
    const id = await remember('decisions', 'architecte', 'PostgreSQL pour les commandes');
    expect(await remember('decisions', 'architect', 'PostgreSQL pour les commandes')).toBe(id);
    for (const agent of ['architecte', 'Architecte', 'architect'])
      expect(
        (await recall('PostgreSQL', { agent })).map((hit) => hit.agent),
        agent,
      ).toEqual(['architect']);
    const learnt = await ok(rememberStructured, {
      type: 'agent-learnings',
      agent: 'développeuse',
      text: 'Lancer les migrations avant les tests',
    });
    expect(learnt.data['memory']).toMatchObject({ agent: 'dev' });
  });

  it('leaves the name to an agent of the project that has it', async () => {
    const { remember, recall } = await memorySession(onTestFinished, {
      files: {
        '_bmad/_config/custom/agents/architecte.md':
          '---\nname: "architecte"\n---\n```xml\n<agent id="architecte.agent.yaml" name="Ada" title="Architecte">\n```\n',
        '_bmad/_memory/x.md': '',
      },
    });
    await remember('decisions', 'architecte', 'PostgreSQL pour les commandes');
    expect((await recall('PostgreSQL')).map(({ agent }) => agent)).toEqual(['architecte']);
  });
});
