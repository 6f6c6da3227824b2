import { afterAll, describe, expect, it } from 'vitest';
import { qualifiedName } from '../../src/model/record.ts';
import type { Context } from '../../src/operations/context.ts';
import { read as readFile } from '../../src/operations/catalogue/read.ts';
import { execute } from '../../src/operations/execute.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { partsOf, startable } from '../support/delivered.ts';
import { writeFiles } from '../support/folders.ts';
import { installOf } from '../support/installs.ts';

/** What is followed of a text before its own work: its activation, or the orders it begins with. */
const BEGINNING = /^## (?:On Activation|Execution)\n(.*?)(?=^## |^----- END )/gms;

/** What the server does for every text. */
const DONE_HERE = /config\.yaml|resolve_customization\.py|\.activation_steps_|\.persistent_facts/;

/** What is built in, in a folder with these files. */
const builtIn = async (files: Readonly<Record<string, string>> = {}): Promise<Context> => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return contextIn(folder, { env: { PATH: process.env['PATH'] } });
};

describe('a text of 6.12 that is built in', () => {
  it.each(['prd', 'product-brief', 'architecture', 'ux', 'spec', 'sprint-planning', 'retrospective'])(
    'says in its first part what to do instead of a script: %s',
    async (name) => {
      const [first = ''] = await partsOf(name, 'workflow', await builtIn());
      const place = first.search(/\w+\.py(?! )/);
      expect(first.slice(place)).toMatch(/^\[Instead of `\w+\.py`, do this yourself: /m);
    },
  );

  it('names its steps in order', async () => {
    const context = await builtIn();
    expect((await partsOf('create-epics-and-stories', 'workflow', context))[0]).toContain(
      '- Its files: `steps/step-{01-validate-prerequisites,02-design-epics,03-create-stories,04-final-validation}.md`, `templates/epics-template.md`.',
    );
    expect((await partsOf('code-review', 'workflow', context))[0]).toMatch(
      /^- Its files: `steps\/step-\{01-gather-context,02-review,03-triage,04-present\}\.md`(?:, |; \d more: )/m,
    );
  });

  it('names the files of the lenses that are asked for, with what they load first', async () => {
    const { body } = await conversation(await builtIn())({
      workflow: 'bmad-review',
      message: 'lenses=structure,prose on docs/brief.md',
    });
    expect(body).toMatch(
      /^> Its files for these lenses, in order: `references\/editorial-common\.md`, `references\/structure-models\.md`, `references\/lens-structure\.md`, `references\/lens-prose\.md`\.$/m,
    );
  });

  it('says under a step that is read what is empty, and who does what it calls by an old name', async () => {
    const context = await builtIn({ 'README.md': '# Shop\n' });
    const read = async (target: string) => {
      const answer = await execute(readFile, { target }, context, testCall());
      if (!answer.ok) throw answer.error;
      return answer.data;
    };
    expect(await read('bmad://bmm/ship/bmad-code-review/steps/step-04-present.md')).toMatchObject({
      asides: [
        'Nothing has to be run at its end: `workflow.on_complete` is empty.',
        'What it calls `dev-story` is `build` here.',
      ],
    });
    expect(await read('bmad://bmm/ship/bmad-code-review/steps/step-02-review.md')).not.toHaveProperty(
      'asides',
    );
  });
});

describe.each(['built in', '6.12.0'] as const)('what is started: %s', (version) => {
  const opened = async (): Promise<Context> =>
    version === 'built in'
      ? contextIn(await temporaryFolder(afterAll))
      : contextIn(await installOf(version), { flags: { discovery: 'local' } });

  it('does not order what is done', async () => {
    const context = await opened();
    const left: string[] = [];
    let seen = 0;
    for (const record of await startable(context)) {
      const name = qualifiedName(record);
      const whole = (await partsOf(name, record.kind === 'agent' ? 'agent' : 'workflow', context)).join('');
      // Old names bring their own settings and get every word; so does one whose settings say something.
      if (whole.includes('is deprecated; it forwards to')) continue;
      for (const [, section = ''] of whole.matchAll(BEGINNING)) {
        seen += 1;
        left.push(
          ...section
            .split('\n')
            .filter((line) => DONE_HERE.test(line))
            .map((line) => `${name}: ${line}`),
        );
      }
    }
    expect(left).toEqual([]);
    expect(seen).toBeGreaterThan(20);
  });
});
