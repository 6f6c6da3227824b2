import { writeFiles } from '../../../tests/support/folders.ts';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { WEB_CONTEXT } from '../../../tests/support/kit-trees.ts';
import type { Sample } from '../sample.ts';

export async function kit({ project }: Sample): Promise<void> {
  await writeFiles(project, {
    ...KIT_FILES,
    'go.mod': 'module shop\n',
    '_bmad/_memory/shared-context.md': WEB_CONTEXT,
  });
}
