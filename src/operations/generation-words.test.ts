import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../tests/support/app.ts';
import { done } from '../../tests/support/delegation-desk.ts';
import { KIT_FILES, writeFiles } from '../../tests/support/kit-project.ts';
import { activate } from './activation/activate.ts';
import { execute } from './execute.ts';
import { wordingOf } from './generation-words.ts';

const BASE =
  'Exécuter `python _bmad/_memory/mem0-bridge.py recall` et `python _bmad/_memory/maintenance.py`, puis `bash cc-verify.sh`.\n';

describe('a project of the custom kit', () => {
  it('has its own agents named where the server says which there are (J-O12)', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, KIT_FILES);
    const { worded } = await contextIn(folder);
    expect(worded('an agent (architect, pm, analyst, dev, ux-designer, or a persona)')).toBe(
      'an agent (fullstack-dev, project-navigator, architect, dev, or a persona)',
    );
    const many = Array.from({ length: 40 }, (_, at) => `agent-number-${at}`);
    expect(wordingOf(undefined, many)('architect, pm, analyst, dev, ux-designer').length).toBeLessThan(120);
  });

  it('has what replaces its programs before an agent that loads the base protocol (J-O12)', async () => {
    const folder = await temporaryFolder(afterAll);
    const agent = '_bmad/_config/custom/agents/fullstack-dev.md';
    await writeFiles(folder, {
      ...KIT_FILES,
      [agent]: `${KIT_FILES[agent]}Load {project-root}/_bmad/_config/custom/agent-base.md\n`,
      '_bmad/_config/custom/agent-base.md': BASE,
    });
    const context = await contextIn(folder);
    const { body } = done(await execute(activate, { name: 'fullstack-dev' }, context, testCall()));
    const envelope = body.slice(0, body.indexOf('## File'));
    expect(envelope).toContain('Instead of `mem0-bridge.py`: recall_structured');
    expect(envelope).toContain('`maintenance.py` need not be run');
    expect(envelope).toContain('Instead of `cc-verify.sh`: run_completion_contract');
  });
});
