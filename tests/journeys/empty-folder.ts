import type { Journey } from '../support/journey.ts';
import { ARCHITECTURE, BRIEF, EPICS, ledger, PRD, spec } from './plant-care.ts';

const plans = '_bmad-output/planning-artifacts';
const work = '_bmad-output/implementation-artifacts';

/** From an empty folder, with the built-in BMAD, to an epic that is built, reviewed and looked back on. */
export const EMPTY_FOLDER: Journey = {
  name: 'from an empty folder to a finished epic, in English',
  // Whole texts, in one call each where they took two.
  tokens: 38_000,
  moves: [
    {
      wants: 'where are we',
      call: ['bmad', { operation: 'next' }],
      says: [/brief|brainstorm/i],
      atMost: 320,
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
      // The texts of BMAD come whole, with the steps that are done: so with all that follow.
      atMost: 8_900,
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
      atMost: 13_600,
    },
    {
      wants: 'the next step after the brief',
      writes: { [`${plans}/briefs/brief-plant-care-2026-11-16/brief.md`]: BRIEF },
      call: ['bmad', { operation: 'next' }],
      says: [/prd/i],
      atMost: 300,
    },
    {
      wants: 'a PRD',
      call: ['bmad', { operation: 'execute', workflow: 'prd', message: 'go on from the brief' }],
      says: ['brief.md', '{workflow.activation_steps_prepend}', 'steps that load them can be skipped'],
      never: ['PART of'],
      atMost: 16_300,
    },
    {
      wants: 'the next step after the PRD',
      writes: { [`${plans}/prds/prd-plant-care-2026-11-16/prd.md`]: PRD },
      call: ['bmad', { operation: 'next' }],
      says: [/architecture/i],
      atMost: 480,
    },
    {
      wants: 'an architecture',
      call: ['bmad', { operation: 'execute', workflow: 'architecture' }],
      says: ['prd.md'],
      atMost: 17_200,
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
      says: [`${plans}/prds/prd-plant-care-2026-11-16/prd.md`, 'Load config from'],
      never: ['No questions'],
      atMost: 6_900,
    },
    {
      wants: 'the next step after the epics',
      writes: { [`${plans}/epics.md`]: EPICS },
      call: ['bmad', { operation: 'next' }],
      says: [/sprint-planning/],
      atMost: 540,
    },
    {
      wants: 'a plan of the sprint',
      call: ['bmad', { operation: 'execute', workflow: 'sprint-planning' }],
      says: ['epics.md'],
      never: ['[Done'],
      atMost: 7_600,
    },
    {
      wants: 'the first story',
      writes: { [`${work}/sprint-status.yaml`]: ledger('backlog', 'backlog', 'backlog') },
      call: ['bmad', { operation: 'next' }],
      says: ['1-1-add-a-plant', 'build'],
      atMost: 450,
    },
    {
      wants: 'to build it',
      call: ['bmad', { operation: 'execute', workflow: 'build', message: 'story 1-1-add-a-plant' }],
      says: ['- `story_key`: 1-1-add-a-plant'],
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
      atMost: 10_300,
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
      atMost: 9_500,
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
      atMost: 650,
    },
    {
      wants: 'to build it too, by a text that it has and asks not to be given again',
      call: [
        'bmad',
        { operation: 'execute', workflow: 'build', message: 'story 1-2-list-what-is-due', detail: 'brief' },
      ],
      says: ['1-2-list-what-is-due', 'The text itself (4.0 kB) is left out.'],
      never: ['----- BEGIN'],
      atMost: 1_600,
    },
    {
      wants: 'its second step again',
      call: ['bmad', { operation: 'read', uri: 'bmad://rendered/bmad-build/step-02-plan.md' }],
      says: ['# Step 2'],
      atMost: 7_200,
    },
    {
      wants: 'to hand a piece to another model',
      call: ['manage_project', { action: 'help' }],
      says: ['task'],
      atMost: 6_000,
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
      atMost: 940,
    },
    {
      wants: 'to look back',
      call: ['bmad', { operation: 'execute', workflow: 'retrospective' }],
      says: ['epic'],
      atMost: 16_300,
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
      atMost: 650,
    },
  ],
};
