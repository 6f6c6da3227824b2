import { describe, expect, it } from 'vitest';
import { refusal } from '../../../tests/support/thrown.ts';
import { agentName, agentTitled, titlesOf } from './agent-titles.ts';

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

describe('names of agents', () => {
  it.each(['dev', 'Été', 'bmm', 'tech-writer', 'Dr. Quinn'])('%j is one', (name) => {
    expect(agentName(` ${name} `)).toBe(name);
  });

  it.each(['../x', 'a/b', 'a\\b', 'a|b', '..', '.hidden', 'c:x', '', ' ', 'a\0b', 'a\nb', 'x'.repeat(101)])(
    '%j is none',
    async (name) => {
      expect(await refusal(() => agentName(name))).toMatchObject({
        code: 'invalid_input',
        subject: 'agent',
      });
    },
  );

  it.each(['ghp_abcdefghijklmnopqrstuvwxyz0123', 'x/password=hunter2hunter2', 'AKIAIOSFODNN7EXAMPLE'])(
    '%j is refused as a secret and not repeated',
    async (text) => {
      const error = await refusal(() => agentName(text));
      expect(error.message).toContain('looks like');
      expect(error.text).not.toContain(text);
    },
  );
});
