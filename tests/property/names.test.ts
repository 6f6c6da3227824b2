import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameIndex } from '../../src/catalogue/names.ts';
import { qualifiedName, type BmadRecord } from '../../src/model/record.ts';
import { originOf, recordOf } from '../support/records.ts';
import { cases } from '../support/how-much.ts';

const MODULES = ['bmm', 'cis', 'core'];
const IDS = [
  'x',
  'y',
  'bmad-x',
  'bmad-agent-x',
  'agent-x',
  'bmad-y',
  'bmad-agent-y',
  'X y',
  'constructor',
  'bmad-bmad-x',
];
const id = fc.constantFrom(...IDS);
const record = fc
  .record({
    kind: fc.constantFrom('agent', 'workflow', 'task'),
    module: fc.constantFrom(...MODULES),
    name: id,
    aliases: fc.array(id, { maxLength: 2 }),
    priority: fc.constantFrom(1, 9),
    deprecated: fc.boolean(),
  })
  .map(({ kind, module, name, aliases, priority, deprecated }) =>
    recordOf(`${kind} ${module}/${name}`, {
      aliases,
      origin: originOf(priority),
      ...(deprecated ? { deprecated: {} } : {}),
    }),
  );
/** As the catalogue has them: one winner for each kind and qualified name. */
const records = fc.uniqueArray(record, {
  minLength: 1,
  maxLength: 12,
  selector: (each) => `${each.kind} ${qualifiedName(each)}`,
});

describe('NameIndex', () => {
  it('leads from the handle of every record back to it', () => {
    fc.assert(
      fc.property(records, (all) => {
        const names = new NameIndex(all, MODULES);
        for (const each of all) {
          const handle = names.handleOf(each);
          const found = names.resolve({ name: handle, kinds: [each.kind], fuzzy: false }).record;
          expect([handle, qualifiedName(found)]).toEqual([handle, qualifiedName(each)]);
        }
      }),
      { numRuns: cases(1_000) },
    );
  });

  it('finds every record by its qualified id, in any case and spelling', () => {
    fc.assert(
      fc.property(records, fc.boolean(), (all, shout) => {
        const names = new NameIndex(all, MODULES);
        for (const each of all) {
          const name = shout
            ? ` *${qualifiedName(each).toUpperCase()} `
            : qualifiedName(each).replaceAll(' ', '_');
          expect(names.resolve({ name, kinds: [each.kind], fuzzy: false }).record).toBe(each);
        }
      }),
      { numRuns: cases(1_000) },
    );
  });

  it('never starts what has another name than the one asked for', () => {
    const qualified = fc.tuple(fc.constantFrom(...MODULES), id).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(records, fc.oneof(id, qualified, fc.string({ maxLength: 12 })), (all, name) => {
        const found = attempt(new NameIndex(all, MODULES), name);
        const asked = plain(name.replace(/^.*\//, ''));
        // An id of an earlier BMAD may have had one prefix more.
        const accepted = found === undefined ? [asked] : namesOf(found);
        expect(accepted.some((own) => own === asked || own === asked.replace(/^bmad-agent-/, ''))).toBe(true);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

function namesOf({ name, aliases }: BmadRecord): string[] {
  const short = name.replace(/^bmad-(?:agent-)?/, '');
  return [name, short, `bmad-${short}`, ...aliases].map(plain);
}

function plain(name: string): string {
  return name
    .trim()
    .replace(/^\*/, '')
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
}

function attempt(names: NameIndex, name: string): BmadRecord | undefined {
  try {
    return names.resolve({ name, kinds: ['agent', 'workflow', 'task'], fuzzy: false }).record;
  } catch {
    return undefined;
  }
}
