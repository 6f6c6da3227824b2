import { describe, expect, it } from 'vitest';
import { originOf, recordOf } from '../../tests/support/records.ts';
import type { BmadRecord } from '../model/record.ts';
import { NameIndex } from './names.ts';

describe('handleOf', () => {
  function handles(records: BmadRecord[]): string[] {
    const names = new NameIndex(records, ['bmm', 'cis']);
    return records.map((record) => names.handleOf(record));
  }

  it.each([
    ['the short name', ['agent bmm/bmad-agent-dev', 'workflow bmm/bmad-prd'], ['dev', 'prd']],
    ['the short name for each kind', ['agent bmm/bmad-agent-x', 'workflow bmm/bmad-x'], ['x', 'x']],
    ['the module where another has it too', ['task bmm/bmad-x', 'task cis/bmad-x'], ['x', 'cis/x']],
    ['the id where it is the short name of another', ['task bmm/bmad-x', 'task bmm/x'], ['bmad-x', 'x']],
    [
      'the ids where the module does not help',
      ['task bmm/bmad-agent-x', 'task bmm/bmad-x'],
      ['bmad-agent-x', 'bmad-x'],
    ],
  ])('is %s', (_, records, expected) => {
    expect(handles(records.map((record) => recordOf(record)))).toEqual(expected);
  });

  it('tells deprecated records from each other', () => {
    const deprecated = {};
    const records = [
      recordOf('task bmm/bmad-x', { deprecated }),
      recordOf('task cis/bmad-x', { deprecated }),
    ];
    expect(handles(records)).toEqual(['x', 'cis/x']);
  });

  it('is the qualified id where everything shorter is taken', () => {
    const older = [recordOf('task bmm/x', { deprecated: {} }), recordOf('task bmm/bmad-x')];
    expect(handles(older)).toEqual(['bmm/x', 'x']);
    const outranked = [recordOf('task bmm/x'), recordOf('task bmm/bmad-x', { origin: originOf(1) })];
    expect(handles(outranked)).toEqual(['bmm/x', 'x']);
  });
});
