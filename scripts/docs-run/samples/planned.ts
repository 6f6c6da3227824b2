import {
  EPICS,
  impl,
  ledger,
  out,
  plain,
  status,
  story,
  TEXT,
  v4Story,
} from '../../../tests/support/progress-trees/pieces.ts';

const sections = ['Goals', 'Users', 'Caching', 'Reports'].map(
  (heading) => `## ${heading}\n\n${TEXT.repeat(heading === 'Caching' ? 60 : 3)}\n`,
);

/** A project of BMAD 6.12 with its stories under way, and a ledger that lags behind them. */
export const PLANNED = {
  [`${out}/prd.md`]: `---\ntitle: Shop\nstatus: final\n---\n\n# Shop\n\n${sections.join('')}`,
  [`${out}/architecture.md`]: status('final'),
  [`${out}/epics.md`]: EPICS,
  [`${impl}/sprint-status.yaml`]: ledger({
    'epic-1': 'backlog',
    '1-1-setup': 'done',
    '1-2-login': 'ready-for-dev',
    'epic-2': 'backlog',
    '2-1-cart': 'backlog',
  }),
  [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
  [`${impl}/1-2-login.md`]: story('1.2', 'review', '- [x] The form\n- [x] The session\n'),
};

/** A project of BMAD 4 in which a gate has concerns about a story. */
export const PLANNED_4 = {
  'docs/prd.md': `${plain}\n${EPICS}`,
  'docs/architecture.md': plain,
  'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
  'docs/stories/1.2.login.md': v4Story('1.2', 'Review'),
  'docs/qa/gates/1.2-login.yml': 'schema: 1\nstory: "1.2"\ngate: CONCERNS\n',
};
