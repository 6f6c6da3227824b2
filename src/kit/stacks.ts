import { unlessShort } from '../base/errors.ts';
import { listInside, type FolderEntry } from '../base/files/files.ts';

/** The stacks that the kit's completion contract knows, by the names that its verdict prints. */
export const KIT_STACKS = [
  'go',
  'typescript',
  'terraform',
  'ansible',
  'python',
  'docker',
  'kubernetes',
  'shell',
] as const;
export type KitStack = (typeof KIT_STACKS)[number];

/** Others that are worth telling, which the kit's contract has no commands for. */
const OTHER_STACKS = ['rust', 'java', 'dotnet', 'php', 'ruby'] as const;
type StackName = KitStack | (typeof OTHER_STACKS)[number];

export interface DetectedStack {
  name: StackName | 'javascript';
  /** The file or folder that shows it, as a path from the folder that was looked at. */
  because: string;
  /** Whether the kit's completion contract has commands for it. */
  inKit: boolean;
}

/** A file or folder, as a path with `/` from the folder that is looked at. */
export type ListedPath = Pick<FolderEntry, 'kind'> & { path: string };

interface Rule {
  stack: StackName;
  kind: FolderEntry['kind'];
  /** Matched against the whole path: without a slash in it, only what is at the top counts. */
  path: RegExp;
}

const file = (stack: StackName, path: RegExp): Rule => ({ stack, kind: 'file', path });
const folder = (stack: StackName, path: RegExp): Rule => ({ stack, kind: 'folder', path });

/** In the order in which stacks are reported; the first matching rule of a stack is its reason. */
const RULES: readonly Rule[] = [
  file('go', /^go\.mod$/),
  file('typescript', /^package\.json$/),
  file('terraform', /(?:^|\/)[^/]+\.tf$/),
  folder('ansible', /^ansible$/),
  file('ansible', /^playbook[^/]*\.ya?ml$/),
  file('python', /^(?:pyproject\.toml|requirements\.txt|setup\.py)$/),
  file('docker', /^(?:Dockerfile|(?:docker-)?compose[^/]*\.ya?ml)$/),
  folder('kubernetes', /^k8s$/),
  file('shell', /^[^/]+\.sh$/),
  file('rust', /^Cargo\.toml$/),
  file('java', /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/),
  file('dotnet', /^[^/]+\.(?:sln|slnx|csproj|fsproj)$/),
  file('php', /^composer\.json$/),
  file('ruby', /^Gemfile$/),
];

/** By what the stacks of the kit are recognised, in words. */
export const STACK_MARKS: Readonly<Record<KitStack, string>> = {
  go: 'go.mod',
  typescript: 'package.json',
  terraform: '*.tf files',
  ansible: 'a folder "ansible" or playbook*.yml',
  python: 'pyproject.toml, requirements.txt or setup.py',
  docker: 'Dockerfile or compose*.yml',
  kubernetes: 'a folder "k8s"',
  shell: '*.sh files',
};

/** Tests that prove a stack the caller has named, if no file at the top does. */
const STACK_TESTS: Partial<Record<KitStack, { path: RegExp; words: string }>> = {
  python: { path: /(?:^|\/)(?:test_[^/]+|[^/]+_test)\.py$/, words: 'tests (test_*.py)' },
};

/** Whether a folder has tests of a stack, however little else it has. */
export function hasTestsOf(stack: KitStack, listing: readonly ListedPath[]): boolean {
  const tests = STACK_TESTS[stack];
  return tests !== undefined && listing.some(({ path, kind }) => kind === 'file' && tests.path.test(path));
}

/** What a folder needs for a stack to be checked there, in words. */
export function neededFor(stack: KitStack): string {
  const tests = STACK_TESTS[stack];
  return `${STACK_MARKS[stack]}${tests === undefined ? '' : `, nor ${tests.words}`}`;
}

/** Which stacks a folder has, going by the names of what is in it. */
export function stacksIn(listing: readonly ListedPath[]): DetectedStack[] {
  const found = new Map<StackName, DetectedStack>();
  for (const { stack, kind, path: pattern } of RULES) {
    if (found.has(stack)) continue;
    const match = listing.find(({ path, kind: what }) => what === kind && pattern.test(path));
    if (match !== undefined)
      found.set(stack, {
        name: stack === 'typescript' && !hasTypes(listing) ? 'javascript' : stack,
        because: match.path,
        inKit: (KIT_STACKS as readonly string[]).includes(stack),
      });
  }
  return [...found.values()];
}

/** What the kit's completion contract calls a stack; nothing when it has no commands for it. */
export function kitStackOf({ name }: Pick<DetectedStack, 'name'>): KitStack | undefined {
  return name === 'javascript' ? 'typescript' : KIT_STACKS.find((stack) => stack === name);
}

/** The kit calls every project with a package.json by the name of the language that most of them have. */
function hasTypes(listing: readonly ListedPath[]): boolean {
  return listing.some(({ path }) => /(?:^|\/)tsconfig[^/]*\.json$|\.[cm]?tsx?$/.test(path));
}

/** How deep Terraform files are searched for; the top is the first level. */
const DEPTH = 4;
const MOST_PATHS = 20_000;
/** Folders of tools and of other people's code. */
const NOT_OURS = /^(?:\..*|node_modules|vendor|dist|build|target|__pycache__|venv|_bmad.*|_grimoire.*)$/;

/**
 * What `stacksIn` needs to know of a folder, which is a path below the root (or nothing for the root itself). What cannot
 * be listed is left out, and links to folders are not followed.
 */
export async function listForStacks(root: string, folderPath = ''): Promise<ListedPath[]> {
  const found: ListedPath[] = [];
  let level = [''];
  for (let depth = 1; depth <= DEPTH && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const below of level) {
      if (found.length > MOST_PATHS) return found;
      const entries = await listInside(root, joined(folderPath, below)).catch(unlessShort([]));
      for (const { name, kind, link } of entries) {
        const path = joined(below, name);
        found.push({ path, kind });
        if (kind === 'folder' && link !== true && !NOT_OURS.test(name)) next.push(path);
      }
    }
    level = next;
  }
  return found;
}

function joined(above: string, name: string): string {
  return [above, name].filter((part) => part !== '').join('/');
}
