import { describe, expect, it } from 'vitest';
import { originOf, recordOf } from '../../tests/support/records.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { quoted } from '../base/errors.ts';
import { type BmadRecord, qualifiedName, type RecordKind } from '../model/record.ts';
import { NameIndex, type NameQuery } from './names.ts';

const KINDS: readonly RecordKind[] = ['agent', 'workflow', 'task', 'skill'];
const MODULES = ['core', 'bmm', 'cis', '__proto__'];

const RECORDS = [
  recordOf('agent bmm/bmad-agent-architect', { displayName: 'Winston', aliases: ['Winston', 'Chief'] }),
  recordOf('agent bmm/bmad-agent-dev', { displayName: 'Amelia', aliases: ['Amelia', 'prd'] }),
  recordOf('workflow bmm/bmad-prd', { aliases: ['Product Requirements'] }),
  recordOf('workflow bmm/bmad-create-story'),
  recordOf('workflow bmm/bmad-create-epics'),
  recordOf('agent cis/bmad-agent-storyteller'),
  recordOf('workflow cis/bmad-story', { aliases: ['tale'] }),
  recordOf('workflow bmm/bmad-review', { aliases: ['check'] }),
  recordOf('workflow cis/bmad-review'),
  recordOf('skill core/bmad-party-mode'),
  recordOf('task core/bmad-review'),
  recordOf('workflow core/café'),
  recordOf('workflow core/constructor', { aliases: ['toString'] }),
  recordOf('workflow core/__proto__'),
  recordOf('agent __proto__/bmad-agent-ghost'),
];
const index = new NameIndex(RECORDS, MODULES);

function query(name: string, more: Partial<NameQuery> = {}): NameQuery {
  return { name, kinds: KINDS, fuzzy: false, ...more };
}

function found(name: string, more: Partial<NameQuery> = {}): string {
  return qualifiedName(index.resolve(query(name, more)).record);
}

