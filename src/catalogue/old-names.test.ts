import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, repository, temporaryFolder } from '../../tests/support/app.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { qualifiedName, STARTABLE } from '../model/record.ts';
import { successorsOf, withoutOldPrefixes } from './old-names.ts';

describe('names of earlier BMADs', async () => {
  const { catalogue } = await (await contextIn(await temporaryFolder(afterAll))).workspace();
  const found = (name: string): string =>
    qualifiedName(catalogue.names.resolve({ name, kinds: STARTABLE, fuzzy: false }).record);

  it.each([
    ['bmad-agent-bmm-pm', 'bmm/bmad-agent-pm'],
    ['bmad_bmm_agent_pm', 'bmm/bmad-agent-pm'],
    ['bmad:bmm:agents:pm', 'bmm/bmad-agent-pm'],
    ['BMAD-BMM-PRD', 'bmm/bmad-prd'],
    ['bmad-bmm-create-prd', 'bmm/bmad-create-prd'],
    ['bmm/bmad-agent-bmm-pm', 'bmm/bmad-agent-pm'],
    ['ux-expert', 'bmm/bmad-agent-ux-designer'],
    ['bmad-bmm-create-ux-design', 'bmm/bmad-ux'],
  ])('%s still leads to %s', (old, modern) => {
    expect(found(old)).toBe(modern);
  });

  it.each([
    'sm',
    'bmad-agent-bmm-sm',
    'bmad_bmm_agent_sm',
    'distillator',
    'bmad-distillator',
    'po',
    'bmad-master',
  ])('%s is told with what replaced it, which can be started', async (old) => {
    const error = await refusal(() => found(old));
    expect([error.code, error.message]).toEqual([
      'not_found',
      `"${old}" is a name from an earlier version of BMAD.`,
    ]);
    expect(error.suggestions.length).toBeGreaterThan(0);
    for (const name of error.suggestions)
      expect(found(name)).toMatch(new RegExp(`^\\w+/bmad-(?:agent-)?${name}$`));
  });

  it('include every name on upstream’s list of removed skills', async () => {
    const list = await readFile(join(repository, 'node_modules', 'bmad-method', 'removals.txt'), 'utf8');
    const removed = list.split('\n').filter((line) => /^\w/.test(line));
    const unknown = await Promise.all(
      removed.map(async (name) => {
        try {
          return found(name) === '' ? [name] : [];
        } catch {
          const { message } = await refusal(() => found(name));
          return message.endsWith('is a name from an earlier version of BMAD.') ? [] : [name];
        }
      }),
    );
    // Of a module that is not part of BMAD's package.
    expect(unknown.flat()).toEqual(['bmad-auto-setup']);
    expect(removed.length).toBeGreaterThan(40);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'bmad-agent-constructor', ''])(
    'do not include what every object has: %j',
    (name) => {
      expect(successorsOf(name)).toBeUndefined();
    },
  );

  it.each([
    ['bmad-agent-bmm-pm', 'pm'],
    ['bmad-bmm-workflows-prd', 'prd'],
    ['bmad-agent-core-bmad-master', 'bmad-master'],
    ['bmad-agents-pm', 'pm'],
    ['bmad-pm', undefined],
    ['pm', undefined],
    ['bmad-bmm-', undefined],
    ['x-bmad-bmm-pm', undefined],
  ])('%s without its prefixes is %s', (old, rest) => {
    expect(withoutOldPrefixes(old)).toBe(rest);
  });
});
