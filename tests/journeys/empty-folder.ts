import type { Journey } from '../support/journey.ts';
import { ARCHITECTURE, BRIEF, EPICS, ledger, PRD, spec } from './plant-care.ts';

const plans = '_bmad-output/planning-artifacts';
const work = '_bmad-output/implementation-artifacts';

/** From an empty folder, with the built-in BMAD, to an epic that is built, reviewed and looked back on. */
export const EMPTY_FOLDER: Journey = {
  name: 'from an empty folder to a finished epic, in English',
  tokens: 28_000,
  moves: [
    {
      wants: 'where are we',
      call: ['bmad', { operation: 'next' }],
      says: [/brief|brainstorm/i],
      atMost: 900,
    },
    {
      wants: 'what there is',
      call: ['bmad', { operation: 'list', query: 'workflows', category: 'plan' }],
      says: ['prd', 'architecture'],
      atMost: 2_200,
    },
    {
      wants: 'an analyst',
      call: ['bmad', { operation: 'execute', agent: 'analyst', message: 'I forget to water my plants' }],
      says: ['Mary', 'I forget to water my plants'],
      atMost: 7_000,
    },
    {
      wants: 'a brief',
      call: [
        'bmad',
        {
          operation: 'execute',
          workflow: 'product-brief',
          message: 'a program that says which plants are due',
        },
      ],
      says: [plans],
      atMost: 12_200,
    },
    {
      wants: 'the next step after the brief',
      writes: { [`${plans}/briefs/brief-plant-care-2026-11-16/brief.md`]: BRIEF },
      call: ['bmad', { operation: 'next' }],
      says: [/prd/i],
      atMost: 500,
    },
    {
      wants: 'a PRD',
      call: ['bmad', { operation: 'execute', workflow: 'prd', message: 'go on from the brief' }],
      says: ['brief.md', 'No sub-agents?', '2. [Done.] Research itself', /The time now: \d{4}-/],
      never: ['{workflow.activation_steps_prepend}'],
      atMost: 7_200,
    },
    {
      wants: 'the next step after the PRD',
      writes: { [`${plans}/prds/prd-plant-care-2026-11-16/prd.md`]: PRD },
      call: ['bmad', { operation: 'next' }],
      says: [/architecture/i],
      atMost: 800,
    },
    {
      wants: 'an architecture',
      call: ['bmad', { operation: 'execute', workflow: 'architecture' }],
      says: ['prd.md'],
      atMost: 8_900,
    },
    {
      wants: 'to keep a decision',
      writes: {
        [`${plans}/architecture/architecture-plant-care-2026-11-16/ARCHITECTURE-SPINE.md`]: ARCHITECTURE,
      },
      call: [
        'remember_structured',
        {
          type: 'decision',
          agent: 'architect',
          text: 'All plants are in one JSON file, written beside itself and renamed',
          tags: ['architecture'],
        },
      ],
      says: [/[Kk]ept|[Ss]tored|[Rr]emember/],
      atMost: 700,
    },
    {
      wants: 'the architecture in the project context',
      call: ['get_project_context', { section: 'architecture' }],
      says: ['one JSON file', 'ARCHITECTURE-SPINE.md'],
      never: ['Nothing is filled in', 'None yet'],
      atMost: 700,
    },
    {
      wants: 'epics and stories',
      call: ['bmad', { operation: 'execute', workflow: 'create-epics-and-stories' }],
      says: [`${plans}/prds/prd-plant-care-2026-11-16/prd.md`, 'No questions wanted'],
      never: ['Load config from'],
      atMost: 5_300,
    },
    {
      wants: 'the next step after the epics',
      writes: { [`${plans}/epics.md`]: EPICS },
      call: ['bmad', { operation: 'next' }],
      says: [/sprint-planning/],
      atMost: 600,
    },
    {
      wants: 'a plan of the sprint',
      call: ['bmad', { operation: 'execute', workflow: 'sprint-planning' }],
      says: ['epics.md', '4. [Done.] Stay in'],
      never: ['_bmad/bmm/config.yaml'],
      atMost: 7_000,
    },
    {
      wants: 'the first story',
      writes: { [`${work}/sprint-status.yaml`]: ledger('backlog', 'backlog', 'backlog') },
      call: ['bmad', { operation: 'next' }],
      says: ['1-1-add-a-plant', 'build'],
      atMost: 600,
    },
    {
      wants: 'to build it',
      call: ['bmad', { operation: 'execute', workflow: 'build', message: 'story 1-1-add-a-plant' }],
      says: ['1-1-add-a-plant', 'needs the user'],
      atMost: 5_500,
    },
    {
      wants: 'its second step',
      call: ['bmad', { operation: 'read', uri: 'bmad://rendered/bmad-build/step-02-plan.md' }],
      says: ['# Step 2'],
      atMost: 7_200,
    },
    {
      wants: 'what the developer has to know',
      call: ['bmad', { operation: 'context', agent: 'dev', message: 'story 1-1-add-a-plant', budget: 3_000 }],
      says: ['one JSON file'],
      atMost: 8_600,
    },
    {
      wants: 'the next step when it is built',
      writes: {
        [`${work}/spec-1-1-add-a-plant.md`]: spec('Add a plant', 'done'),
        [`${work}/sprint-status.yaml`]: ledger('review', 'backlog'),
      },
      call: ['bmad', { operation: 'next' }],
      says: ['code-review', '1-1-add-a-plant'],
      never: ['disagrees'],
      atMost: 900,
    },
    {
      wants: 'a review',
      call: ['bmad', { operation: 'execute', workflow: 'code-review', message: 'story 1-1-add-a-plant' }],
      says: ['1-1-add-a-plant'],
      atMost: 8_200,
    },
    {
      wants: 'what was decided before',
      call: ['recall_structured', { query: 'how is the list of plants stored' }],
      says: ['one JSON file'],
      atMost: 600,
    },
    {
      wants: 'the second story',
      writes: { [`${work}/sprint-status.yaml`]: ledger('done', 'backlog') },
      call: ['bmad', { operation: 'next' }],
      says: ['1-2-list-what-is-due'],
      never: ['disagrees'],
      atMost: 600,
    },
    {
      wants: 'to build it too, by a text that is known',
      call: ['bmad', { operation: 'execute', workflow: 'build', message: 'story 1-2-list-what-is-due' }],
      says: ['1-2-list-what-is-due', 'given earlier in this session'],
      never: ['----- BEGIN'],
      atMost: 1_300,
    },
    {
      wants: 'its second step again',
      call: ['bmad', { operation: 'read', uri: 'bmad://rendered/bmad-build/step-02-plan.md' }],
      says: ['has not changed', 'detail:"full"'],
      never: ['# Step 2'],
      atMost: 400,
    },
    {
      wants: 'to hand a piece to another model',
      call: ['manage_project', { action: 'help' }],
      says: ['task'],
      atMost: 4_900,
    },
    {
      wants: 'to know whether it is done',
      writes: { 'package.json': '{ "name": "plant-care", "scripts": { "test": "node --test" } }\n' },
      call: ['run_completion_contract', {}],
      refused: true,
      says: [/trust/],
      atMost: 500,
    },
    {
      wants: 'the end of the epic',
      writes: {
        [`${work}/spec-1-2-list-what-is-due.md`]: spec('List what is due', 'done'),
        [`${work}/sprint-status.yaml`]: ledger('done', 'done'),
      },
      call: ['bmad', { operation: 'next' }],
      says: ['retrospective'],
      atMost: 850,
    },
    {
      wants: 'to look back',
      call: ['bmad', { operation: 'execute', workflow: 'retrospective' }],
      says: ['epic'],
      atMost: 9_600,
    },
    {
      wants: 'what is left',
      writes: {
        [`${work}/epic-1-retro-2026-11-16.md`]:
          '# Retrospective: epic 1\n\nAll stories were built and reviewed. The file that is renamed has paid off.\n',
        [`${work}/sprint-status.yaml`]: ledger('done', 'done', 'done', 'done'),
      },
      call: ['bmad', { operation: 'next' }],
      never: [/Hold .*retrospective/, 'disagrees'],
      says: ['Prove what is done', '0 proven'],
      atMost: 520,
    },
  ],
};
