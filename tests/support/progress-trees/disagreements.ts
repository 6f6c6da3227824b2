import { impl, story, ledger, two, type ProgressTree } from './pieces.ts';

export const DISAGREEMENT_TREES: readonly ProgressTree[] = [
  // Disagreements.
  {
    name: 'the file says done, the ledger in progress',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'in-progress',
        '1-2-login': 'backlog',
      }),
      [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['status differs 1-1-setup'],
  },
  {
    name: 'the ledger says done, the file in progress: nothing is raised by it',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger(two),
      [`${impl}/1-1-setup.md`]: story('1.1', 'in-progress'),
    },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['status differs 1-1-setup'],
  },
  {
    name: 'an epic that is done with open stories',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: ledger({ ...two, 'epic-1': 'done' }) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['epic done, stories open epic-1'],
    items: { 'epic-1': `in progress ${impl}/sprint-status.yaml:5` },
  },
  {
    name: 'rows without files, files without rows',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({ ...two, '1-2-login': 'in-progress' }),
      [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
      [`${impl}/1-7-more.md`]: story('1.7', 'ready-for-dev'),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['no file 1-2-login', 'no ledger row 1-7-more'],
  },
  {
    name: 'words that are no status',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'Done',
        '1-2-login': 'shipped',
        '1-3-x': '',
      }),
    },
    phases: 'nnnp',
    next: ['Bring the ledgers up to date', '-'],
    drift: ['invalid status 1-1-setup', 'invalid status 1-2-login', 'invalid status 1-3-x'],
    items: { '1-2-login': `unknown ${impl}/sprint-status.yaml:7` },
  },
  {
    name: 'keys that come twice, and keys of another kind',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: `${ledger(two)}  1-1-setup: backlog\n  notes: later\n` },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['duplicate key 1-1-setup', 'unknown key notes'],
  },
  {
    name: 'a story of an epic without a row',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: ledger({ ...two, '2-1-cart': 'backlog' }) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['no epic row epic-2'],
  },
  {
    name: 'a ledger that is no YAML',
    install: '6.0.4',
    files: {
      [`${impl}/sprint-status.yaml`]:
        'project: Shop\ndevelopment_status:\n  epic-1: [in-progress\n  1-1-setup: done\n',
    },
    phases: 'nnnu',
    next: [`Repair ${impl}/sprint-status.yaml:4`, 'sprint-planning'],
    drift: [`broken ledger ${impl}/sprint-status.yaml`],
  },
  {
    name: 'a ledger of 0 bytes',
    install: '6.12.0',
    files: { [`${impl}/sprint-status.yaml`]: '' },
    phases: 'nnnu',
    next: [`Repair ${impl}/sprint-status.yaml`, 'sprint-planning'],
    drift: [`broken ledger ${impl}/sprint-status.yaml`],
  },
  {
    name: 'two ledgers',
    install: '6.0.4',
    files: { [`${impl}/sprint-status.yaml`]: ledger(two), '_bmad-output/sprint-status.yaml': ledger(two) },
    phases: 'nnnp',
    next: ['Prepare story 1-2-login', 'create-story'],
    drift: ['second ledger _bmad-output/sprint-status.yaml'],
  },
];
