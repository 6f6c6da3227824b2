import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import type { Outside } from '../../app/app.ts';
import { activate } from '../activation/activate.ts';
import { complete, listPrompts } from '../client/prompts.ts';
import type { Call, Context } from '../context.ts';
import { execute } from '../execute.ts';
import { explain } from './explain.ts';
import { list } from './list.ts';
import type { AnyOperation } from '../operation.ts';
import { search } from './search.ts';
import { toolCall } from '../unified/forms.ts';

const agent = (module: string, name: string): string =>
  `---\nname: ${name}\ndescription: A ${name}\n---\n<agent id="bmad/${module}/agents/${name}.md" name="P" title="Guide of ${module}" icon="x">\n<persona><role>Guide</role></persona>\n</agent>\n`;

const FILES = {
  'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.22\nmodules:\n  - bmgd\n  - cis\n',
  'bmad/bmgd/agents/ada.md': agent('bmgd', 'ada'),
  'bmad/bmgd/agents/guide.md': agent('bmgd', 'guide'),
  'bmad/bmgd/agents/zoe.md': agent('bmgd', 'zoe'),
  'bmad/cis/agents/guide.md': agent('cis', 'guide'),
  'bmad/cis/agents/yan.md': agent('cis', 'yan'),
};

interface Session {
  context: Context;
  data(
    operation: AnyOperation,
    input: Record<string, unknown>,
    call?: Partial<Call>,
  ): Promise<Record<string, unknown>>;
  error(input: Record<string, unknown>): Promise<string>;
  start(...names: string[]): Promise<void>;
}

async function session(flags: Outside['flags'] = {}): Promise<Session> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, FILES);
  const context = await contextIn(folder, { flags: { usage: 'true', discovery: 'local', ...flags } });
  const run = (operation: AnyOperation, input: Record<string, unknown>, call: Partial<Call> = {}) =>
    execute(operation, input, context, { ...testCall(), ...call });
  const self: Session = {
    context,
    async data(operation, input, call) {
      const outcome = await run(operation, input, call);
      if (!outcome.ok) throw outcome.error;
      return { ...outcome.data, note: outcome.answer.note, text: outcome.answer.body };
    },
    async error(input) {
      const outcome = await run(activate, input);
      if (outcome.ok) throw new Error('It succeeded.');
      return outcome.error.textWith(toolCall);
    },
    async start(...names) {
      for (const name of names) await self.data(activate, { name });
      await (await context.usage()).settled();
    },
  };
  return self;
}

const namesIn = (data: Record<string, unknown>): string[] =>
  (data['items'] as { name: string }[]).map(({ name }) => name);

describe('an ambiguous name', () => {
  it('M-12: is answered with what differs, and says so where nothing speaks for one', async () => {
    const { error } = await session();
    expect(await error({ name: 'guide' })).toBe(
      [
        '"guide" is the name of 2 things.',
        '- bmgd/guide: Guide of bmgd, BMad Game Development\n- cis/guide: Guide of cis, Creative Intelligence Suite',
        [
          'Nothing tells which one is meant: choose by what they are for, or ask the user.',
          'Choose one: bmad {operation:"execute", agent:"…"}',
        ].join('\n'),
      ].join('\n\n'),
    );
  });

  it('M-12: is answered with what the message speaks for, whatever was started before', async () => {
    const { error, start } = await session();
    await start('bmgd/guide');
    const text = await error({ name: 'guide', message: 'Take me through the CIS sessions' });
    expect(text).toContain('Most likely cis/guide: the message says "cis".');
    expect(await error({ name: 'guide', message: 'Take me there' })).toContain(
      'Most likely bmgd/guide: started here 1 time',
    );
    // Words of both speak for neither.
    expect(await error({ name: 'guide', message: 'bmgd or cis?' })).toContain('started here 1 time');
  });

  it('is answered with what was started here first, and why; it is not started', async () => {
    const { error, start } = await session();
    await start('cis/guide', 'cis/guide');
    const text = await error({ name: 'guide' });
    expect(text).toContain(
      '- cis/guide: Guide of cis, Creative Intelligence Suite\n- bmgd/guide: Guide of bmgd, BMad Game Development',
    );
    expect(text).toContain(
      'Most likely cis/guide: started here 2 times, last just now.\nChoose it: bmad {operation:"execute", agent:"cis/guide"}',
    );
  });

  it('is answered with what the settings prefer first', async () => {
    const { error } = await session({ boost: 'cis' });
    expect(await error({ name: 'guide' })).toContain('Most likely cis/guide: the setting boost names it.');
  });

  it('goes by the weights', async () => {
    const { error, start } = await session({ boost: 'bmgd/guide', rankBoost: '1' });
    await start('cis/guide');
    expect(await error({ name: 'guide' })).toMatch(/- cis\/guide: [^]*- bmgd\/guide: /);
    const other = await session({ boost: 'bmgd/guide', rankBoost: '100' });
    await other.start('cis/guide');
    expect(await other.error({ name: 'guide' })).toMatch(/- bmgd\/guide: [^]*- cis\/guide: /);
  });
});

