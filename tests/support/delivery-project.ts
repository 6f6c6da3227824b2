import { KIT_FILES } from './kit-project.ts';

/** A run that is completed, with one artefact. */
export const DELIVERY_RUN = '_bmad-output/.runs/main/dev-story-20260227-143022';
/** A project with something to hand over: a document, a run, a request that is open. */
export const DELIVERY_FILES: Readonly<Record<string, string>> = {
  ...KIT_FILES,
  'docs/prd.md': '# PRD\n',
  '_bmad-output/.runs/main/branch.json': '{"branch":"main","status":"active"}',
  [`${DELIVERY_RUN}/state.json`]: JSON.stringify({
    run_id: 'dev-story-20260227-143022',
    status: 'completed',
    steps_completed: [1],
    total_steps: 1,
    artefacts_produced: [{ step: 1, name: 'Design', path: 'artefacts/design.md' }],
  }),
  [`${DELIVERY_RUN}/artefacts/design.md`]: '# Design\n',
  '_bmad/_memory/shared-context.md':
    '# Contexte\n\n## Requêtes inter-agents\n\n- [ ] [dev→qa] Écrire les tests du panier\n- [x] [dev→ops] Fini\n',
};
