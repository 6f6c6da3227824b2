import type { RuleName } from '../../src/services/progress/workers.ts';

/** A line of BMAD's own text: where it is in the install of a version, and what it says. */
interface Quote {
  version: string;
  file: string;
  line: number;
  says: string;
}

const q = (version: string, file: string, line: number, says: string): Quote => ({
  version,
  file,
  line,
  says,
});

const ALPHA = 'bmad/bmm/workflows/4-implementation';
const COMPILED = '_bmad/bmm/workflows/4-implementation';
const QUICK = '_bmad/bmm/workflows/bmad-quick-flow';
const SKILLS = '.claude/skills';
const V4 = '.bmad-core';

/** What BMAD itself says for each rule. */
export const QUOTES: Readonly<Record<RuleName, readonly Quote[]>> = {
  'in progress': [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 116, 'Implements approved story'),
    q('6.0.0-alpha.7', `${ALPHA}/dev-story/instructions.md`, 127, `current status == 'in-progress'`),
    q(
      '6.0.4',
      `${COMPILED}/sprint-status/instructions.md`,
      95,
      'If any story status == in-progress → recommend `dev-story`',
    ),
    q('6.12.0', `${SKILLS}/bmad-sprint-planning/scripts/sprint_plan.py`, 567, 'resume the in-progress story'),
  ],
  review: [
    q('4.44.3', `${V4}/tasks/review-story.md`, 19, 'Story status must be "Review"'),
    q('6.0.0-alpha.7', `${ALPHA}/code-review/instructions.md`, 9, 'with status "review"'),
    q(
      '6.0.4',
      `${COMPILED}/sprint-status/instructions.md`,
      96,
      'Else if any story status == review → recommend `code-review`',
    ),
    q(
      '6.12.0',
      `${SKILLS}/bmad-sprint-planning/scripts/sprint_plan.py`,
      570,
      'review the completed implementation',
    ),
  ],
  ready: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 116, 'Implements approved story'),
    q('6.0.0-alpha.7', `${ALPHA}/dev-story/instructions.md`, 33, 'Status value equals "ready-for-dev"'),
    q(
      '6.0.4',
      `${COMPILED}/sprint-status/instructions.md`,
      97,
      'Else if any story status == ready-for-dev → recommend `dev-story`',
    ),
    q('6.12.0', `${SKILLS}/bmad-sprint-planning/scripts/sprint_plan.py`, 573, 'start the next ready story'),
  ],
  draft: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 108, 'Update story status: Draft → Approved'),
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/story-context/instructions.md`,
      9,
      'find the first story with status "drafted"',
    ),
    q(
      '6.0.4',
      `${COMPILED}/sprint-status/instructions.md`,
      44,
      'Map legacy story status "drafted" → "ready-for-dev"',
    ),
  ],
  planned: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 95, 'Creates next story from sharded docs'),
    q('6.0.0-alpha.7', `${ALPHA}/create-story/instructions.md`, 270, 'Status: drafted (was backlog)'),
    q(
      '6.0.4',
      `${COMPILED}/sprint-status/instructions.md`,
      98,
      'Else if any story status == backlog → recommend `create-story`',
    ),
    q(
      '6.12.0',
      `${SKILLS}/bmad-sprint-planning/scripts/sprint_plan.py`,
      576,
      'start the first backlog story',
    ),
  ],
  'planned later': [
    q('4.44.3', `${V4}/tasks/create-next-story.md`, 24, 'You should fix this story first'),
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/sprint-planning/instructions.md`,
      130,
      `SM typically drafts next story after previous one is 'done'`,
    ),
    q(
      '6.0.4',
      `${COMPILED}/sprint-planning/instructions.md`,
      129,
      `SM typically creates next story after previous one is 'done'`,
    ),
    q(
      '6.12.0',
      `${SKILLS}/bmad-sprint-planning/sprint-status-template.yaml`,
      38,
      `Developer typically creates the next story after the previous one is 'done'`,
    ),
  ],
  built: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 118, 'Marks story as "Review" when complete'),
    q('6.0.0-alpha.7', `${ALPHA}/dev-story/instructions.md`, 208, 'Update the story Status to: review'),
    q(
      '6.0.4',
      `${COMPILED}/dev-story/instructions.xml`,
      350,
      'Update development_status[{{story_key}}] = "review"',
    ),
  ],
  reviewed: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 130, 'Review → Done or stays Review'),
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/code-review/instructions.md`,
      326,
      'If {{outcome}} == "Approve" → target_status = "done"',
    ),
    q(
      '6.0.4',
      `${COMPILED}/code-review/instructions.xml`,
      197,
      'Update development_status[{{story_key}}] = "done"',
    ),
    q(
      '6.12.0',
      `${SKILLS}/bmad-code-review/steps/step-04-present.md`,
      91,
      'set `new_status` = `done`. Update the story file Status section to `done`.',
    ),
  ],
  'gate passed': [
    q('4.44.3', `${V4}/tasks/review-story.md`, 181, '(Story owner decides final status)'),
    q(
      '4.44.3',
      `${V4}/tasks/apply-qa-fixes.md`,
      107,
      'If gate was PASS and all identified gaps are closed → set `Status: Ready for Done`',
    ),
  ],
  findings: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 137, 'If QA left unchecked items:'),
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/code-review/instructions.md`,
      327,
      'If {{outcome}} == "Changes Requested" → target_status = "in-progress"',
    ),
    q('6.0.4', `${COMPILED}/code-review/instructions.xml`, 178, 'Set {{new_status}} = "in-progress"'),
    q(
      '6.12.0',
      `${SKILLS}/bmad-code-review/steps/step-04-present.md`,
      92,
      'set `new_status` = `in-progress`',
    ),
  ],
  fixed: [
    q(
      '4.44.3',
      `${V4}/tasks/apply-qa-fixes.md`,
      108,
      'Otherwise → set `Status: Ready for Review` and notify QA to re-run the review',
    ),
  ],
  'spec in review': [
    q(
      '6.3.0',
      `${SKILLS}/bmad-quick-dev/step-04-review.md`,
      15,
      'Change `{spec_file}` status to `in-review`',
    ),
    q('6.12.0', `${SKILLS}/bmad-build/step-01-clarify-and-route.md`, 23, '`in-review` → '),
  ],
  'spec done': [
    q('6.5.0', `${SKILLS}/bmad-quick-dev/step-05-present.md`, 55, 'with `{target_status}` = `review`'),
    q('6.8.0', `${SKILLS}/bmad-quick-dev/step-05-present.md`, 55, 'with `{target_status}` = `review`'),
    q('6.12.0', `${SKILLS}/bmad-build/step-05-present.md`, 17, 'with `{target_status}` = `review`'),
  ],
  'tech spec': [
    q(
      '6.0.4',
      `${QUICK}/quick-spec/steps/step-03-generate.md`,
      103,
      `Update status to 'review' (NOT 'ready-for-dev' - that happens after user review in Step 4)`,
    ),
    q(
      '6.2.0',
      `${SKILLS}/bmad-quick-spec/steps/step-03-generate.md`,
      100,
      `Update status to 'review' (NOT 'ready-for-dev' - that happens after user review in Step 4)`,
    ),
  ],
  'quick work': [
    q(
      '6.0.4',
      `${QUICK}/quick-dev/steps/step-04-self-check.md`,
      68,
      'Update status to "Implementation Complete"',
    ),
    q('6.12.0', `${SKILLS}/bmad-build/step-01-clarify-and-route.md`, 23, '`ready-for-dev`/`in-progress` → '),
  ],
  readiness: [
    q(
      '6.0.0-alpha.7',
      'bmad/bmm/workflows/workflow-status/paths/method-greenfield.yaml',
      78,
      'Validates PRD + UX + Architecture cohesion before implementation',
    ),
    q('6.0.4', '_bmad/_config/bmad-help.csv', 13, 'bmad-bmm-check-implementation-readiness,true,architect'),
    q('6.8.0', '_bmad/_config/bmad-help.csv', 14, ',true,planning_artifacts,readiness report'),
  ],
  shards: [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 85, 'Creates docs/prd/ and docs/architecture/'),
    q('4.44.3', `${V4}/tasks/create-next-story.md`, 21, 'Based on `prdSharded` from config'),
    q('4.44.3', `${V4}/tasks/create-next-story.md`, 44, 'Read `{architectureShardedLocation}/index.md`'),
  ],
  'no interface': [
    q('4.44.3', `${V4}/workflows/greenfield-service.yaml`, 35, 'Creates backend/service architecture'),
    q('4.44.3', `${V4}/agents/architect.md`, 59, 'create-backend-architecture'),
  ],
  'master checklist': [
    q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 60, 'uses: po-master-checklist'),
    q('4.44.3', `${V4}/workflows/greenfield-service.yaml`, 45, 'uses: po-master-checklist'),
  ],
  'existing code': [
    q('4.44.3', `${V4}/workflows/brownfield-service.yaml`, 31, 'uses: brownfield-architecture-tmpl'),
    q('4.44.3', `${V4}/agents/architect.md`, 60, 'create-brownfield-architecture'),
  ],
  beginning: [q('4.44.3', `${V4}/workflows/greenfield-fullstack.yaml`, 6, 'from concept to development')],
  'epic begins': [
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/epic-tech-context/instructions.md`,
      48,
      'Find all epics with status "backlog" (not yet contexted)',
    ),
  ],
  'epic done': [
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/sprint-planning/instructions.md`,
      51,
      'Key: `epic-{num}-retrospective`, Default status: `optional`',
    ),
    q(
      '6.0.4',
      `${COMPILED}/sprint-status/instructions.md`,
      99,
      'Else if any retrospective status == optional → recommend `retrospective`',
    ),
    q('6.12.0', `${SKILLS}/bmad-sprint-planning/scripts/sprint_plan.py`, 581, 'all stories done'),
  ],
  'epic rejected': [
    q(
      '6.12.0',
      `${SKILLS}/bmad-retrospective/references/retro-document.md`,
      23,
      'That holds for a **rejected** epic too',
    ),
  ],
  'retrospective held': [
    q(
      '6.0.0-alpha.7',
      `${ALPHA}/retrospective/instructions.md`,
      1354,
      'Update development_status["epic-{{epic_number}}-retrospective"] = "done"',
    ),
    q(
      '6.0.4',
      `${COMPILED}/retrospective/instructions.md`,
      1338,
      'Update development_status["epic-{{epic_number}}-retrospective"] = "done"',
    ),
    q(
      '6.12.0',
      `${SKILLS}/bmad-retrospective/references/retro-document.md`,
      54,
      'It sets `development_status["epic-{{epic_number}}-retrospective"]` to `done`',
    ),
  ],
};