describe('the model of a client', () => {
  it('M-12: is asked whenever several candidates are left, also after one was started', async () => {
    const { data, start } = await session();
    await start('cis/guide');
    const prompts: string[] = [];
    const sample: NonNullable<Call['sample']> = ({ prompt }) => {
      prompts.push(prompt);
      return Promise.resolve({ text: 'bmgd/guide' });
    };
    const refused = data(activate, { name: 'guide', message: 'the way' }, { sample });
    await expect(refused).rejects.toMatchObject({
      hint: "Most likely bmgd/guide: your client's model chose it.",
    });
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain('the way');
    await data(search, { query: 'someone who can guide me', type: 'agents' }, { sample });
    expect(prompts).toHaveLength(2);
    // What is named is meant.
    await data(activate, { name: 'bmgd/guide' }, { sample });
    expect(prompts).toHaveLength(2);
  });
});

describe('lists', () => {
  it('are in their usual order until something is used, and then put that first in its module', async () => {
    const { data, start } = await session();
    const before = await data(list, { what: 'agents' });
    expect(namesIn(before)).toEqual(['ada', 'bmgd/guide', 'zoe', 'cis/guide', 'yan']);
    expect(before['note']).not.toContain('first');
    const prompts = await data(listPrompts, {});
    await start('zoe', 'yan');
    const after = await data(list, { what: 'agents' });
    expect(namesIn(after)).toEqual(['zoe', 'ada', 'bmgd/guide', 'yan', 'cis/guide']);
    expect(after['note']).toContain('What you use or boost comes first in its module');
    // What hosts keep stays as it is.
    expect(await data(listPrompts, {})).toEqual(prompts);
  });

  it('do not go on with a cursor of another order', async () => {
    const { data, start } = await session();
    const { next } = await data(list, { what: 'agents', limit: 2 });
    expect(namesIn(await data(list, { what: 'agents', limit: 2, cursor: next }))).toEqual([
      'zoe',
      'cis/guide',
    ]);
    await start('zoe');
    await expect(data(list, { what: 'agents', limit: 2, cursor: next })).rejects.toThrow('cursor');
  });
});

it('completes what is used first', async () => {
  const { data, start } = await session();
  const values = async (value: string) => (await data(complete, { what: 'agent', value }))['values'];
  expect(await values('')).toEqual(['ada', 'bmgd/guide', 'zoe', 'cis/guide', 'yan']);
  await start('yan', 'cis/guide', 'cis/guide');
  expect(await values('')).toEqual(['cis/guide', 'yan', 'ada', 'bmgd/guide', 'zoe']);
  // Where something begins with what was typed, that comes before use.
  expect(await values('a')).toEqual(['ada', 'yan']);
});

it('puts equal hits of a search in the order of use', async () => {
  const { data, start } = await session();
  expect(namesIn(await data(search, { query: 'guide', type: 'agents' })).slice(0, 2)).toEqual([
    'bmgd/guide',
    'cis/guide',
  ]);
  await start('cis/guide');
  expect(namesIn(await data(search, { query: 'guide', type: 'agents' })).slice(0, 2)).toEqual([
    'cis/guide',
    'bmgd/guide',
  ]);
});

it('explains a score', async () => {
  const { data, start } = await session({ boost: 'zoe' });
  await start('zoe');
  const { ranking, text } = await data(explain, { target: 'zoe' });
  expect(ranking).toMatchObject({
    uses: 1,
    signals: [
      { signal: 'recency', weight: 35 },
      { signal: 'frequency', value: 0.15, weight: 25, points: 3.755 },
      { signal: 'manifest', weight: 15 },
      { signal: 'boost', value: 1, weight: 25, points: 25 },
    ],
  });
  const { score, signals } = ranking as { score: number; signals: { points: number }[] };
  expect(score).toBeCloseTo(
    signals.reduce((sum, { points }) => sum + points, 0),
    2,
  );
  expect(text).toMatch(/^Ranking: [\d.]+ \(started 1 time, last 20\d\d-/m);
  expect(text).toMatch(/^- boost 1 × 25 = 25$/m);
});