describe('resolve', () => {
  it.each([
    ['the id', 'bmad-agent-architect', 'bmm/bmad-agent-architect'],
    ['the short name', 'architect', 'bmm/bmad-agent-architect'],
    ['the name of the prompt', 'bmad-architect', 'bmm/bmad-agent-architect'],
    ['an alias', 'Winston', 'bmm/bmad-agent-architect'],
    ['another case', 'ARCHITECT', 'bmm/bmad-agent-architect'],
    ['spaces and underscores', ' Create_Story ', 'bmm/bmad-create-story'],
    ['an alias of two words', 'product requirements', 'bmm/bmad-prd'],
    ['a star', '*party-mode', 'core/bmad-party-mode'],
    ['the module', 'bmm/architect', 'bmm/bmad-agent-architect'],
    ['the module in another case', 'BMM/Winston', 'bmm/bmad-agent-architect'],
    ['the module and the id', 'cis/bmad-review', 'cis/bmad-review'],
    ['a star and the module', '*core/party-mode', 'core/bmad-party-mode'],
    ['composed letters', 'caf\u00E9', 'core/café'],
    ['decomposed letters', 'cafe\u0301', 'core/café'],
    ['the prefixes of an older version', 'bmad-agent-bmm-dev', 'bmm/bmad-agent-dev'],
    ['what every object inherits', 'constructor', 'core/constructor'],
    ['an alias that every object inherits', 'toString', 'core/constructor'],
    ['the prototype', '__proto__', 'core/__proto__'],
    ['a module called like the prototype', '__proto__/ghost', '__proto__/bmad-agent-ghost'],
  ])('finds by %s', (_, name, record) => {
    expect(found(name)).toBe(record);
  });

  it('prefers a name to an alias', () => {
    expect(found('prd')).toBe('bmm/bmad-prd');
    expect(found('prd', { kinds: ['agent'] })).toBe('bmm/bmad-agent-dev');
  });

  it('prefers an id to a short name, and both to a part of a name', () => {
    const names = new NameIndex(
      [recordOf('agent bmm/bmad-x'), recordOf('agent bmm/x'), recordOf('agent bmm/xx')],
      ['bmm'],
    );
    for (const name of ['x', ' X ', '*x', 'bmm/x', ' *bmm/x '])
      expect(names.resolve(query(name, { fuzzy: true })).record.name).toBe('x');
    expect(names.resolve(query('bmad-x')).record.name).toBe('bmad-x');
  });

  it('takes a part of a name only when told to, and only as the last resort', async () => {
    expect(found('epic', { fuzzy: true })).toBe('bmm/bmad-create-epics');
    expect(found('tale', { fuzzy: true })).toBe('cis/bmad-story');
    expect((await refusal(() => found('epic'))).code).toBe('not_found');
    expect((await refusal(() => found('ep', { fuzzy: true }))).code).toBe('not_found');
    expect((await refusal(() => found('create', { fuzzy: true }))).suggestions).toEqual([
      'bmm/bmad-create-story',
      'bmm/bmad-create-epics',
    ]);
    expect(found('story', { fuzzy: true, module: 'bmm' })).toBe('bmm/bmad-create-story');
  });

  it('prefers the kinds in the order of the question', () => {
    const names = new NameIndex(
      RECORDS.filter(({ moduleName }) => moduleName !== 'cis'),
      MODULES,
    );
    const kindOf = (kinds: RecordKind[]): string => names.resolve(query('review', { kinds })).record.kind;
    expect(kindOf(['workflow', 'task'])).toBe('workflow');
    expect(kindOf(['task', 'workflow'])).toBe('task');
    expect(kindOf(['skill', 'task'])).toBe('task');
  });

  it('prefers the origin of the higher rank, and what is current to what is deprecated', () => {
    const old = recordOf('workflow bmm/bmad-build', { deprecated: { successor: 'bmad-make' } });
    const names = new NameIndex(
      [
        old,
        recordOf('workflow cis/bmad-build'),
        recordOf('workflow x/bmad-own', { origin: originOf(1) }),
        recordOf('workflow bmm/own'),
      ],
      ['bmm', 'cis', 'x'],
    );
    expect(qualifiedName(names.resolve(query('build')).record)).toBe('cis/bmad-build');
    expect(qualifiedName(names.resolve(query('bmm/build')).record)).toBe('bmm/bmad-build');
    expect(qualifiedName(names.resolve(query('own')).record)).toBe('x/bmad-own');
  });

  it('lists the qualified names when several things have the name', async () => {
    const names = new NameIndex(
      [recordOf('workflow bmgd/bmad-review'), recordOf('workflow cis/bmad-review')],
      ['bmgd', 'cis'],
    );
    const error = await refusal(() => names.resolve(query('review')));
    expect([error.code, error.message, error.suggestions]).toEqual([
      'ambiguous',
      '"review" is the name of 2 things.',
      ['bmgd/bmad-review', 'cis/bmad-review'],
    ]);
    expect(found('review', { module: 'CIS' })).toBe('cis/bmad-review');
  });

  it('puts no folder of a project before another of the same form (A-2)', async () => {
    const pack = (code: string, priority: number): BmadRecord =>
      recordOf(`agent ${code}/game-designer`, { origin: originOf(priority), format: 'v4-agent' });
    const records = [pack('unity', 1.01), pack('godot', 1.02)];
    const names = new NameIndex(records, ['unity', 'godot']);
    expect((await refusal(() => names.resolve(query('game-designer')))).suggestions).toEqual([
      'unity/game-designer',
      'godot/game-designer',
    ]);
    expect(records.map((record) => names.handleOf(record))).toEqual([
      'unity/game-designer',
      'godot/game-designer',
    ]);
    const preferred = new NameIndex(records, ['unity', 'godot'], new Map(), (record) =>
      record.moduleName === 'godot' ? 0 : record.origin.priority,
    );
    expect(qualifiedName(preferred.resolve(query('game-designer')).record)).toBe('godot/game-designer');
  });

  it('means the method’s where several modules of one origin have the name (A-2)', () => {
    const all = ['bmgd', 'bmm', 'cis', 'core'];
    const among = (...modules: string[]): string =>
      qualifiedName(
        new NameIndex(
          modules.map((module) => recordOf(`workflow ${module}/bmad-review`)),
          all,
        ).resolve(query('review')).record,
      );
    expect(among('bmgd', 'bmm', 'core')).toBe('bmm/bmad-review');
    expect(among('bmgd', 'core')).toBe('core/bmad-review');
    expect(found('cis/review')).toBe('cis/bmad-review');
  });

  it('does not take an old prefix for leave to look in another module', async () => {
    expect((await refusal(() => found('cis/bmad-agent-bmm-dev'))).code).toBe('not_found');
  });

  it('refuses two different modules', async () => {
    expect((await refusal(() => found('bmm/review', { module: 'cis' }))).code).toBe('invalid_input');
    expect(found('bmm/review', { module: 'BMM' })).toBe('bmm/bmad-review');
  });

  it.each([
    ['a misspelt name', 'architekt', {}, 'There is no agent or workflow "architekt".', ['architect']],
    ['a misspelt persona', 'Wilston', {}, 'There is no agent or workflow "Wilston".', ['Winston']],
    ['a name of another kind', 'prd', { kinds: ['skill'] }, 'There is no skill "prd".', []],
    [
      'a name of another module',
      'cis/dev',
      {},
      'There is no agent or workflow "cis/dev" in module "cis".',
      [],
    ],
    [
      'what every object inherits',
      'hasOwnProperty',
      {},
      'There is no agent or workflow "hasOwnProperty".',
      [],
    ],
    ['a part of the prototype', 'valueOf', {}, 'There is no agent or workflow "valueOf".', []],
    [
      'a name with a space of no width',
      'archi\u200Btect',
      {},
      'There is no agent or workflow "archi\\u200btect".',
      ['architect'],
    ],
  ] as const)('knows nothing for %s', async (_, name, more, message, suggestions) => {
    const error = await refusal(() => found(name, more));
    expect([error.code, error.message, error.suggestions.slice(0, 1)]).toEqual([
      'not_found',
      message,
      suggestions,
    ]);
  });

  it.each(['', ' ', '*', '***', '/', '--', '\u200B', '\u200B\uFEFF ', '…', '\n\t', '"\''])(
    'does not take %j for a name',
    async (name) => {
      const error = await refusal(() => found(name));
      expect([error.code, error.message]).toEqual(['invalid_input', `${quoted(name)} is not a valid name.`]);
    },
  );

  it('lists the modules for an unknown one', async () => {
    for (const ask of [() => found('bmn/architect'), () => found('architect', { module: 'bmn' })]) {
      const error = await refusal(ask);
      expect([error.code, error.message, error.suggestions, error.hint]).toEqual([
        'not_found',
        'There is no module "bmn".',
        ['bmm'],
        'Known modules: core, bmm, cis, __proto__.',
      ]);
    }
    expect((await refusal(() => found('constructor/architect'))).code).toBe('not_found');
    expect((await refusal(() => new NameIndex([], []).moduleCode('x'))).hint).toBe('Known modules: none.');
  });

  it.each([
    ['letters', 'a'.repeat(100_000)],
    ['emoji', '😀a'.repeat(40_000)],
    ['a known beginning', `bmad-agent-architect${'x'.repeat(100_000)}`],
    ['old prefixes', `${'bmad-agent-'.repeat(9_000)}dev`],
    ['slashes', 'bmm/'.repeat(25_000)],
    ['a module', `${'m'.repeat(100_000)}/dev`],
  ])('answers shortly to 100,000 characters of %s', async (_, name) => {
    const error = await refusal(() => found(name, { fuzzy: true }));
    expect(error.code).toBe('not_found');
    expect(error.text.length).toBeLessThan(600);
    expect(error.subject?.length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(error.subject)).not.toMatch(/\\ud/);
  });

  it('tells names apart however long they are', () => {
    const long = 'x'.repeat(200);
    const names = new NameIndex([recordOf(`agent bmm/${long}a`), recordOf(`agent bmm/${long}b`)], ['bmm']);
    expect(names.resolve(query(`${long}b`)).record.name).toBe(`${long}b`);
  });

  it('quotes a long name in short', async () => {
    const long = 'x'.repeat(5_000);
    expect((await refusal(() => found(long))).message).toBe(
      `There is no agent or workflow "${'x'.repeat(120)}…".`,
    );
    const twins = new NameIndex([recordOf(`agent acme/${long}`), recordOf(`agent cis/${long}`)], MODULES);
    expect((await refusal(() => twins.resolve(query(long)))).message).toBe(
      `"${'x'.repeat(120)}…" is the name of 2 things.`,
    );
  });
});

it('M-41: knows agents by their French titles, after all other names', () => {
  const names = new NameIndex(
    [
      recordOf('agent bmm/bmad-agent-architect'),
      recordOf('agent bmm/bmad-agent-dev', { aliases: ['testeur'] }),
    ],
    ['bmm'],
  );
  const named = (name: string): string => names.resolve({ name, kinds: ['agent'], fuzzy: false }).record.name;
  expect(named('architecte')).toBe('bmad-agent-architect');
  expect(named('bmm/Architecte')).toBe('bmad-agent-architect');
  expect(named('développeur')).toBe('bmad-agent-dev');
  expect(named('testeur')).toBe('bmad-agent-dev');
  expect(() => named('chef de produit')).toThrow('There is no agent');
});
