import { real } from './installed.ts';
import { TEXT, out, steps, upTo, status, EPICS, planned604, type ProgressTree } from './pieces.ts';

export const DOCUMENT_TREES: readonly ProgressTree[] = [
  // Nothing, or nothing that counts.
  { name: 'an empty folder', files: {}, phases: 'nnnn', next: ['Write a product brief', 'product-brief'] },
  {
    name: 'code and no plan',
    files: { 'package.json': '{}', 'src/index.js': '1' },
    phases: 'nnnn',
    next: ['Document the existing code', 'project-context'],
  },
  {
    name: "a brief that is still its template's prompts, and one with an empty section",
    files: {
      'docs/brief.md':
        '# Product Brief: {Product Name}\n\n## The Problem\n\n[What pain exists, who feels it, how they cope today.]\n\n## Scope\n\n- {What is in for the first version. What is explicitly out.}\n',
      'docs/prd.md': `# PRD\n\n## Goals\n\n${TEXT}\n## Requirements\n\n## Next\n\n${TEXT}`,
      'docs/architecture.md': `# Architecture\n\nStatus: Draft v0.2\n\n${TEXT}`,
    },
    phases: 'nppn',
    next: ['Finish the PRD', 'prd'],
    items: {
      brief: 'not started docs/brief.md:5',
      prd: 'in progress docs/prd.md:7',
      architecture: 'in progress docs/architecture.md:3',
    },
  },
  {
    name: 'one with prompts, remarks and links left in it',
    files: {
      'docs/brief.md': `# Brief\n\n${TEXT}\n- **Scope:** {What is in, what is out.}\n`,
      'docs/prd.md': `# PRD\n\n${TEXT}\n- [ASSUMPTION: one user at a time]\n- [A page to read](https://example.org)\n- [ ] One more tick\n`,
    },
    phases: 'pcnn',
    next: ['Finish the product brief', 'product-brief'],
  },
  {
    name: 'finished ones with two titles, sources, parameters, code, tags and a last heading',
    files: {
      'docs/brief.md': `# Product Brief\n\n# Shop\n\n${TEXT}\n[Source: docs/notes.md, section 2]\n\n[Figure 1: System overview of it]\n\n## Labels\n\n#shop #plants\n\n## Change Log\n\n<!-- none yet -->\n`,
      'docs/prd.md': `# Product Requirements Document\n\n# Shop\n\n${TEXT}\n- **Path parameters:** {id}\n- **Body:** {name, price, stock}\n\n    {name of a user}\n\n## Appendix\n`,
    },
    phases: 'ccnn',
    next: ['Write the architecture', 'architecture'],
  },
  {
    name: 'a fresh 6.12',
    install: '6.12.0',
    files: {},
    phases: 'nnnn',
    next: ['Write a product brief', 'product-brief'],
  },
  {
    name: 'a fresh 6.0.4',
    install: '6.0.4',
    files: {},
    phases: 'nnnn',
    next: ['Write a product brief', 'create-product-brief'],
  },
  {
    name: 'a fresh alpha.7 begins with its own list',
    install: '6.0.0-alpha.7',
    files: {},
    phases: 'nnnn',
    next: [/^Choose a track/, 'workflow-init'],
  },
  {
    name: 'a fresh v4',
    install: '4.44.3',
    files: {},
    phases: 'nnnn',
    next: ['Write a product brief', 'analyst *create-project-brief'],
  },
  {
    name: 'an empty PRD proves nothing',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: '' },
    phases: 'nnnn',
    next: ['Write a product brief', 'create-product-brief'],
    items: { prd: `not started ${out}/prd.md` },
  },
  {
    name: 'a short PRD that says it is final',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: '---\nstatus: final\n---\n\n# PRD\n\nA shop for plants.\n' },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
    items: { prd: `complete ${out}/prd.md:2` },
  },
  {
    name: 'a PRD that says it is final and has no text at all',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: '---\nstatus: final\n---\n\n# PRD\n' },
    phases: 'npnn',
    next: ['Finish the PRD', 'create-prd'],
    items: { prd: `in progress ${out}/prd.md` },
  },
  {
    name: 'three stories in few words',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/epics.md`]:
        '# Epics\n\n## Epic 1: Base\n\n### Story 1.1: Setup\n\n### Story 1.2: Login\n\n### Story 1.3: Cart\n\nSoon.\n',
    },
    phases: 'ncpn',
    next: ['Finish the epics and stories', 'create-epics-and-stories'],
    items: { epics: `in progress ${out}/epics.md` },
  },
  {
    name: 'the real PRD template of 6.0.4, not filled in',
    install: '6.0.4',
    files: {
      [`${out}/prd.md`]: real(
        '6.0.4',
        '_bmad/bmm/workflows/2-plan-workflows/create-prd/templates/prd-template.md',
      ),
    },
    phases: 'nnnn',
    next: ['Write a product brief', 'create-product-brief'],
    items: { prd: `not started ${out}/prd.md:7` },
  },
  {
    name: 'the real epics template of 6.12, not filled in',
    install: '6.12.0',
    files: {
      [`${out}/prds/prd-shop-2026-01-02/prd.md`]: status('final'),
      [`${out}/epics.md`]: real(
        '6.12.0',
        '.claude/skills/bmad-create-epics-and-stories/templates/epics-template.md',
      ),
    },
    phases: 'ncnn',
    next: ['Write the architecture', 'architecture'],
    items: { epics: `not started ${out}/epics.md:6` },
  },
  // Documents with steps.
  {
    name: 'a brief that is half done',
    install: '6.0.4',
    files: { [`${out}/product-brief-shop-2026-01-01.md`]: steps(1, 2, 3) },
    phases: 'pnnn',
    next: ['Finish the product brief', 'create-product-brief'],
    items: { brief: `in progress ${out}/product-brief-shop-2026-01-01.md:2` },
  },
  {
    name: 'a brief with all its steps',
    install: '6.0.4',
    files: { [`${out}/product-brief-shop-2026-01-01.md`]: steps(...upTo(5)) },
    phases: 'cnnn',
    next: ['Write the PRD', 'create-prd'],
  },
  {
    name: 'a PRD by the names of steps, up to the last but two',
    install: '6.5.0',
    files: { [`${out}/prd.md`]: steps("'step-01-init'", "'step-10-nonfunctional'") },
    phases: 'npnn',
    next: ['Finish the PRD', 'create-prd'],
    items: { prd: `in progress ${out}/prd.md:2` },
  },
  {
    name: 'a PRD by the names of steps, complete',
    install: '6.5.0',
    files: { [`${out}/prd.md`]: steps("'step-01-init'", "'step-12-complete'") },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
  },
  {
    name: 'an architecture with a status beats its steps',
    install: '6.0.4',
    files: {
      [`${out}/prd.md`]: steps(...upTo(11)),
      [`${out}/architecture.md`]: `---\nstepsCompleted: [1, 2]\nstatus: 'complete'\n---\n\n# A\n\n${TEXT}`,
    },
    phases: 'ncpn',
    next: ['Write the epics and stories', 'create-epics-and-stories'],
    items: { architecture: `complete ${out}/architecture.md:3` },
  },
  {
    name: 'a placeholder in a document that calls itself complete',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: `---\nstatus: complete\n---\n\n# PRD\n\n${TEXT}\n{{fr_list}}\n` },
    phases: 'npnn',
    next: ['Finish the PRD', 'create-prd'],
    items: { prd: `in progress ${out}/prd.md:9` },
  },
  {
    name: 'placeholders in code are none',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: `# PRD\n\n${TEXT}\nUse \`{{name}}\`.\n\n\`\`\`\n{{other}}\n\`\`\`\n` },
    phases: 'ncnn',
    next: ['Write the architecture', 'create-architecture'],
  },
  {
    name: 'front matter that is broken',
    install: '6.0.4',
    files: { [`${out}/prd.md`]: `---\ntitle: [a\nstatus: x\n---\n\n${TEXT}` },
    phases: 'nunn',
    next: ['Look at the PRD', 'create-prd'],
    items: { prd: `unknown ${out}/prd.md:3` },
  },
  {
    name: 'epics of which one has no stories',
    install: '6.0.4',
    files: { ...planned604, [`${out}/epics.md`]: `${EPICS}\n## Epic 3: Later\n` },
    phases: 'ncpn',
    next: ['Finish the epics and stories', 'create-epics-and-stories'],
    items: { epics: `in progress ${out}/epics.md:15` },
  },
  {
    name: 'a complete plan asks for the readiness check where the version has one',
    install: '6.0.4',
    files: planned604,
    phases: 'nccn',
    next: ['Run the readiness check', 'check-implementation-readiness'],
  },
  {
    name: 'a readiness report that says no',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/implementation-readiness-report-2026-01-03.md`]: `# Report\n\n${TEXT}\n### Overall Readiness Status\n\n**NOT READY**\n`,
    },
    phases: 'ncpn',
    next: ['Repeat the readiness check', 'check-implementation-readiness'],
    items: { readiness: `in progress ${out}/implementation-readiness-report-2026-01-03.md:7` },
  },
  {
    name: 'a readiness report that says yes',
    install: '6.0.4',
    files: {
      ...planned604,
      [`${out}/implementation-readiness-report-2026-01-03.md`]: `# Report\n\n${TEXT}\n### Overall Readiness Status\n\nREADY\n`,
    },
    phases: 'nccn',
    next: ['Plan the sprint', 'sprint-planning'],
  },
];
