import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { readKitSettings } from './configuration.ts';

describe('what the files of the kit set', () => {
  it('is told with its line, in a table, in quotes, and on one line with it', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, {
      'project-context.yaml': `# name: no\nname: not this one\n"project" :\n  'name': shop\nuser: {name: Ada, language: French}\n`,
      '_bmad/_memory/config.yaml': 'other: 1\nuser_name: Bob\n',
    });
    const { context, memory, problems } = await readKitSettings(root);
    expect(problems).toEqual([]);
    expect(context?.values).toEqual({
      project_name: { value: 'shop', line: 4 },
      user_name: { value: 'Ada', line: 5 },
      communication_language: { value: 'French', line: 5 },
    });
    expect(memory?.values).toEqual({ user_name: { value: 'Bob', line: 2 } });
  });
});
