import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { entryOf } from '../../src/hosts/entries.ts';
import { FORMATS, cut, entryIn, put, type ConfigText } from '../../src/hosts/splice.ts';
import { HOSTS } from '../../src/hosts/table.ts';
import { hostConfig } from '../support/host-configs.ts';
import { cases } from '../support/how-much.ts';

const START = {
  command: 'C:\\Program Files\\nodejs\\node.exe',
  args: ['/home/ada/bmad "x"/dist/bmad-mcp-server.cjs'],
};

const read = ({ file, format }: ConfigText, text: string): Record<string, unknown> =>
  FORMATS[format].read(file, text);

/** A file without our entry, and without the key of the servers if it holds none. */
function rest(config: ConfigText, text: string): string {
  const table = read(config, text);
  const { bmad: _ours, ...others } = (table[config.key] ?? {}) as Record<string, unknown>;
  const kept = Object.keys(others).length === 0 ? undefined : others;
  return JSON.stringify(
    Object.entries(table)
      .map(([key, value]) => [key, key === config.key ? kept : value])
      .filter(([, value]) => value !== undefined),
  );
}

describe('an entry in the configuration of a host', () => {
  it('changes nothing else, and leaves the file as it was, whatever its style', () => {
    let seen = 0;
    fc.assert(
      fc.property(hostConfig, fc.constantFrom(...HOSTS), (config, host) => {
        const entry = entryOf(host, 'user', START);
        const made = put(config, entry);
        seen += 1;
        const after = { ...config, text: made.text };
        expect(entryIn(after)).toEqual(entry);
        expect(rest(config, made.text)).toBe(rest(config, config.text));
        // Line by line, nothing that was there is gone or in another order.
        const lines = new Set(made.text.split(/\r?\n/));
        const missing = config.text.split(/\r?\n/).filter((line) => !lines.has(line));
        expect(missing.length).toBeLessThanOrEqual(2);
        if (config.text.includes('\r\n')) expect(made.text.replaceAll('\r\n', '')).not.toContain('\n');
        expect(cut(after, made.made)).toBe(config.text);
      }),
      { numRuns: cases(350) },
    );
    expect(seen).toBeGreaterThanOrEqual(cases(350));
  });

  it('never changes a broken file', () => {
    fc.assert(
      fc.property(
        hostConfig,
        fc.nat(),
        fc.constantFrom('{', '}', '"', "'''", '[', ',', ':', '\u0000'),
        (config, at, sign) => {
          const place = at % (config.text.length + 1);
          const text = config.text.slice(0, place) + sign + config.text.slice(place);
          const damaged = { ...config, text };
          try {
            const made = put(damaged, { command: 'node', args: [] });
            // It may be whole all the same, or mean something else: then the same holds for it.
            expect(rest(damaged, made.text)).toBe(rest(damaged, text));
          } catch (error) {
            expect(error).toBeInstanceOf(BmadError);
            expect((error as BmadError).message).toMatch(/it is unchanged/);
          }
        },
      ),
      { numRuns: cases(150) },
    );
  });
});
