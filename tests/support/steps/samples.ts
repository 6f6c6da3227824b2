/** The file `sample.jsonl`, which projects have to have. */
export const SAMPLE_EXPORT = `${JSON.stringify({ type: 'decisions', agent: 'dev', text: 'Kept elsewhere' })}\n`;

/** Values for arguments that a reader has to fill in, by name. */
const VALUES: Readonly<Record<string, unknown>> = {
  agent: 'dev',
  agent_id: 'dev',
  branch: 'main',
  by: 'Ada',
  change: 'Deploy without running the tests',
  claim: 'a1b2c3d4',
  command: 'bmm/architect',
  contract_id: 'web-to-api-2026-11-15',
  cursor: 'x',
  file: 'sample.jsonl',
  from: 'dev',
  from_team: 'web',
  id: '728cfd79-2a3f-5f9a-ad84-d776ac131a77',
  ids: ['728cfd79-2a3f-5f9a-ad84-d776ac131a77'],
  message: 'Hello',
  module: 'cis',
  name: 'prd',
  pattern: '**/*.md',
  query: 'architecture',
  run_id: 'prd-20260227-143022',
  section: 'agents',
  source: 'https://git.invalid/team/content.git',
  status: 'completed',
  step: 1,
  summary: 'All done',
  target: 'architect',
  task: 'Write the tests',
  task_id: 'task-20261115-093000-a1b2c3',
  text: 'Sessions are kept in Redis',
  title: 'Shipped without running the tests',
  to: 'qa',
  to_team: 'api',
  type: 'decisions',
  uri: 'bmad://bmm/config.yaml',
  workflow: 'prd',
  workflow_name: 'prd',
};

export function sampleOf(name: string): unknown {
  return VALUES[name];
}

/** What was printed with everything filled in that a reader has to fill in. */
export function filledIn<T>(value: T, name = ''): T {
  return fill(value, name) as T;
}

function fill(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => fill(each, name));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        // Stories and runs have other words for it.
        const isOfStory = key === 'status' && each === '…' && 'story' in value;
        return [key, isOfStory ? 'done' : fill(each, key)];
      }),
    );
  if (value === '…') return sampleOf(name) ?? 'something';
  if (value === '<name>') return name === 'agent' || name === 'agent_id' ? 'pm' : 'prd';
  return typeof value === 'string' && value.startsWith('bmad://') ? filePath(value) : value;
}

/** Texts say `x` for the path of a file. */
function filePath(uri: string): string {
  if (uri === 'bmad://x' || uri === 'bmad://…') return 'bmad://bmm/config.yaml';
  return uri.replace(/^(bmad:\/\/rendered\/.*)\/x$/, '$1/workflow.md').replace(/\/x$/, '/SKILL.md');
}
