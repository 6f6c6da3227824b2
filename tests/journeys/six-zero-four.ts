import { EPICS, ledger, steps, story, upTo } from '../support/progress-trees/pieces.ts';
import type { Journey } from '../support/journey.ts';

const plans = '_bmad-output/planning-artifacts';
const work = '_bmad-output/implementation-artifacts';

/** A project of 6.0.4: its names, its steps, its review. */
export const SIX_ZERO_FOUR: Journey = {
  name: 'of a project of 6.0.4',
  tokens: 21_500,
  moves: [
    {
      wants: 'where are we',
      call: ['bmad', { operation: 'next' }],
      says: ['create-product-brief'],
      atMost: 900,
    },
    {
      wants: 'what there is',
      call: ['bmad', { operation: 'list', query: 'workflows' }],
      says: ['create-prd', 'dev-story'],
      never: ['forge-idea', '**build**'],
      atMost: 5_600,
    },
    {
      wants: 'a PRD by the name of today',
      call: ['bmad', { operation: 'execute', workflow: 'prd', message: 'a shop for plants' }],
      says: ['bmm/create-prd', 'a shop for plants', plans],
      never: ['built in;'],
      atMost: 5_000,
    },
    {
      wants: 'its first step, by the path in the text',
      call: ['bmad', { operation: 'read', workflow: 'create-prd', uri: './steps-c/step-01-init.md' }],
      says: ['step-01'],
      atMost: 8_700,
    },
    {
      wants: 'the configuration, by the path in the text',
      call: ['bmad', { operation: 'read', uri: '{project-root}/_bmad/bmm/config.yaml' }],
      says: ['planning_artifacts'],
      atMost: 800,
    },
    {
      wants: 'an architecture, by the code of the menu',
      writes: { [`${plans}/prd.md`]: steps(...upTo(12)) },
      call: ['bmad', { operation: 'execute', workflow: 'CA' }],
      says: ['bmm/create-architecture', 'prd.md'],
      atMost: 4_200,
    },
    {
      wants: 'to prepare the first story',
      writes: {
        [`${plans}/architecture.md`]: steps(...upTo(8)),
        [`${plans}/epics.md`]: EPICS,
        [`${work}/sprint-status.yaml`]: ledger({
          'epic-1': 'in-progress',
          '1-1-setup': 'ready-for-dev',
          '1-2-login': 'backlog',
        }),
        [`${work}/1-1-setup.md`]: story('1.1', 'ready-for-dev'),
      },
      call: ['bmad', { operation: 'next' }],
      says: ['dev-story', '1-1-setup'],
      never: ['disagrees'],
      atMost: 1_100,
    },
    {
      wants: 'to develop it',
      call: ['bmad', { operation: 'execute', workflow: 'dev-story', message: '1-1-setup' }],
      says: ['bmm/dev-story', '- `story_key`: 1-1-setup'],
      never: ['PART of'],
      // All of it in one call, which took four.
      atMost: 25_000,
    },
    {
      wants: 'the next step when it is developed',
      writes: {
        [`${work}/sprint-status.yaml`]: ledger({
          'epic-1': 'in-progress',
          '1-1-setup': 'review',
          '1-2-login': 'backlog',
        }),
        [`${work}/1-1-setup.md`]: story('1.1', 'review'),
      },
      call: ['bmad', { operation: 'next' }],
      says: ['code-review', '1-1-setup'],
      atMost: 1_100,
    },
    {
      wants: 'a skill that 6.0.4 does not have',
      call: ['bmad', { operation: 'execute', workflow: 'forge-idea' }],
      says: [/^This comes from BMAD 6\.12\.0, which is built in; the project has BMAD 6\.0\.4\./],
      atMost: 16_500,
    },
    {
      wants: 'a story that is not done to be done',
      writes: {
        [`${work}/sprint-status.yaml`]: ledger({
          'epic-1': 'in-progress',
          '1-1-setup': 'done',
          '1-2-login': 'backlog',
        }),
      },
      call: ['bmad', { operation: 'next', detail: 'full' }],
      says: ['1-1-setup', 'review'],
      atMost: 2_600,
    },
    {
      wants: 'a file that was never written',
      call: ['bmad', { operation: 'read', uri: 'bmad://bmm/workflows/dev-story/invented.md' }],
      refused: true,
      atMost: 300,
    },
    {
      wants: 'to go on with an old cursor',
      call: ['bmad', { cursor: 'b2xkLW9uZQ' }],
      refused: true,
      says: [/[Cc]ursor/],
      atMost: 400,
    },
  ],
};
