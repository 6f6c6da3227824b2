import { join } from 'node:path';
import { writeFiles } from '../../../tests/support/folders.ts';
import { marketplace, skill } from '../../../tests/support/skill-files.ts';
import type { Sample } from '../sample.ts';

const described = (name: string, description: string): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it well.\n`;

export async function folders({ home }: Sample): Promise<void> {
  await writeFiles(join(home, 'team-skills'), {
    'release-notes/SKILL.md': described('release-notes', 'Writes the notes of a release'),
    'review/SKILL.md': described('review', 'Reads a change and lists what could go wrong'),
  });
  await writeFiles(join(home, 'team'), {
    'agents/security-reviewer.md': described('Security Reviewer', "Reads a change with an attacker's eyes"),
  });
  await writeFiles(join(home, 'market'), {
    ...marketplace(
      { name: 'acme', source: './', skills: ['./skills/notes', './skills/polish'] },
      { name: 'tools', source: { source: 'github', repo: 'acme/tools' } },
    ),
    ...skill('skills/notes'),
  });
}
