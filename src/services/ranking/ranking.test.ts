import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { recordOf } from '../../../tests/support/records.ts';
import { manifestPriorities, manifestPriority } from './ranking.ts';

describe('what the manifests make of something', () => {
  it('is nothing for old names, and more for what they list, present and require', async () => {
    const context = await contextIn(await temporaryFolder(afterAll));
    const { catalogue } = await context.workspace();
    const priority = manifestPriorities(catalogue);
    const of = (name: string): number => {
      const record = catalogue.winners.find((each) => each.name === name);
      if (record === undefined) throw new Error(`There is no ${name}.`);
      return priority(record);
    };
    const required = catalogue.modules.flatMap(({ help }) => help.filter((row) => row.required));
    expect(required.length).toBeGreaterThan(0);
    for (const { skill } of required) expect(of(skill)).toBe(100);
    expect(of('bmad-agent-architect')).toBe(75);
    const old = catalogue.winners.filter(({ deprecated }) => deprecated !== undefined);
    expect(old.length).toBeGreaterThan(0);
    for (const record of old) expect(priority(record)).toBe(0);
  });

  it('tells what is listed from what only lies there', () => {
    expect(manifestPriority(recordOf('workflow a/b'), undefined)).toBe(50);
    expect(manifestPriority(recordOf('workflow a/b', { status: 'not-in-manifest' }), undefined)).toBe(25);
    expect(manifestPriority(recordOf('workflow a/b', { exists: false }), undefined)).toBe(0);
  });
});
