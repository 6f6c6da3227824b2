/**
 * What became of names that BMAD once had. Upstream's list of removed skills, its shims and the agents of earlier
 * versions are the source; ids that merely lost a prefix are not listed here, a rule below takes care of them.
 */
const REPLACED: Record<string, readonly string[]> = {
  // Agents of version 4 and of the 6.0 series.
  sm: ['sprint-planning', 'create-story', 'dev'],
  po: ['pm', 'create-epics-and-stories'],
  qa: ['qa-generate-e2e-tests', 'code-review', 'dev'],
  tea: ['qa-generate-e2e-tests'],
  'ux-expert': ['ux-designer'],
  'tech-writer': ['project-context', 'document-project'],
  'quick-flow-solo-dev': ['dev', 'build'],
  'bmad-master': ['help'],
  'bmad-orchestrator': ['help', 'party-mode'],
  'bmad-builder': ['customize'],
  // Workflows and tasks.
  'create-ux-design': ['ux'],
  'create-product-brief': ['product-brief'],
  'product-brief-preview': ['product-brief'],
  'brainstorm-project': ['brainstorming'],
  'create-doc': ['prd', 'product-brief', 'architecture'],
  'document-project': ['project-context'],
  'generate-project-context': ['project-context'],
  research: ['deep-recon'],
  distillator: ['spec'],
  'tech-spec': ['spec', 'build'],
  'create-tech-spec': ['spec', 'build'],
  'quick-spec': ['build'],
  'quick-flow': ['build'],
  'quick-dev-new-preview': ['build'],
  'quick-prototype': ['build'],
  'create-next-story': ['create-story', 'build'],
  'story-context': ['create-story', 'build'],
  'story-ready': ['sprint-planning'],
  'story-done': ['sprint-planning'],
  'epic-tech-context': ['architecture'],
  'solutioning-gate-check': ['sprint-planning'],
  'check-implementation-readiness': ['sprint-planning'],
  'implementation-readiness': ['sprint-planning'],
  'workflow-status': ['help', 'sprint-planning'],
  'workflow-init': ['help'],
  'qa-automate': ['qa-generate-e2e-tests'],
  'review-story': ['code-review'],
  'adv-elicit': ['advanced-elicitation'],
  'index-docs': ['project-context'],
  'shard-doc': [],
  investigate: [],
  init: ['help'],
};

/** An old id without the prefixes of its time: `bmad-agent-bmm-pm`, `bmad_bmm_agent_pm`, `bmad-bmm-create-prd`. */
export function withoutOldPrefixes(name: string): string | undefined {
  const rest =
    /^bmad[-_:](?:agent[-_:])?(?:core|bmm|bmb|bmgd|cis|tea)[-_:](?:agents?[-_:]|workflows?[-_:])?(.+)$/i.exec(
      name,
    )?.[1];
  return rest ?? /^bmad(?:[-_:]agents?[-_:]|\.)(.+)$/i.exec(name)?.[1];
}

/** Short names of what replaced an old one, the closest first; nothing when the name was never BMAD's. */
export function successorsOf(name: string): readonly string[] | undefined {
  const short = name.toLowerCase().replace(/^bmad-(?:agent-)?/, '');
  return Object.hasOwn(REPLACED, short)
    ? REPLACED[short]
    : Object.hasOwn(REPLACED, name)
      ? REPLACED[name]
      : undefined;
}
