import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../tests/support/growth.ts';
import { mergeCustomization } from './customize.ts';

const many = (length: number, line: (at: number) => string): string[] =>
  Array.from({ length }, (_, at) => line(at));

/** An agent that has as much in it as is put there. */
function compiled(parts: {
  steps?: string[];
  memories?: string[];
  prompts?: string[];
  items?: string[];
}): string {
  return [
    '<agent id="bmm/agents/a.agent.yaml" name="A">\n<activation>\n  <step n="3">x</step>\n',
    ...(parts.steps ?? []),
    '  <step n="4">Show greeting</step>\n<menu-handlers>\n</menu-handlers>\n</activation>\n',
    '  <prompts>\n',
    ...(parts.prompts ?? []),
    '  </prompts>\n  <memories>\n',
    ...(parts.memories ?? []),
    '  </memories>\n  <menu>\n',
    ...(parts.items ?? []),
    '  </menu>\n</agent>\n',
  ].join('');
}

const none = (): Promise<undefined> => Promise.resolve(undefined);

describe('a customization that keeps the server busy (S-06)', () => {
  it.each([
    ['memories', (length: number) => ({ memories: many(length, () => 'a') })],
    ['critical actions', (length: number) => ({ critical_actions: many(length, () => 'a') })],
    [
      'prompts',
      (length: number) => ({ prompts: many(length, (at) => `p${at}`).map((id) => ({ id, content: 'a' })) }),
    ],
  ])('takes time in proportion to its length: %s', (_, custom) => {
    const merge = (text: string): unknown => {
      const length = text.length;
      const half = Math.floor(length / 2);
      const agent = compiled({
        memories: many(half, () => '    <memory>a</memory>\n'),
        steps: many(half, (at) => `  <step n="${at + 4}">a</step>\n`),
        prompts: many(
          half,
          (at) => `    <prompt id="p${at}">\n      <content>\nb\n      </content>\n    </prompt>\n`,
        ),
      });
      return mergeCustomization(agent, custom(length), none);
    };
    expect(growthOf(merge, (length) => 'x'.repeat(length), 500, 4)).toBeUndefined();
  });

  it('is put in once, and replaces the prompts of the same id', async () => {
    const agent = compiled({
      memories: ['    <memory>own</memory>\n', '    <memory>a</memory>\n'],
      prompts: ['    <prompt id="p">\n      <content>\nold\n      </content>\n    </prompt>\n'],
    });
    const { text } = await mergeCustomization(
      agent,
      {
        memories: ['a', 'b'],
        prompts: [
          { id: 'q', content: 'two' },
          { id: 'p', content: 'one' },
        ],
      },
      none,
    );
    expect(text.match(/<memory>\w+<\/memory>/g)).toEqual(
      ['own', 'a', 'b'].map((one) => `<memory>${one}</memory>`),
    );
    expect(text.match(/<prompt id="\w">\n {6}<content>\n\w+/g)).toEqual([
      '<prompt id="p">\n      <content>\none',
      '<prompt id="q">\n      <content>\ntwo',
    ]);
  });
});
