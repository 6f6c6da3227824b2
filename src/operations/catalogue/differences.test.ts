import { expect, it } from 'vitest';
import { originOf, recordOf } from '../../../tests/support/records.ts';
import { differencesOf } from './names.ts';

const described = (...texts: string[]): string[] =>
  differencesOf(texts.map((description, index) => recordOf(`workflow m${index}/same`, { description })));

it('names what is not the same for all, and nothing else', () => {
  const one = recordOf('agent bmm/guide', { title: 'Guide', phase: 'plan', description: 'Long text' });
  const other = { ...one, moduleName: 'cis', phase: 'ship' };
  expect(differencesOf([one, other])).toEqual(['plan', 'ship']);
  expect(differencesOf([one, { ...other, title: 'Tram guide' }])).toEqual([
    'Guide, plan',
    'Tram guide, ship',
  ]);
  expect(differencesOf([one, { ...one, origin: originOf(1) }])).toEqual(['Built in', 'Project']);
  expect(differencesOf([one, one])).toEqual(['', '']);
});

it('shows of descriptions only what differs, in whole words', () => {
  expect(
    described('Initialize a new BMGD game project now, please', 'Initialize a new BMM project now, please'),
  ).toEqual(['…BMGD game…', '…BMM…']);
  expect(described('Reads the status for game dev agents', 'Reads the status for agents')).toEqual([
    '…game dev agents',
    '…agents',
  ]);
  expect(described('Short a', 'Short b')).toEqual(['Short a', 'Short b']);
  const [long = ''] = described(`${'x '.repeat(300)}end`, 'y');
  expect(long.length).toBeLessThanOrEqual(90);
});
