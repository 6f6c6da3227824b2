import { describe, expect, it } from 'vitest';
import { withoutV4Done } from './v4-activation.ts';

const AGENT = `<!-- Powered by BMAD™ Core -->

# qa

ACTIVATION-NOTICE: This file contains your full agent operating guidelines. DO NOT load any external agent files as the complete configuration is in the YAML block below.

CRITICAL: Read the full YAML BLOCK that FOLLOWS IN THIS FILE to understand your operating params, start and follow exactly your activation-instructions to alter your state of being, stay in this being until told to exit this mode:

## COMPLETE AGENT DEFINITION FOLLOWS - NO EXTERNAL FILES NEEDED

\`\`\`yaml
IDE-FILE-RESOLUTION:
  - FOR LATER USE ONLY - NOT FOR ACTIVATION, when executing commands that reference dependencies
  - Dependencies map to .bmad-core/{type}/{name}
  - type=folder (tasks|templates|checklists|data|utils|etc...), name=file-name
  - Example: create-doc.md → .bmad-core/tasks/create-doc.md
  - IMPORTANT: Only load these files when user requests specific command execution
activation-instructions:
  - STEP 1: Read THIS ENTIRE FILE - it contains your complete persona definition
  - STEP 2: Adopt the persona defined in the 'agent' and 'persona' sections below
  - STEP 3: Load and read \`.bmad-core/core-config.yaml\` (project configuration) before any greeting
  - STEP 4: Greet user with your name/role
  - DO NOT: Load any other agent files during activation
agent:
  name: Quinn
  rules:
  - STEP 1: Read THIS ENTIRE FILE - it contains your complete persona definition
\`\`\`
`;
const LOADED = { path: '.bmad-core/core-config.yaml', where: 'see Values' };

describe('an agent of version 4', () => {
  it('comes without what its delivery has done, and says which steps these were', () => {
    const lean = `# qa

\`\`\`yaml
activation-instructions:
  - [Done: STEP 1, 2, 3: \`.bmad-core/core-config.yaml\` is loaded, see Values.]
  - STEP 4: Greet user with your name/role
agent:
  name: Quinn
  rules:
  - STEP 1: Read THIS ENTIRE FILE - it contains your complete persona definition
\`\`\`
`;
    expect(withoutV4Done(AGENT, LOADED)).toBe(lean);
    expect(withoutV4Done(AGENT.replaceAll('\n', '\r\n'), LOADED)).toBe(lean);
  });

  it('still loads a configuration that is not known here', () => {
    const load = '  - STEP 3: Load and read `.bmad-core/core-config.yaml`';
    for (const loaded of [undefined, { ...LOADED, path: '.bmad-own/core-config.yaml' }]) {
      const text = withoutV4Done(AGENT, loaded);
      expect(text).toContain('  - [Done: STEP 1, 2.]\n');
      expect(text).toContain(load);
    }
  });

  it('keeps every line that somebody has changed, and rules for paths with one of them', () => {
    const changed = AGENT.replace('Read THIS ENTIRE FILE', 'Read THIS FILE ALOUD').replace(
      'name=file-name',
      'name=file-name, in lower case',
    );
    const text = withoutV4Done(changed, LOADED);
    expect(text).toContain('  - STEP 1: Read THIS FILE ALOUD');
    expect(text).toContain('  - [Done: STEP 2, 3: ');
    expect(text).toContain('IDE-FILE-RESOLUTION:\n  - FOR LATER USE ONLY');
    expect(text).toContain('  - IMPORTANT: Only load these files');
  });

  it('is left alone where there is no activation to be seen', () => {
    for (const text of ['', '# qa\n', AGENT.replace('activation-instructions:', 'activation:')])
      expect(withoutV4Done(text, LOADED)).toBe(text);
  });
});
