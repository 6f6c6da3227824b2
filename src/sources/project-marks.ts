/** What marks the top of a project, the more telling first: BMAD folders of any version, then git. */
export const MARKERS = ['_bmad', '.bmad-core', 'bmad/_cfg', '.bmad/_cfg', '_grimoire', '.git'];

/** Where the installers of all generations write down what they have installed; what is used today comes first. */
export const MANIFESTS = [
  '_bmad/_config/manifest.yaml',
  '_bmad/_cfg/manifest.yaml',
  'bmad/_cfg/manifest.yaml',
  '.bmad/_cfg/manifest.yaml',
  '.bmad-core/install-manifest.yaml',
];
