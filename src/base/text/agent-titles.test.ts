import { expect, it } from 'vitest';
import { agentTitled, titlesOf } from './agent-titles.ts';

it.each([
  ['architecte', 'architect'],
  ['Développeuse', 'dev'],
  ['developpeur', 'dev'],
  ['chef-de-produit', 'pm'],
  ['Rédacteur technique', 'tech-writer'],
  ['architecte de tests', 'tea'],
  ["l'architecte système", 'architect'],
  ['la développeuse', 'dev'],
])('M-41: %s is %s', (title, id) => {
  expect(agentTitled(title)).toBe(id);
});

it('knows no other names, and the titles of an agent by its id', () => {
  expect(['architect', 'Winston', 'constructor', ''].map(agentTitled)).toEqual(Array(4).fill(undefined));
  expect(titlesOf('architect')).toContain('architecte');
  expect(titlesOf('constructor')).toEqual([]);
});
