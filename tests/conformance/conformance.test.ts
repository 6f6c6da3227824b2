import { join } from 'node:path';
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundle, bundleLatePackages } from '../../scripts/bundle.ts';
import { contentRoot, repository, serverFile, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { textsOf } from '../support/mcp-client.ts';
import { PNG } from './fixtures/content-tools.ts';
import { CONTENT } from './fixtures/stand-ins.ts';
import { SKILLS_SCENARIOS } from './skills.ts';
import { faults, passedChecks, requiredScenarios, runSuite, type SuiteRun } from './suite.ts';
import { isDeep, some } from '../support/how-much.ts';

/** How much of the suite has to pass; the suite is of an exact version, so the numbers change only with it or with us. */
const REVISIONS = [
  { revision: '2025-11-25', scenarios: 30, checks: 70 },
  { revision: '2026-07-28', scenarios: 37, checks: 120 },
];

/**
 * Scenarios the suite runs without scoring them, and which we do not pass: each is for something this server does not
 * offer. Resuming a stream is a recommendation, and only for servers whose calls outlive a connection.
 */
const NOT_OFFERED: Record<string, RegExp> = {
  'the tasks extension': /^tasks-/,
  'arguments that are repeated in a header': /^http-custom-header-server-validation$/,
  'resuming a stream of events': /^server-sse-polling$/,
};

/** What any server has to do whatever it serves: these run against the built program, without a fixture. */
const WITHOUT_FIXTURES: Record<string, readonly string[]> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
    'server-session-lifecycle',
  ],
  '2026-07-28': [
    'tools-list',
    'server-sse-multiple-streams',
    'resources-list',
    'sep-2164-resource-not-found',
    'prompts-list',
    'dns-rebinding-protection',
    'caching',
    'input-required-result-unsupported-methods',
    'http-header-validation',
  ],
};

const ERAS: { era: string; mode: VersionNegotiationMode }[] = [
  { era: '2025', mode: 'legacy' },
  { era: '2026', mode: { pin: '2026-07-28' } },
];

const folder = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);

/** Our server with the suite's fixtures, bundled as our programs are. */
async function startWithFixtures(): Promise<HttpServerProcess> {
  const bundles = join(repository, '.cache', 'conformance');
  await bundle({ entries: { server: 'tests/conformance/server.ts' }, folder: bundles });
  await bundleLatePackages(bundles);
  const content = join(folder, 'content');
  await writeFiles(content, {
    [`agents/${CONTENT.agent}.md`]: `---\nname: "${CONTENT.agent}"\ndescription: Number ${CONTENT.agent}\n---\n`,
    [CONTENT.text]: '# Notes\n',
    [CONTENT.image]: Buffer.from(PNG, 'base64'),
  });
  const args = [join(bundles, 'server.cjs'), contentRoot, content];
  return startHttpServer({ cwd: content, home, args });
}

describe('the official conformance suite', () => {
  let url = '';
  beforeAll(async () => {
    const server = await startWithFixtures();
    url = server.url;
    return async () => void (await server.stop());
  });

  it.each(ERAS)(
    'is joined by an official client of $era whose user and model are asked',
    async ({ mode }) => {
      const asked: string[] = [];
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} }, sampling: {} } },
      );
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
      });
      client.setRequestHandler('sampling/createMessage', ({ params }) => {
        asked.push(JSON.stringify(params.messages));
        return { model: 'm', role: 'assistant', content: { type: 'text', text: 'forty-two' } };
      });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      onTestFinished(() => client.close());
      const user = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } });
      const model = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'How many?' } });
      expect(asked).toEqual(['Who?', expect.stringContaining('How many?')]);
      expect(textsOf(user).join()).toContain('ada@example.com');
      expect(textsOf(model).join()).toContain('forty-two');
    },
  );

  it.each(REVISIONS)('finds all it requires for $revision', async ({ revision, scenarios, checks }) => {
    const reports = await temporaryFolder(afterAll);
    const required = await requiredScenarios(revision, reports);
    const run = await runSuite(url, reports, ['--requirements', revision]);
    expect(faults(run, required), run.output).toEqual([]);
    expect(run.code).toBe(0);
    expect(required).toHaveLength(scenarios);
    expect(passedChecks(run, required)).toBe(checks);
    expect(unexpected(run)).toEqual([]);
  });
});

/** Faults in what is not scored, but for what we do not offer. */
function unexpected(run: SuiteRun): string[] {
  const names = [...run.scenarios.keys()].filter(
    (name) => !Object.values(NOT_OFFERED).some((pattern) => pattern.test(name)),
  );
  return faults(run, names);
}

// The first run has shown what is required, of the same factory in a bundle made the same way; the skills below are
// those of the program as it is built.
describe.runIf(isDeep)('the built program over HTTP', () => {
  let url = '';
  beforeAll(async () => {
    const server = await startHttpServer({ cwd: folder, home });
    url = server.url;
    return async () => void (await server.stop());
  });

  it.each(Object.entries(WITHOUT_FIXTURES))('passes what needs no fixture of %s', async (revision, names) => {
    const run = await runSuite(url, await temporaryFolder(afterAll), ['--requirements', revision]);
    expect(faults(run, names), run.output).toEqual([]);
  });
});

/** The suite looks into the first skill and needs a folder in it; the first of BMAD's has none. */
const FIRST_SKILL = {
  'module.yaml': 'code: aaa\nname: First\n',
  'aaa-first/SKILL.md': '---\nname: aaa-first\ndescription: The first skill\n---\n# First\n',
  'aaa-first/references/more.md': '# More\n',
};

describe('the skills of the built program', () => {
  let url = '';
  beforeAll(async () => {
    const skills = join(folder, 'aaa');
    await writeFiles(skills, FIRST_SKILL);
    const args = [serverFile, '--http', '--port', '0', '--path', skills];
    const server = await startHttpServer({ cwd: folder, home, args });
    url = server.url;
    return async () => void (await server.stop());
  });

  // What the others ask for, the official client asks for in tests/e2e/skills.test.ts.
  it.each(some(1, SKILLS_SCENARIOS))('pass %s', async (name) => {
    const run = await runSuite(url, await temporaryFolder(afterAll), ['--scenario', name]);
    expect(faults(run, [name]), run.output).toEqual([]);
    expect(run.code).toBe(0);
    expect(passedChecks(run, [name])).toBeGreaterThan(0);
  });
});
