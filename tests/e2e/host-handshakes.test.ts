import { realpath } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { recordings, replay, type Replayed } from '../support/host-recordings.ts';
import { installOf } from '../support/installs.ts';

const home = await temporaryFolder(afterAll);
const project = await realpath(await installOf('6.12.0'));
const recorded = await recordings();

type Table = Record<string, unknown>;

/** The results of all answers to a method; a failure among them fails the test. */
function resultsOf({ exchanges }: Replayed, method: string): Table[] {
  return exchanges
    .filter((exchange) => exchange.method === method)
    .map(({ answer }) => {
      expect(answer.error).toBeUndefined();
      return answer.result ?? {};
    });
}

const namesIn = (results: readonly Table[], key: string): string[] =>
  results.flatMap((result) => (result[key] as { name: string }[]).map(({ name }) => name));

it('has recordings of both eras', () => {
  expect(recorded.map(({ file }) => file)).toEqual([
    'claude-code-2.1.325-2025.jsonl',
    'claude-code-2.1.325-listening.jsonl',
    'claude-code-2.1.325.jsonl',
    'codex-0.166.0.jsonl',
    'gemini-cli-0.61.0.jsonl',
    'mcporter-0.12.3.jsonl',
    'opencode-1.18.18.jsonl',
  ]);
});

describe.each(recorded)('what $file writes', (recording) => {
  let replayed: Replayed;
  beforeAll(async () => {
    replayed = await replay(recording, project, home);
  });

  it('is answered, all of it, and nothing else is written', () => {
    const faults = replayed.exchanges.flatMap(({ method, answer }) =>
      answer.error === undefined ? [] : [`${method}: ${answer.error.message}`],
    );
    expect(faults).toEqual([]);
    expect(replayed.exchanges.length).toBeGreaterThan(1);
    expect(replayed.strays).toEqual([]);
    expect(replayed.stderr).toBe('');
  });

  it('opens the connection in the version the host asks for', () => {
    const [initialized] = resultsOf(replayed, 'initialize');
    const [discovered] = resultsOf(replayed, 'server/discover');
    expect(initialized?.['protocolVersion'] ?? discovered?.['supportedVersions']).toEqual(
      initialized === undefined ? expect.arrayContaining([recording.protocol]) : recording.protocol,
    );
    const capabilities = (initialized ?? discovered)?.['capabilities'];
    expect(capabilities).toMatchObject({ tools: {}, prompts: {}, resources: {} });
    expect((initialized ?? discovered)?.['instructions']).toContain('Use the tool "bmad"');
  });

  it('gets the lists, and no entry on two pages', () => {
    for (const tools of resultsOf(replayed, 'tools/list'))
      expect(namesIn([tools], 'tools')).toContain('bmad');
    // M-01: this host finds the project's skills itself and shows them as slash commands, as it does with prompts.
    const finds = recording.file.startsWith('claude-code');
    for (const prompts of resultsOf(replayed, 'prompts/list'))
      expect(namesIn([prompts], 'prompts').includes('bmad-architect')).toBe(!finds);
    const pages = resultsOf(replayed, 'resources/list');
    const uris = pages.flatMap(({ resources }) => (resources as { uri: string }[]).map(({ uri }) => uri));
    expect(new Set(uris).size).toBe(uris.length);
    for (const pong of resultsOf(replayed, 'ping')) expect(pong).toEqual({});
  });

  it('calls the tool for the project the host works in', () => {
    const texts = resultsOf(replayed, 'tools/call').map(({ content, isError }) => {
      expect(isError).toBeUndefined();
      return (content as { text: string }[])[0]?.text ?? '';
    });
    for (const text of texts.filter((one) => one.startsWith('# Winston')))
      expect(text).toContain(`- \`{project-root}\`: ${project}`);
    for (const text of texts) expect(text).toMatch(/Winston/);
  });

  it('is asked only what it has said it can answer', () => {
    expect(replayed.asked.map(({ method }) => method)).toEqual(
      recording.lines.flatMap((line) =>
        'server' in line && 'method' in line.server ? [line.server.method] : [],
      ),
    );
  });

  it(`ends with code 0 on ${recording.end}`, () => {
    expect(replayed.code).toBe(0);
  });
});
