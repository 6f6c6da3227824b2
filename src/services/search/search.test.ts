import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { qualifiedName, STARTABLE, type BmadRecord } from '../../model/record.ts';
import { createSearch, type Search, type SearchParts } from './search.ts';

const context = await contextIn(await temporaryFolder(afterAll));
const { catalogue } = await context.workspace();

function searchWith(more: Partial<SearchParts> = {}): Search {
  return createSearch({
    catalogue,
    describe: () => Promise.resolve({ menu: [] }),
    embedder: () => Promise.resolve(undefined),
    ...more,
  });
}

const ask = async (search: Search, words: string): Promise<string[]> =>
  (await search.find({ words, kinds: STARTABLE, takes: () => true })).map(({ record }) =>
    qualifiedName(record),
  );

describe('createSearch', () => {
  it('works with words alone', async () => {
    expect((await ask(searchWith(), 'épics et stories'))[0]).toBe('bmm/bmad-create-epics-and-stories');
  });

  it('finds by what an agent says of itself', async () => {
    const describeAgent = (agent: BmadRecord): Promise<{ role: string; menu: [] }> =>
      Promise.resolve({ role: agent.name === 'bmad-agent-dev' ? 'Knows zeppelins' : '', menu: [] });
    expect(await ask(searchWith({ describe: describeAgent }), 'zeppelin')).toEqual(['bmm/bmad-agent-dev']);
  });

  it('finds what an entry of a menu starts', async () => {
    const starts = catalogue.winners.find(({ name }) => name === 'bmad-ux');
    const menu = [{ text: 'Paint the zeppelin', starts }];
    const found = await ask(searchWith({ describe: () => Promise.resolve({ menu }) }), 'zeppelin');
    expect(found).toContain('bmm/bmad-ux');
  });

  it('lets the ranking decide between hits that fit equally well, and only between those', async () => {
    const plain = await ask(searchWith(), 'review');
    const last = (await ask(searchWith(), 'user')).at(-1) ?? '';
    const rankedFor = (wanted: string): Search =>
      searchWith({ ranking: () => Promise.resolve((record) => (qualifiedName(record) === wanted ? 1 : 0)) });
    expect((await ask(rankedFor(plain[1] ?? ''), 'review'))[0]).toBe(plain[0]);
    const equal = searchWith({
      describe: () => Promise.resolve({ menu: [], role: 'Knows zeppelins' }),
      ranking: () => Promise.resolve((record) => (record.name === 'bmad-agent-pm' ? 1 : 0)),
    });
    expect((await ask(equal, 'zeppelin'))[0]).toBe('bmm/bmad-agent-pm');
    expect((await ask(rankedFor(last), 'user'))[0]).not.toBe(last);
  });

  it('stops when the caller who asked first gives up, and starts again for the next (R-07)', async () => {
    const agents = catalogue.winners.filter(({ kind }) => kind === 'agent').length;
    const caller = new AbortController();
    let described = 0;
    let embedded = 0;
    const search = searchWith({
      describe: () => {
        described += 1;
        caller.abort();
        return Promise.resolve({ menu: [] });
      },
      embedder: () => {
        embedded += 1;
        return Promise.resolve(undefined);
      },
    });
    const asked = { words: 'review', kinds: STARTABLE, takes: () => true };
    await expect(search.find({ ...asked, signal: caller.signal })).rejects.toThrow(/abort/i);
    await new Promise(setImmediate);
    expect([described, embedded]).toEqual([1, 0]);
    expect(await search.find(asked)).not.toEqual([]);
    expect([described, embedded]).toEqual([1 + agents, 1]);
  });

  it('goes on for the others when one of several callers gives up (R-07)', async () => {
    const caller = new AbortController();
    const search = searchWith({
      describe: () => {
        caller.abort();
        return Promise.resolve({ menu: [] });
      },
    });
    const asked = { words: 'review', kinds: STARTABLE, takes: () => true };
    const [first, second] = await Promise.allSettled([
      search.find({ ...asked, signal: caller.signal }),
      search.find(asked),
    ]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('stops embedding what no one waits for (R-07)', async () => {
    const caller = new AbortController();
    const model = {
      id: 'a',
      dim: 1,
      embed: (texts: readonly string[], signal?: AbortSignal) => {
        caller.abort();
        signal?.throwIfAborted();
        return Promise.resolve(texts.map(() => new Float32Array(1)));
      },
    };
    const search = searchWith({ embedder: () => Promise.resolve(model) });
    const asked = { words: 'review', kinds: STARTABLE, takes: () => true };
    await expect(search.find({ ...asked, signal: caller.signal })).rejects.toThrow(/abort/i);
    await expect(search.find(asked)).resolves.not.toEqual([]);
  });

  it('indexes nothing before it is asked, and only once', async () => {
    let asked = 0;
    const search = searchWith({
      embedder: () => {
        asked++;
        return Promise.resolve(undefined);
      },
    });
    expect((await search.complete('arch', STARTABLE))[0]?.name).toBe('bmad-agent-architect');
    expect(asked).toBe(0);
    await ask(search, 'story');
    await ask(search, 'sprint');
    expect(asked).toBe(1);
  });
});
