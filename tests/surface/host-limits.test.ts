import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../scripts/reference/limits.ts';
import { toolsetSizes } from '../../scripts/reference/tools.ts';
import { TOOLSETS } from '../../src/base/product.ts';

const sizes = await toolsetSizes();
const sizeOf = (name: string): number => sizes.find(({ toolsets }) => toolsets === name)?.tokens ?? Infinity;

describe('what hosts bear', () => {
  it('is measured for every toolset', () => {
    expect(sizes.map(({ toolsets }) => toolsets)).toEqual(['default', ...TOOLSETS, 'all']);
  });

  it.each(sizes.map((size) => [size.toolsets, size.tools] as const))(
    'holds for the tools of %s',
    (_toolsets, tools) => {
      expect(tools.length).toBeLessThanOrEqual(LIMITS.toolCount);
      expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
      for (const { name, title, description, annotations } of tools) {
        expect(name).toMatch(LIMITS.name);
        expect(name.length, name).toBeLessThanOrEqual(LIMITS.nameLength);
        expect(description?.length, name).toBeLessThanOrEqual(LIMITS.descriptionLength);
        expect(title, name).toBeTruthy();
        expect(annotations?.readOnlyHint, name).toBeTypeOf('boolean');
        // H-04: Codex refuses a tool that does not say it where nobody can be asked.
        expect(annotations?.openWorldHint, name).toBeTypeOf('boolean');
        if (annotations?.readOnlyHint === false)
          expect(annotations.destructiveHint, name).toBeTypeOf('boolean');
      }
    },
  );

  it('holds for the size of tools/list', () => {
    expect(sizeOf('bmad')).toBeLessThanOrEqual(LIMITS.tokens.bmad);
    expect(sizeOf('default')).toBeLessThanOrEqual(LIMITS.tokens.default);
  });
});
