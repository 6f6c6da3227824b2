import { describe, expect, it } from 'vitest';
import { originOf, recordOf } from '../../tests/support/records.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { qualifiedName, type BmadRecord } from '../model/record.ts';
import { Catalogue, type Preference } from './catalogue.ts';

const [PROJECT, PACKAGE] = [originOf(1), originOf(9)];

function catalogueOf(records: BmadRecord[], preferences: Preference[] = []): Catalogue {
  const modules = [...new Set(records.map(({ moduleName }) => moduleName))].map((code) => ({
    code,
    name: code,
    description: '',
    origin: PACKAGE,
    settings: [],
    roster: [],
    help: [],
  }));
  return new Catalogue({ records, modules, problems: [], sources: [], files: new Map(), preferences });
}

const own = (text: string, more: Partial<BmadRecord> = {}): BmadRecord =>
  recordOf(text, { origin: PROJECT, digest: 'own', ...more });

const served = ({ winners }: Catalogue): string[] => winners.map(qualifiedName);

describe('M-01: the same thing in two origins', () => {
  it('is not assumed of other modules, nor of agents of the core module', () => {
    const catalogue = catalogueOf([
      own('agent team/analyst'),
      own('agent core/architect'),
      own('workflow bmgd/code-review'),
      recordOf('agent bmm/bmad-agent-analyst'),
      recordOf('agent bmm/bmad-agent-architect'),
      recordOf('workflow bmm/bmad-code-review'),
    ]);
    expect(catalogue.overridden.size).toBe(0);
  });

  it('is one in a module of one’s own, with and without the prefix', () => {
    const catalogue = catalogueOf([own('agent acme/scout'), recordOf('agent acme/bmad-agent-scout')]);
    expect(served(catalogue)).toEqual(['acme/scout']);
  });

  it('is not an agent here and a workflow there', () => {
    const catalogue = catalogueOf([own('agent bmm/dev'), recordOf('workflow bmm/bmad-dev')]);
    expect(served(catalogue)).toEqual(['bmm/dev', 'bmm/bmad-dev']);
  });

  it('may be several records of one origin, all served', () => {
    const names = ['create-prd', 'edit-prd', 'validate-prd'];
    const catalogue = catalogueOf([
      ...names.map((name) => own(`workflow bmm/${name}`)),
      recordOf('workflow bmm/bmad-prd'),
    ]);
    expect(served(catalogue)).toEqual(names.map((name) => `bmm/${name}`));
    const found = catalogue.names.resolve({ name: 'prd', kinds: ['workflow'], fuzzy: false });
    expect(qualifiedName(found.record)).toBe('bmm/create-prd');
  });

  it('leaves an old name that leads on to what is served', () => {
    const shim = recordOf('workflow bmm/bmad-create-prd', { deprecated: { successor: 'bmad-prd' } });
    const newer = catalogueOf([own('workflow bmm/bmad-prd'), recordOf('workflow bmm/bmad-prd'), shim]);
    expect(newer.overridden.has(shim)).toBe(false);
    const older = catalogueOf([own('workflow bmm/prd'), recordOf('workflow bmm/bmad-prd'), shim]);
    expect(older.overridden.get(shim)?.name).toBe('prd');
  });

  it('takes a launcher along with what it launches', () => {
    const lower = originOf(5);
    const agent = recordOf('agent bmm/analyst', { origin: lower, bmadRelativePath: 'bmm/agents/analyst.md' });
    const launcher = recordOf('skill bmm/bmad-analyst', {
      origin: lower,
      launches: 'bmm/agents/analyst.md',
    });
    const catalogue = catalogueOf([own('agent bmm/bmad-agent-analyst'), agent, launcher]);
    expect(served(catalogue)).toEqual(['bmm/bmad-agent-analyst']);
  });

  it('M-02: comes from the origin that is preferred for it, under the same name or another', () => {
    const records = [
      own('agent bmm/analyst'),
      own('workflow bmm/bmad-prd'),
      own('workflow bmm/bmad-ux'),
      recordOf('agent bmm/bmad-agent-analyst', { origin: PACKAGE }),
      recordOf('workflow bmm/bmad-prd', { origin: PACKAGE }),
      recordOf('workflow bmm/bmad-ux', { origin: PACKAGE }),
    ];
    const origins = new Set([PACKAGE]);
    const catalogue = catalogueOf(records, [
      { name: 'analyst', origins },
      { name: 'bmm/create-prd', origins },
    ]);
    expect(catalogue.winners.map((record) => [qualifiedName(record), record.origin.kind])).toEqual([
      ['bmm/bmad-prd', 'package'],
      ['bmm/bmad-ux', 'project'],
      ['bmm/bmad-agent-analyst', 'package'],
    ]);
  });

  it('is told as taking the place of what is built in, under whatever name', () => {
    const catalogue = catalogueOf([
      own('workflow bmm/create-prd'),
      recordOf('workflow bmm/bmad-prd', { digest: 'built in' }),
    ]);
    expect(catalogue.displacing().map(({ record }) => qualifiedName(record))).toEqual(['bmm/create-prd']);
    expect(catalogue.displacedBy(catalogue.winners[0] as BmadRecord)?.name).toBe('bmad-prd');
  });

  it('cannot be told apart by a name that an override gave to two agents', async () => {
    const { names } = catalogueOf([
      own('agent bmm/analyst', { displayName: 'Max', aliases: ['Max'] }),
      own('agent bmm/pm', { displayName: 'Max', aliases: ['Max'] }),
    ]);
    const error = await refusal(() => names.resolve({ name: 'max', kinds: ['agent'], fuzzy: false }));
    expect([error.code, error.suggestions]).toEqual(['ambiguous', ['bmm/analyst', 'bmm/pm']]);
    expect(names.resolve({ name: 'pm', kinds: ['agent'], fuzzy: false }).record.name).toBe('pm');
  });
});
