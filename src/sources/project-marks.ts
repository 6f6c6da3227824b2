import { BMAD_FOLDERS, OUTPUT_FOLDERS } from '../base/product.ts';
import { PROJECT_CONFIG_FILE } from '../config/locations.ts';

/** What marks the top of a project, the more telling first: BMAD folders of any version, then git. */
export const BMAD_MARKERS = BMAD_FOLDERS;
export const MARKERS = [...BMAD_MARKERS, '.git'];
/** The same for a folder that a call names: where BMAD is built in, a project has its output alone. */
export const NAMED_MARKERS = [...MARKERS, ...OUTPUT_FOLDERS];

/**
 * Files at the top of a folder that say it is a project, or a part of a larger one that is built for itself: what package
 * managers and build tools go by.
 */
const PROJECT_FILE =
  /^(?:project-context\.yaml|package\.json|deno\.json|deno\.jsonc|pnpm-workspace\.yaml|nx\.json|tsconfig\.json|pyproject\.toml|setup\.py|setup\.cfg|requirements\.txt|Pipfile|Cargo\.toml|go\.mod|go\.work|pom\.xml|build\.gradle|build\.gradle\.kts|settings\.gradle|settings\.gradle\.kts|build\.sbt|project\.clj|deps\.edn|Gemfile|composer\.json|mix\.exs|rebar\.config|stack\.yaml|dune-project|CMakeLists\.txt|Makefile|meson\.build|configure\.ac|WORKSPACE|WORKSPACE\.bazel|MODULE\.bazel|Package\.swift|pubspec\.yaml|flake\.nix|Project\.toml|project\.godot|Dockerfile|compose\.yaml|docker-compose\.yml|Chart\.yaml|.+\.(?:sln|slnx|csproj|fsproj|vbproj|vcxproj|gemspec|cabal|uproject|code-workspace|tf))$/i;

export const isProjectFile = (name: string): boolean =>
  name === PROJECT_CONFIG_FILE || PROJECT_FILE.test(name);

/** Where projects of the custom kit have agents of their own. */
export const CUSTOM_AGENTS = ['_bmad/_config/custom/agents', '_grimoire/_config/custom/agents'];

/** Where the installers of all generations write down what they have installed; what is used today comes first. */
export const MANIFESTS = [
  '_bmad/_config/manifest.yaml',
  '_bmad/_cfg/manifest.yaml',
  'bmad/_cfg/manifest.yaml',
  '.bmad/_cfg/manifest.yaml',
  '.bmad-core/install-manifest.yaml',
];
