import { afterAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/operations/context.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { partsOf } from '../support/delivered.ts';

const builtIn = async (): Promise<Context> => contextIn(await temporaryFolder(afterAll));

describe('a text of 6.12 that is built in', () => {
  it.each(['prd', 'product-brief', 'architecture', 'ux', 'spec', 'sprint-planning', 'retrospective'])(
    'says in the same answer what replaces a script that is not on the disk: %s',
    async (name) => {
      const parts = await partsOf(name, 'workflow', await builtIn());
      expect(parts).toHaveLength(1);
      expect(parts[0]).toMatch(/^## Scripts\n\nThese are not on this disk[^\n]*:\n\n- `\w+\.py`: /m);
    },
  );
});
