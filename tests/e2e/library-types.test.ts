import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { repository } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { installPackedPackage } from '../support/packed-package.ts';
import { runToEnd } from '../support/programs.ts';

const { folder, env } = await installPackedPackage(afterAll);

/** Uses every export, with types that would not fit if a declaration were wrong or missing. */
const USE = `import { BmadError, BmadServer, GitSourceResolver, openBmad } from 'mcp-server-bmad';
import type {
  Activation, ActivateOptions, AgentManifestEntry, AgentMetadata, Bmad, CacheEntry, ContentSource, ErrorCode, FileInfo, GitUrlSpec,
  MasterRecord, McpTransport, OpenOptions, RecordQuery, Resource, SearchHit, SearchOptions, Surroundings, WorkflowContext,
} from 'mcp-server-bmad';

const surroundings: Surroundings = { home: '/h', cache: '/c', env: { PATH: '/bin' }, logLevel: 'info', log: (line) => void line.length };
const options: OpenOptions = { ...surroundings, project: '/p', paths: ['/a'], git: ['git+file:///x.git'], discovery: 'local' };
const searchOptions: SearchOptions = { type: 'agents', module: 'bmm', limit: 3 };
const activateOptions: ActivateOptions = { message: 'Hello', kind: 'agent', module: 'bmm' };

export async function use(): Promise<string[]> {
  const bmad: Bmad = await openBmad(options);
  const project: string | undefined = bmad.project;
  const warnings: readonly string[] = bmad.warnings;
  const agent: Resource = await bmad.loadAgent('architect');
  const workflow: Resource = await bmad.loadWorkflow('prd');
  const source: ContentSource = agent.source;
  const names: string[] = [...(await bmad.listAgents()), ...(await bmad.listWorkflows())];
  const metadata: AgentMetadata | null = await bmad.getAgentMetadata('architect');
  const all: AgentMetadata[] = await bmad.listAgentsWithMetadata();
  const files: FileInfo[] = await bmad.listAllFiles();
  const text: string = await bmad.loadFile('bmm/config.yaml');
  const hits: SearchHit[] = await bmad.search('research', searchOptions);
  const activation: Activation = await bmad.activate('architect', activateOptions);
  const context: WorkflowContext = activation.context;
  const folder: string = await bmad.resolveGitSource('git+file:///x.git');
  const query: RecordQuery = { kind: 'agent', module: 'bmm', origin: 'package', served: true };
  const records: MasterRecord[] = await bmad.queryRecords(query);
  const record: MasterRecord | null = await bmad.findRecord('architect');
  const manifest: AgentManifestEntry[] = context.agentManifestData ?? [];
  const transport: McpTransport = { start: async () => {}, send: async () => {}, close: async () => {} };
  const server: BmadServer = new BmadServer(options);
  await server.initialize();
  await server.connect(transport);
  await server.close();
  await bmad.refresh();
  bmad.close();
  const resolver = new GitSourceResolver(surroundings);
  const again: GitSourceResolver = new GitSourceResolver();
  const resolved: string = await resolver.resolve('git+file:///x.git');
  const kept: CacheEntry[] = await again.listCache();
  await resolver.clearCache();
  const spec: GitUrlSpec = resolver.parseGitUrl('git+file:///x.git');
  resolver.close();
  const { placeholders = { bmad_root: '' } } = context;
  return [
    ...records.map(({ status }) => status), record?.origin.manifestDir ?? '', ...manifest.map(({ role }) => role),
    project ?? '', ...warnings, workflow.content, source, ...names, metadata?.persona ?? '', text, folder, resolved,
    ...all.map(({ title }) => title), ...files.map(({ fullPath = '' }) => fullPath), ...hits.map(({ score }) => score.toFixed(1)),
    ...kept.map(({ path, fetchedAt }) => path + fetchedAt), spec.host, placeholders.bmad_root,
  ];
}

export function failed(error: unknown): ErrorCode | undefined {
  if (!(error instanceof BmadError)) return undefined;
  const words: string = error.text + (error.hint ?? '') + (error.subject ?? '') + error.suggestions.join(' ');
  return words === '' ? undefined : error.code;
}

// Mistakes that the declarations have to catch.
// @ts-expect-error -- a mode that does not exist
void openBmad({ discovery: 'everything' });
// @ts-expect-error -- an option that does not exist
void openBmad({ projekt: '/p' });
// @ts-expect-error -- a name is needed
void openBmad().then((bmad) => bmad.loadAgent());
// @ts-expect-error -- it may be null
void openBmad().then(async (bmad) => (await bmad.getAgentMetadata('x')).title);
`;

const STRICT = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  lib: ['es2022'],
  types: [],
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
};

describe('the declarations', () => {
  it.each([
    ['nodenext', 'nodenext', 'use.mts'],
    ['nodenext', 'nodenext', 'use.cts'],
    ['esnext', 'bundler', 'use.ts'],
    ['preserve', 'bundler', 'use.ts'],
  ])('compile with module %s and moduleResolution %s in %s', async (module, moduleResolution, file) => {
    const config = `tsconfig.${module}.${file}.json`;
    await writeFiles(folder, {
      [file]: USE,
      [config]: JSON.stringify({ compilerOptions: { ...STRICT, module, moduleResolution }, files: [file] }),
    });
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
    const { code, stdout } = await runToEnd(process.execPath, [tsc, '-p', config], { cwd: folder, env });
    expect(stdout.toString('utf8')).toBe('');
    expect(code).toBe(0);
  });
});
