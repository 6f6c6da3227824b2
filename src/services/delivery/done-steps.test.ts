import { describe, expect, it } from 'vitest';
import { withoutConfigLoad, withoutDone, withoutLoading } from './done-steps.ts';

const HEAD = '---\nname: bmad-plan\ndescription: Plan. Use when the user says "plan"\n---\n\n# Plan\n';
const ACTIVATION = `
## On Activation

1. Resolve customization: \`uv run {project-root}/_bmad/scripts/resolve_customization.py --skill {skill-root} --key workflow\`. On failure, read \`{skill-root}/customize.toml\` directly and use defaults.
2. Execute each entry in \`{workflow.activation_steps_prepend}\` in order.
3. Load \`{project-root}/_bmad/bmm/config.yaml\` (and \`config.user.yaml\` if present). Resolve \`{user_name}\`, \`{date}\`.
4. Greet \`{user_name}\`.

Execute each entry in \`{workflow.activation_steps_append}\` in order.

## Plan

Do it.
`;

const known = (workflow: Record<string, unknown> = {}) => ({
  customization: {
    workflow: { activation_steps_prepend: [], activation_steps_append: [], ...workflow },
  },
  hasValue: (name: string) => ['user_name', 'date'].includes(name),
});

describe('the text of a skill', () => {
  it('is delivered without its front matter and the steps that are done, which are counted', () => {
    expect(withoutDone(HEAD + ACTIVATION, known())).toBe(
      '# Plan\n\n## On Activation\n\n[Steps 1, 2, 3 are done. Do the rest, in order, before you continue.]\n\n4. Greet `{user_name}`.\n\n## Plan\n\nDo it.\n',
    );
  });

  it('keeps a step that has something to do, and one with a value that is not known', () => {
    const hooked = withoutDone(ACTIVATION, known({ activation_steps_prepend: ['Say hello'] }));
    expect(hooked).toContain('[Steps 1, 3 are done.');
    expect(hooked).toContain('2. Execute each entry in `{workflow.activation_steps_prepend}` in order.\n');
    const unknown = withoutDone(ACTIVATION.replace('{date}', '{moon}'), known());
    expect(unknown).toContain('[Steps 1, 2 are done.');
    expect(unknown).toContain('Resolve `{user_name}`, `{moon}`.');
  });

  it('has the loading of the configuration marked wherever it is, and nothing that is ordered with it left out', () => {
    const load =
      'Load config from `{project-root}/_bmad/bmm/config.yaml` and resolve:\n\n- `user_name`\n- `date` as system-generated current datetime\n- YOU MUST SPEAK\n';
    const { hasValue } = known();
    expect(withoutConfigLoad(load, hasValue)).toBe(
      '[Done: the configuration is loaded, see Values.]\n- YOU MUST SPEAK\n',
    );
    expect(withoutConfigLoad(load.replace('user_name', 'moon'), hasValue)).toContain('Load config from');
    expect(withoutConfigLoad(load.replace('and resolve', 'and print'), hasValue)).toContain('Load config');
  });

  it('has no end to ask for where that is empty', () => {
    const end =
      'Run: `uv run x/resolve_customization.py --skill s --key workflow.on_complete`\n\nIf the resolved `workflow.on_complete` is non-empty, follow it as the final terminal instruction before exiting.\n';
    expect(withoutDone(end, known({ on_complete: '' }))).toBe('[Nothing to run: on_complete is empty.]\n');
    expect(withoutDone(end, known({ on_complete: 'Bow' }))).toBe(end);
  });

  it('keeps a step whose settings are of a table that is not known', () => {
    const own = ACTIVATION.replaceAll('{workflow.', '{squad.');
    expect(withoutDone(own, known())).toContain(
      '2. Execute each entry in `{squad.activation_steps_prepend}`',
    );
  });

  it('keeps a section that only begins with the same words', () => {
    const text = ACTIVATION.trimStart().replace('## On Activation', '## On Activation of others');
    expect(withoutDone(text, known())).toBe(text);
  });

  it('keeps every word beside what is done of a step, and settings that nobody has merged', () => {
    const more = ACTIVATION.replace('use defaults.', 'use defaults. Then bow.');
    expect(withoutDone(more, known())).toContain('\n\n1. [Done.] Then bow.\n4. Greet');
    expect(withoutDone(more, known())).toContain('[Steps 2, 3 are done.');
    const kept = withoutDone(ACTIVATION, { ...known(), customization: {} });
    expect(kept).toContain('[Steps 1, 3 are done.');
  });

  it('says what is done of work that has no activation of its own', () => {
    const [, first = ''] = /^1\. (.+)$/m.exec(ACTIVATION) ?? [];
    const text = `# Review\n\n## Execution\n\n1. ${first} Bow.\n2. Then execute each \`{workflow.activation_steps_append}\` entry in order.\n\n## Output\n`;
    expect(withoutDone(text, known())).toBe(
      '# Review\n\n## Execution\n\n1. [Done.] Bow.\n2. [Done.]\n\n## Output\n',
    );
  });

  it('says what values are for where it does not load them', () => {
    const load =
      'Load config from `{project-root}/_bmad/bmm/config.yaml` and resolve:\n- Use `{user_name}` for greeting\n';
    const { hasValue } = known();
    expect(withoutConfigLoad(load, hasValue)).toBe(
      '[Done: the configuration is loaded, see Values.]\n- Use `{user_name}` for greeting\n',
    );
    expect(withoutConfigLoad(load.replace('{user_name}', '{moon}'), hasValue)).toContain('Load config');
  });

  it('keeps front matter that says more, other conventions, and a text with other line ends', () => {
    const texts = [
      '---\nname: a\ndescription: b\noutputFile: c.md\n---\n\n# A\n',
      '# A\n\n## Conventions\n\n- `{project-root}`-prefixed paths resolve from the project working directory.\n- Use tabs.\n\n## B\n',
      ACTIVATION.replaceAll('\n', '\r\n'),
    ];
    for (const text of texts) expect(withoutDone(text, known())).toBe(text);
  });
});

describe('a compiled agent', () => {
  const agent = `<activation critical="MANDATORY">
      <step n="2">🚨 IMMEDIATE ACTION REQUIRED - BEFORE ANY OUTPUT:
          - Load and read {project-root}/_bmad/bmm/config.yaml NOW
          - Store ALL fields as session variables: {user_name}, {output_folder}
          - VERIFY: If config not loaded, STOP and report error to user
          - DO NOT PROCEED to step 3 until config is successfully loaded and variables stored
      </step>
      <step n="3">Remember: user's name is {user_name}</step>`;

  it('does not load the configuration where all of it is known', () => {
    expect(withoutLoading(agent, () => true)).toBe(
      '<activation critical="MANDATORY">\n      <step n="2">[Done: the configuration is loaded, see Values.]</step>\n      <step n="3">Remember: user\'s name is {user_name}</step>',
    );
    expect(withoutLoading(agent, (name) => name === 'user_name')).toBe(agent);
  });
});
