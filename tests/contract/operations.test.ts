import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { operations } from '../../src/operations/index.ts';
import { repository } from '../support/app.ts';

interface Property {
  type?: string;
  description?: string;
  anyOf?: unknown;
  properties?: unknown;
}

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  'operation %s',
  (_name, operation) => {
    const schema = z.toJSONSchema(operation.input, { io: 'input' });
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Property>);

    it('has a name hosts accept and words that fit', () => {
      expect(operation.name).toMatch(/^[a-z][a-z0-9_-]{0,39}$/);
      expect(operation.title.length).toBeGreaterThan(3);
      expect(operation.description.length).toBeGreaterThan(20);
      expect(operation.description.length).toBeLessThanOrEqual(1_024);
    });

    it('refuses unknown arguments', () => {
      expect(schema.additionalProperties).toBe(false);
    });

    it('takes flat arguments, each described', () => {
      for (const [name, property] of properties) {
        // Hosts show the arguments of tools to their models; what is behind one may say two kinds.
        if (operation.toolset !== undefined) expect(property.anyOf, `${name} is a union`).toBeUndefined();
        expect(property.properties, `${name} is nested`).toBeUndefined();
        const plain = [
          'operation',
          'cursor',
          'limit',
          'detail',
          'section',
          'query',
          'last_n',
          'top_n',
        ].includes(name);
        if (!plain) expect(property.description, `${name} has no description`).toBeTruthy();
      }
    });

    it('takes by position only what it knows', () => {
      for (const name of operation.positional ?? [])
        expect(Object.keys(operation.input.shape)).toContain(name);
    });
  },
);

describe('the list of operations', () => {
  it('has unique names and commands', () => {
    const names = operations.map(({ name }) => name);
    const commands = operations.flatMap(({ command }) => command ?? []);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(commands).size).toBe(commands.length);
  });

  it('names each of them in a test beside its declaration', () => {
    const root = join(repository, 'src/operations');
    const untested = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name: folder }) => {
        const texts = readdirSync(join(root, folder)).map((file) => ({
          isTest: file.endsWith('.test.ts'),
          text: readFileSync(join(root, folder, file), 'utf8'),
        }));
        const tests = texts.filter(({ isTest }) => isTest).map(({ text }) => text);
        const declared = texts
          .filter(({ isTest }) => !isTest)
          .flatMap(({ text }) => [
            ...text.matchAll(/^export const (\w+) = define(?:Operation|Route)\(\{\s+name: '([^']+)'/gm),
          ]);
        return declared.flatMap(([, exported = '', name = '']) =>
          tests.some((text) => text.includes(exported) || text.includes(name)) ? [] : [name],
        );
      });
    expect(untested).toEqual([]);
  });
});
