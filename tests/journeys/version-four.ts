import { plain, v4Story } from '../support/progress-trees/pieces.ts';
import type { Journey } from '../support/journey.ts';

/** A project of version 4: agents whose commands are the workflows. */
export const VERSION_FOUR: Journey = {
  name: 'of a project of 4.44.3',
  tokens: 22_000,
  moves: [
    {
      wants: 'where are we',
      call: ['bmad', { operation: 'next' }],
      says: ['analyst', '*create-project-brief'],
      atMost: 420,
    },
    {
      wants: 'what there is',
      call: ['bmad', { operation: 'list', query: 'workflows' }],
      says: ['greenfield-fullstack'],
      never: ['forge-idea', '**build**'],
      atMost: 2_000,
    },
    {
      wants: 'a PRD, by the command',
      call: ['bmad', { command: '*create-prd a shop for plants' }],
      says: ['John', '*create-prd a shop for plants', '# Create Document from Template', 'prd-tmpl.yaml'],
      // With the task and its template, which were calls of their own.
      atMost: 22_700,
    },
    {
      wants: 'the next step after the PRD',
      writes: {
        'docs/brief.md': plain,
        'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n`,
      },
      call: ['bmad', { operation: 'next' }],
      says: ['architect'],
      atMost: 1_000,
    },
    {
      wants: 'the next story',
      writes: {
        'docs/architecture.md': plain,
        'docs/prd/epic-1-base.md': '# Epic 1: Base\n\n## Story 1.1: Setup\n\nAs a user I want it.\n',
        'docs/stories/1.1.setup.md': v4Story('1.1', 'Approved'),
      },
      call: ['bmad', { operation: 'next' }],
      says: ['dev', '1.1'],
      atMost: 800,
    },
    {
      wants: 'to develop it, by the name of today',
      call: ['bmad', { operation: 'execute', workflow: 'build', message: 'story 1.1' }],
      says: ['James', '*develop-story story 1.1'],
      atMost: 8_800,
    },
    {
      wants: 'the next step when it is developed',
      writes: { 'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review') },
      call: ['bmad', { operation: 'next' }],
      says: ['qa', '*review'],
      atMost: 880,
    },
    {
      wants: 'the reviewer',
      call: ['bmad', { command: '*review 1.1' }],
      says: ['Quinn', '# review-story', 'docs/stories/1.1.setup.md', '## Completion'],
      never: ['PART of'],
      atMost: 18_200,
    },
    {
      wants: 'to develop the next story, of which only the story is new',
      writes: {
        'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
        'docs/stories/1.2.login.md': v4Story('1.2', 'Approved'),
      },
      call: ['bmad', { operation: 'execute', workflow: 'build', message: 'story 1.2', detail: 'brief' }],
      says: ['James', 'is left out', 'docs/stories/1.2.login.md (Approved)'],
      never: ['----- BEGIN'],
      atMost: 1_600,
    },
    {
      wants: 'to review it',
      writes: { 'docs/stories/1.2.login.md': v4Story('1.2', 'Ready for Review') },
      call: ['bmad', { command: '*review 1.2' }],
      says: [
        'Quinn',
        'It starts the task bmad-core/review-story',
        'docs/stories/1.2.login.md (Ready for Review)',
      ],
      atMost: 18_200,
    },
  ],
};
