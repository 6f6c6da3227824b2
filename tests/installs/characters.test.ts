import { afterAll, describe, expect, it } from 'vitest';
import { isListed } from '../../src/model/record.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { installOf } from '../support/installs.ts';

describe.each(['4.44.3', '6.0.0-alpha.7', '6.0.0-alpha.22', '6.1.0', '6.3.0', '6.12.0'] as const)(
  '%s',
  (version) => {
    it('shows', async () => {
      const home = await temporaryFolder(afterAll);
      const context = await contextIn(await installOf(version), { home, flags: { discovery: 'local' } });
      const { catalogue, delivery } = await context.workspace();
      for (const record of catalogue.winners.filter((r) => r.kind === 'agent' && isListed(r))) {
        const c = await delivery.character(record);
        console.log(
          version,
          record.name,
          record.format,
          c.parts.map((p) => `${p.title}:${p.text.length}`).join(' | '),
          c.elsewhere,
        );
      }
      expect(1).toBe(1);
    });
  },
);
