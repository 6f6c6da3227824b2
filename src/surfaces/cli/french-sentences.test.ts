import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { bmadHere } from '../../../tests/support/command-line.ts';
import { englishIn } from '../../../tests/support/half-french.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';

/** Commands that read, and some that refuse; those that deliver BMAD's own texts are left out. */
const READING = `
  list
  list workflows --limit 3
  list --deprecated
  search nothing-has-this-name
  search story
  explain prd
  explain dev-story
  read nowhere
  execute nowhere
  usage
  code cart
  next
  next --detail full
  status
  inbox
  story brief 1-1
  project context
  project failures
  memory list
  memory stats
  memory recall cache
  memory status
  state
  project state
  run list
  run status nothing
  task list
  task show x
  contract verify
  contract receipts
  trust
  trust list
  delivery list
  sources list
  sources list --copies
  cache
  cache list
  config show
  config check
  hosts
  doctor
  doctor --no-handshake --path /no/such/folder
  list --discovery local
  next --discovery local
  doctor --no-handshake --discovery local
`
  .trim()
  .split(/\n\s*/);

const SETTINGS = {
  '.config/bmad-mcp-server/config.toml': 'page_size = 20\nno_key = 1\ngit = ["git+nonsense"]\n',
};

describe.each([
  ['an empty project', {}],
  ['a used project', KIT_FILES],
])('in %s, on a French command line', (_name, files) => {
  it.each(READING)('bmad %s says nothing half in English (B-06)', async (typed) => {
    const home = await temporaryFolder(afterAll);
    const cwd = `${home}/boutique`;
    await writeFiles(home, SETTINGS);
    await writeFiles(cwd, { 'package.json': '{"scripts":{"test":"node --version"}}', ...files });
    const env = {
      HOME: home,
      PATH: process.env['PATH'] ?? '',
      LANG: 'fr_FR.UTF-8',
      BMAD_PAGE_SIZE: '9',
      BMAD_EMBEDDER: 'none',
    };
    const { screen } = await bmadHere(typed.split(' '), { cwd, env });
    expect(englishIn(screen)).toEqual([]);
  });
});
