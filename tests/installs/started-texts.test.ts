import { afterAll, describe, expect, it } from 'vitest';
import { qualifiedName } from '../../src/model/record.ts';
import type { Context } from '../../src/operations/context.ts';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { partsOf, startable } from '../support/delivered.ts';
import { installOf } from '../support/installs.ts';

/** What is followed of a text before its own work: its activation, or the orders it begins with. */
const BEGINNING = /^## (?:On Activation|Execution)\n(.*?)(?=^## |^----- END )/gms;

/** What the server does for every text. */
const DONE_HERE = /config\.yaml|resolve_customization\.py|\.activation_steps_|\.persistent_facts/;

describe.each(['built in', '6.12.0'] as const)('what is started: %s', (version) => {
  const opened = async (): Promise<Context> =>
    version === 'built in'
      ? contextIn(await temporaryFolder(afterAll))
      : contextIn(await installOf(version), { flags: { discovery: 'local' } });

  it('does not order what is done', async () => {
    const context = await opened();
    const left: string[] = [];
    let seen = 0;
    for (const record of await startable(context)) {
      const name = qualifiedName(record);
      const whole = (await partsOf(name, record.kind === 'agent' ? 'agent' : 'workflow', context)).join('');
      // Old names bring their own settings and get every word; so does one whose settings say something.
      if (whole.includes('is deprecated; it forwards to')) continue;
      for (const [, section = ''] of whole.matchAll(BEGINNING)) {
        seen += 1;
        left.push(
          ...section
            .split('\n')
            .filter((line) => DONE_HERE.test(line))
            .map((line) => `${name}: ${line}`),
        );
      }
    }
    expect(left).toEqual([]);
    expect(seen).toBeGreaterThan(20);
  });
});
