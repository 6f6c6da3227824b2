import { describe, expect, it } from 'vitest';
import type { BmadRecord } from '../../model/record.ts';
import { agentCharacter, tidyText } from './agent-character.ts';

type Source = Parameters<typeof agentCharacter>[0];

function character(format: BmadRecord['format'], main: string, more: Partial<Source> = {}) {
  const record = { name: 'x', displayName: 'Xenia', bmadRelativePath: 'x.md', format } as BmadRecord;
  const { parts, elsewhere } = agentCharacter({ record, main, customization: {}, values: [], ...more });
  return {
    parts: Object.fromEntries(parts.map(({ title, text }) => [title, text])),
    parts_: parts,
    elsewhere,
  };
}

describe('the character of a compiled agent', () => {
  const file = [
    '<!-- <role>not this</role> -->',
    '```xml',
    '<agent id="x" name="Xenia">',
    '<activation critical="MANDATORY">',
    '<step n="1">Load persona from this current agent file (already in context)</step>',
    '<step n="2">⚙️ BASE PROTOCOL — Load and apply {project-root}/_bmad/_config/custom/agent-base.md with:\n AGENT_TAG=x</step>',
    '<step n="3">NEVER lie about tests</step>',
    '<step n="4">STOP and WAIT for user input</step>',
    '<rules><r>Speak {communication_language}.</r><r> Stay in character until exit selected</r></rules>',
    '</activation>',
    '<persona><role>Guide &amp; friend</role><quirks>Likes tea</quirks></persona>',
    '<menu><item cmd="CH">[CH] Chat</item></menu>',
    '</agent>',
    '```',
  ].join('\n');

  it('has persona and rules, without greeting and menu', () => {
    const { parts, elsewhere, parts_ } = character('compiled-agent', file, {
      values: [['communication_language', 'French']],
    });
    expect(parts).toEqual({
      Role: 'Guide & friend',
      'Critical actions': '- NEVER lie about tests',
      Rules: '- Speak French.',
      Quirks: 'Likes tea',
    });
    expect(parts_.map(({ title }) => title)).toEqual(['Role', 'Critical actions', 'Rules', 'Quirks']);
    expect(elsewhere).toEqual(['the base protocol ({project-root}/_bmad/_config/custom/agent-base.md)']);
  });

  it('is the text of the file where the tags are missing', () => {
    expect(character('compiled-agent', '---\nname: x\n---\nA plain guide.\n').parts).toEqual({
      Definition: 'A plain guide.',
    });
  });
});

describe('the character of an agent of version 4', () => {
  it('has what its persona says, and what else has a key', () => {
    const { parts } = character(
      'v4-agent',
      '# x\n\n```yaml\nactivation-instructions:\n  - STEP 1: Read THIS\n  - Never skip elicitation\npersona:\n  role: Guide\n  style: Calm\n  core_principles:\n    - Be kind\n    - [a, b]\nquality-gates:\n  first: tests\ncommands:\n  - help\n```\n',
    );
    expect(parts).toMatchObject({
      Role: 'Guide',
      'Communication style': 'Calm',
      Rules: '- Never skip elicitation',
      'Quality gates': 'first: tests',
    });
    expect(parts['Principles']).toContain('- Be kind');
    expect(parts).not.toHaveProperty('Commands');
  });

  it('is the text of the file where the YAML is broken', () => {
    expect(Object.keys(character('v4-agent', '# x\n\n```yaml\npersona: [\n```\n').parts)).toEqual([
      'Definition',
    ]);
  });
});

describe('the character of a skill', () => {
  const main =
    '---\nname: x\n---\n# X\n\n## Overview\n\nYou are X.\n\n## Identity\n\nOld.\n\n## On Activation\n\nGreet.\n\n## Limits\n\nNo law.\n';

  it('has its merged table over the sections of its text', () => {
    const { parts, elsewhere } = character('skill', main, {
      customization: {
        agent: {
          identity: 'New.',
          principles: ['One', 'Two'],
          persistent_facts: ['We are AWS-only.', 'file:{project-root}/docs/standards.md'],
        },
      },
    });
    expect(parts).toEqual({
      Overview: 'You are X.',
      Identity: 'New.',
      Principles: '- One\n- Two',
      Facts: '- We are AWS-only.',
      Limits: 'No law.',
    });
    expect(elsewhere).toEqual(['facts in {project-root}/docs/standards.md']);
  });

  it('has what stands before its first section, and below its title', () => {
    const { parts, parts_ } = character(
      'skill',
      '---\nname: x\n---\nYou never give legal advice.\n\n# X\n\nYou are Ada, a baker.\n\n## Limits\n\nNo law.\n',
    );
    expect(parts).toEqual({
      Definition: 'You never give legal advice.\n\nYou are Ada, a baker.',
      Limits: 'No law.',
    });
    expect(parts_[0]?.title).toBe('Definition');
  });

  it('has what stands below several titles', () => {
    expect(
      character(
        'skill',
        '# Role\n\nBaker.\n\n# Activation\n\nGreet.\n\n# Ways\n\nCalm.\n\n## Limits\n\nNo law.\n',
      ).parts,
    ).toEqual({ Role: 'Baker.', Ways: 'Calm.', Limits: 'No law.' });
  });

  it('has a text without sections beside its table', () => {
    const { parts } = character('skill', 'You bake.\n\n### Bread\n\nRye.\n', {
      customization: { agent: { role: 'Baker' } },
    });
    expect(parts).toEqual({ Role: 'Baker', Definition: 'You bake.\n\n### Bread\n\nRye.' });
  });

  it('keeps lists below lists, and code', () => {
    const text = '- One\n  - Two\n\n```\nif x:\n      y\n```';
    expect(character('skill', `# X\n\n## Principles\n\n${text}\n`).parts).toEqual({ Principles: text });
  });
});

it.each([
  ['takes away what all lines are indented by', '\n    - a\n      - b\n    - c\n', '- a\n  - b\n- c'],
  ['keeps a list below another', '- a\n  - b\n    - c\n  - d', '- a\n  - b\n    - c\n  - d'],
  ['drops blank ends and runs of blank lines', 'a  \n\n\n \nb\r\n', 'a\n\nb'],
  [
    'leaves code in a fence as it is',
    'x\n```\nif a:\n        b\n\n\n    c  \n```\n\n\ny',
    'x\n```\nif a:\n        b\n\n\n    c  \n```\n\ny',
  ],
  ['gives nothing for nothing', ' \n \n', ''],
])('%s', (_what, text, tidied) => {
  expect(tidyText(text)).toBe(tidied);
});

it('does not count the first line of what begins behind a tag', () => {
  expect(tidyText('- a\n      - b\n        - c', true)).toBe('- a\n- b\n  - c');
});
