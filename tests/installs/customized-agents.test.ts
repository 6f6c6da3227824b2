import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseYaml, tableOf } from '../../src/base/parse/parse.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { execute } from '../../src/operations/execute.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { mergeCustomization } from '../../src/services/delivery/customize.ts';
import { handlerIn } from '../../src/services/delivery/customized-menu.ts';
import { contextIn, homeBeside, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { usually } from '../support/how-much.ts';
import { installOf } from '../support/installs.ts';
import {
  compiledByInstaller,
  COMPILING,
  type CompilingVersion,
  installedAgents,
} from '../support/old-compilers.ts';

const ONE_ACTION = 'critical_actions:\n  - "Load {project-root}/docs/rules.md"\n';
const MENU = `menu:
  - trigger: deploy
    exec: "{project-root}/tools/deploy.md"
    description: "Deploy <now> & 'later'"
  - trigger: ask
    action: "#ask-first"
    data: "{project-root}/tools/questions.csv"
    description: Ask first
`;

const MULTI = `menu:
  - multi: "[DP] Deploy or [RB] <roll back>"
    triggers:
      - deploy:
          - input: "[DP] or fuzzy match on deploy"
          - route: "{project-root}/tools/deploy.md"
            data: "{project-root}/tools/targets.csv"
            type: exec
      - roll-back:
          - input: '[RB] or "undo"'
          - action: "#undo"
            type: action
      - plan:
          - input: "[PL]"
          - route: "{project-root}/tools/plan/workflow.yaml"
`;

/** What people write, each part alone and all together. */
const CUSTOMIZATIONS: Record<string, string> = {
  nothing: 'agent:\n  metadata:\n    name: ""\npersona:\n  role: ""\n  principles: []\nmenu: []\n',
  'a name': 'agent:\n  metadata:\n    name: "Marianne \\"M\\""\n',
  'a title and an icon': 'agent:\n  metadata:\n    title: Head of "Everything"\n    icon: 🦊\n',
  'one field of the persona': 'persona:\n  role: A <careful> reader & writer\n',
  'the whole persona':
    'persona:\n  role: |\n    Two\n    lines\n  identity: Somebody else\n  communication_style: "Short; \'dry\'"\n  principles:\n    - First\n    - Second & third\n',
  'principles as a text': 'persona:\n  principles: |\n    - One\n    - Two\n',
  'a critical action': ONE_ACTION,
  'several critical actions': `${ONE_ACTION}  - |\n    First this\n    then that\n  - Last\n`,
  memories: 'memories:\n  - The team\'s language is "French"\n  - 42\n',
  'a menu': MENU,
  prompts: 'prompts:\n  - id: ask-first\n    content: |\n      Ask, then act.\n      <Never> guess.\n',
  'an entry for several things': MULTI,
  'several things beside others': `${MENU}${MULTI.slice(MULTI.indexOf('\n') + 1)}`,
  everything: `agent:\n  metadata:\n    name: Nina\npersona:\n  role: R\n  identity: I\n${ONE_ACTION}memories:\n  - M\n${MENU}prompts:\n  - id: ask-first\n    content: Ask.\n`,
};

const kinds = Object.keys(CUSTOMIZATIONS);
const ROUNDS = [0, 6];

const customized = (text: string) => tableOf(parseYaml('customize.yaml', text));

describe('agents that an installer compiled', () => {
  const cleanUps: (() => Promise<void>)[] = [];
  const counts: string[] = [];
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
    process.stderr.write(`${counts.join('\n')}\n`);
  });

  it.each(usually(Object.keys(COMPILING) as CompilingVersion[]))(
    'M-04, M-37: are byte for byte what the installer of %s makes of them and a customization',
    async (version) => {
      const installed = await installedAgents(version);
      const handler = async (type: string): Promise<string | undefined> =>
        [...installed.values()].map((text) => handlerIn(text, type)).find((found) => found !== undefined);
      let compared = 0;
      // Each agent gets another customization in each round, so that few rounds try them all.
      for (const round of ROUNDS) {
        const scratch = await temporaryFolder((cleanUp) => cleanUps.push(cleanUp));
        const names = [...installed.keys()];
        const kindOf = (name: string): string => {
          const kind = kinds[(names.indexOf(name) + round) % kinds.length] ?? '';
          // The first alphas do not know such entries and leave an empty one, which nobody misses.
          return version === '6.0.0-alpha.7' && CUSTOMIZATIONS[kind]?.includes('multi:') ? 'a menu' : kind;
        };
        const yamlOf = (name: string): string => CUSTOMIZATIONS[kindOf(name)] ?? '';
        const expected = await compiledByInstaller(version, yamlOf, scratch);
        expect(expected.size, version).toBeGreaterThan(8);
        for (const [name, text] of expected) {
          const [what, table] = [`${version} ${name} with ${kindOf(name)}`, customized(yamlOf(name))];
          const ours = await mergeCustomization(installed.get(name) ?? '', table, handler);
          expect(ours.text, what).toBe(text);
          const again = await mergeCustomization(text, table, handler);
          expect(again.text, `${what}, merged again`).toBe(text);
          compared += 1;
        }
      }
      counts.push(`${version}: ${compared} compiled agents equal, merged once and twice`);
    },
  );

  /** The agents of 6.0.4 as an installer left them, without the workflows, which take no part in this. */
  async function agentsIn(place: (folder: string) => string, customize: string): Promise<string> {
    const folder = await temporaryFolder((cleanUp) => cleanUps.push(cleanUp));
    await cp(join(await installOf('6.0.4'), '_bmad'), place(folder), {
      recursive: true,
      filter: (path) => !/[\\/]workflows$/.test(path),
    });
    await writeFiles(place(folder), { '_config/agents/bmm-pm.customize.yaml': customize });
    return folder;
  }

  const started = async (folder: string, home: string, name = 'bmm/pm'): Promise<string> => {
    const context = await contextIn(folder, { home });
    const outcome = await execute(activate, { name, kind: 'agent', detail: 'full' }, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    return outcome.answer.body;
  };

  it('M-04, M-37: are started with the customization of the project and of the home folder', async () => {
    const home = await agentsIn((folder) => join(folder, '.bmad'), CUSTOMIZATIONS['everything'] ?? '');
    const empty = await temporaryFolder((cleanUp) => cleanUps.push(cleanUp));
    const fromHome = await started(empty, home);
    expect(fromHome).toContain(
      `customize.yaml\` is merged into this file (name, persona, critical actions (1), memories (1), prompts (1), menu (2 entries)): do not merge it again.`,
    );
    expect(fromHome).toContain('<agent id="pm.agent.yaml" name="Nina"');
    expect(fromHome).toContain('    <memory>M</memory>\n');
    const project = await agentsIn((folder) => join(folder, '_bmad'), 'memories:\n  - Of the project\n');
    const ofProject = await started(project, home);
    expect(ofProject).toContain(
      '- `_bmad/_config/agents/bmm-pm.customize.yaml` is merged into this file (memories (1)): do not merge it again.\n',
    );
    expect(ofProject).not.toContain('Nina');
    // Nothing is claimed of an agent whose template nobody has filled in.
    expect(await started(project, home, 'bmm/architect')).not.toMatch(
      /customiz(?:e|ation)[^\n]*(?:merged|compiled)/i,
    );
  });

  it('M-04: are served without a customization that cannot be read, which is told', async () => {
    const project = await agentsIn((folder) => join(folder, '_bmad'), 'persona: [\n');
    const text = await started(project, homeBeside(project));
    expect(text).toMatch(/## Problems\n\n- _bmad\/_config\/agents\/bmm-pm\.customize\.yaml:\d+: /);
    expect(text).toContain('name="John"');
    expect(text).not.toContain('do not merge it again');
    const context = await contextIn(project);
    const outcome = await execute(doctor, { handshake: false }, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    expect(outcome.data['problems']).toEqual([
      expect.stringMatching(/^_bmad\/_config\/agents\/bmm-pm\.customize\.yaml:\d+: /),
    ]);
  });
});
