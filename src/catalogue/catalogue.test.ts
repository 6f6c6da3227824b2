import { describe, expect, it } from 'vitest';
import { originOf, recordOf } from '../../tests/support/records.ts';
import { BmadError } from '../base/errors.ts';
import { parseYaml } from '../base/parse/parse.ts';
import type { ModuleInfo } from '../model/module.ts';
import { qualifiedName, type BmadRecord } from '../model/record.ts';
import type { Reader, Reading } from '../readers/reader.ts';
import { folderTree, type Source } from '../sources/tree.ts';
import { buildCatalogue } from './build.ts';
import { Catalogue } from './catalogue.ts';

const PROJECT = originOf(1);
const PACKAGE = originOf(9);

function catalogueOf(records: BmadRecord[], modules: ModuleInfo[] = []): Catalogue {
  return new Catalogue({ records, modules, problems: [], sources: [], files: new Map() });
}

function moduleOf(code: string, origin = PACKAGE): ModuleInfo {
  return { code, name: code, description: '', origin, settings: [], roster: [], help: [] };
}

function shown(records: readonly BmadRecord[]): string[] {
  return records.map((record) => `${record.kind} ${qualifiedName(record)} ${record.origin.priority}`);
}

describe('Catalogue', () => {
  const records = [
    recordOf('workflow bmm/b', { origin: PACKAGE }),
    recordOf('agent bmm/b', { origin: PACKAGE }),
    recordOf('agent bmm/a', { origin: PACKAGE }),
    recordOf('agent bmm/b', { origin: PROJECT }),
    recordOf('agent bmm/gone', { origin: PROJECT, exists: false, status: 'no-file-found' }),
    recordOf('agent bmm/gone', { origin: PACKAGE }),
    recordOf('agent core/a', { origin: PACKAGE }),
  ];

  it('keeps every record, and one winner for each kind and qualified name', () => {
    const catalogue = catalogueOf(records);
    expect(shown(catalogue.records)).toEqual([
      'agent bmm/b 1',
      'agent bmm/gone 1',
      'agent bmm/a 9',
      'workflow bmm/b 9',
      'agent bmm/b 9',
      'agent bmm/gone 9',
      'agent core/a 9',
    ]);
    expect(shown(catalogue.winners)).toEqual([
      'agent bmm/b 1',
      'agent bmm/a 9',
      'workflow bmm/b 9',
      'agent bmm/gone 9',
      'agent core/a 9',
    ]);
  });

  it('says in one short line how a name was resolved', () => {
    const catalogue = catalogueOf(records);
    const [record] = catalogue.winners;
    expect(record && catalogue.traceOf({ record, name: 'b', module: 'bmm' })).toBe(
      'found 2 candidates for "b", after module filter "bmm": 2; selected bmm/b from Project (project, priority=1)',
    );
    const long = recordOf(`agent bmm/${'x'.repeat(5_000)}`);
    const trace = catalogueOf([long]).traceOf({ record: long, name: long.name, module: undefined });
    expect(trace.startsWith(`found 1 candidate for "${'x'.repeat(120)}…"; selected bmm/xxx`)).toBe(true);
    expect(trace.length).toBeLessThan(500);
  });

  it('leaves what it was given as it was', () => {
    const given = [...records];
    catalogueOf(given);
    expect(given).toEqual(records);
  });

  it('takes each module from the origin of the highest rank', () => {
    const { modules } = catalogueOf([], [moduleOf('bmm'), moduleOf('core'), moduleOf('bmm', PROJECT)]);
    expect(modules.map(({ code, origin }) => [code, origin.priority])).toEqual([
      ['bmm', 1],
      ['core', 9],
    ]);
  });

  it('finds winners by name and counts what is listed', () => {
    const catalogue = catalogueOf(
      [...records, recordOf('agent bmm/old', { deprecated: {} })],
      [moduleOf('bmm')],
    );
    expect(catalogue.names.resolve({ name: 'b', kinds: ['agent'], fuzzy: false }).record.origin).toBe(
      PROJECT,
    );
    expect(catalogue.names).toBe(catalogue.names);
    expect([catalogue.count('agent'), catalogue.count('workflow'), catalogue.count('task')]).toEqual([
      4, 1, 0,
    ]);
  });

  it('may be empty', () => {
    const catalogue = catalogueOf([]);
    expect([catalogue.winners, catalogue.modules, catalogue.count('agent')]).toEqual([[], [], 0]);
  });
});

describe('buildCatalogue', () => {
  const source: Source = { origin: PROJECT, tree: folderTree('/project', 1_000) };
  const reading: Reading = { records: [recordOf('agent bmm/a')], modules: [moduleOf('bmm')], problems: [] };

  function reader(generation: string, read: () => Reading): Reader {
    return { generation, read: async () => read() };
  }

  it.each([
    [
      'a file it may not read',
      (): Reading => {
        throw new BmadError('forbidden', '"x" is a folder, not a file.');
      },
      'broken: "x" is a folder, not a file.',
    ],
    [
      'a file nobody can parse',
      (): Reading => {
        parseYaml('bmm/module.yaml', 'a: [');
        return reading;
      },
      expect.stringMatching(/^broken: bmm\/module\.yaml:1: /),
    ],
  ])('goes on after a reader that stumbled over %s', async (_, read, message) => {
    const catalogue = await buildCatalogue([source], [reader('broken', read), reader('fine', () => reading)]);
    expect(shown(catalogue.winners)).toEqual(['agent bmm/a 9']);
    expect(catalogue.problems).toEqual([{ file: '/project', message }]);
  });

  it('loses only what a faulty reader would have found, and says so', async () => {
    const faulty = reader('faulty', () => {
      throw new TypeError('x is not a function');
    });
    const { problems } = await buildCatalogue([source], [faulty]);
    expect(problems.map(({ message }) => message)).toEqual(['faulty: it failed unexpectedly (TypeError)']);
  });

  it('asks every reader about every source', async () => {
    const asked: string[] = [];
    const other: Source = { origin: PACKAGE, tree: folderTree('/package', 1_000) };
    const readers = ['one', 'two'].map((generation): Reader => ({
      generation,
      async read({ origin }) {
        asked.push(`${generation} ${origin.root}`);
        return { ...reading, problems: [{ file: origin.root, message: generation }] };
      },
    }));
    const catalogue = await buildCatalogue([other, source], readers);
    expect(asked.sort()).toEqual(['one /package', 'one /project', 'two /package', 'two /project']);
    expect(catalogue.problems).toHaveLength(4);
    expect(catalogue.sources).toEqual([source, other]);
  });
});
