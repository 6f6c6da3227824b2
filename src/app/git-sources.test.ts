import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { Kept } from '../base/text/message.ts';
import { createSecrets } from '../base/secrets/rules.ts';
import { agentFile, type TestRepository } from '../../tests/support/git-repository.ts';
import { GitMachine } from '../../tests/support/git-machine.ts';
import { contextIn, testCall } from '../../tests/support/app.ts';
import { list } from '../operations/catalogue/list.ts';
import { execute } from '../operations/execute.ts';
import { sourcesAdd, sourcesRemove } from '../operations/git-sources/sources.ts';
import { openDecisions } from '../services/decisions/decisions.ts';
import { createServedSources, type ServedSources } from './git-sources.ts';

let machine: GitMachine;
let repository: TestRepository;
let written: string[];

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  repository = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
  written = [];
});

/** The git sources of a server that looks for changes several times a second. */
async function restless(arrived: () => void): Promise<ServedSources> {
  const secrets = createSecrets();
  const sources = await createServedSources({
    used: () => true,
    given: [{ value: repository.source, layer: 'user', from: new Kept(() => 'a test') }],
    env: machine.env(),
    state: join(machine.home, 'state'),
    cache: join(machine.home, 'cache'),
    decisions: () => Promise.resolve(openDecisions(join(machine.home, 'state'))),
    user: { config: machine.config, lock: machine.lock },
    project: { config: machine.projectConfig, lock: machine.projectLock },
    timeoutMs: 120_000,
    approval: 'auto',
    refreshMinutes: 0.005,
    patient: false,
    tell: () => undefined,
    secrets,
    log: createLog({ level: 'warn', write: (text) => written.push(text), json: false, secrets }),
  });
  onTestFinished(() => sources.close());
  sources.begin(arrived);
  return sources;
}

const until = (check: () => Promise<void> | void): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 30 });
const commitOf = async (sources: ServedSources): Promise<string | undefined> =>
  (await sources.served()).mounts[0]?.commit;

describe('the version of what is served', () => {
  it('stays the same while nothing is missing: every change of it reads the content anew', async () => {
    const first = await restless(() => undefined);
    await until(async () => expect(await commitOf(first)).toBeDefined());
    first.close();
    const second = await restless(() => undefined);
    const before = await second.version();
    await second.retry();
    expect(await second.version()).toBe(before);
  });
});

describe('automatic refresh', () => {
  it('serves new commits as they come, and tells', async () => {
    let arrivals = 0;
    const sources = await restless(() => (arrivals += 1));
    await until(async () => expect(await commitOf(sources)).toBeDefined());
    const before = await sources.version();
    const next = await repository.commit({ 'agents/ada.md': agentFile('ada', 'Next') });
    await until(async () => expect(await commitOf(sources)).toBe(next));
    expect(await sources.version()).not.toBe(before);
    await until(() => expect(arrivals).toBeGreaterThanOrEqual(2));
    expect(written).toEqual([]);
  });

  it('tries again what could not be had at the start', async () => {
    await rename(repository.folder, `${repository.folder}.away`);
    const sources = await restless(() => undefined);
    await until(() => expect(written.join('')).toContain('there is no such repository'));
    // It is tried every moment, and while it is, that is what is told.
    await until(async () => expect((await sources.served()).warnings.join()).toContain('is not served: '));
    await rename(`${repository.folder}.away`, repository.folder);
    await until(async () => expect(await commitOf(sources)).toBeDefined());
    expect((await sources.served()).warnings).toEqual([]);
  });
});

describe('a source that a command adds while a server runs', () => {
  it('is served and listed with the next call, and no longer once it is removed', async () => {
    const server = await contextIn(machine.project, { env: machine.env(), home: machine.home });
    onTestFinished(() => server.close());
    const agents = async (): Promise<string> => {
      const outcome = await execute(list, { what: 'agents', detail: 'brief' }, server, testCall());
      return outcome.ok ? outcome.answer.body : outcome.error.text;
    };
    const named = async (): Promise<string[]> => {
      const team = await server.gitSources();
      return (await team.all()).map(({ address }) => address.source);
    };
    expect(await agents()).not.toContain('ada');
    await machine.ok(sourcesAdd, { source: repository.source });
    expect(await named()).toEqual([repository.source]);
    expect(await agents()).toContain('ada');
    await machine.ok(sourcesRemove, { source: repository.source });
    expect(await agents()).not.toContain('ada');
    expect(await named()).toEqual([]);
    expect(server.configWarnings).toEqual([]);
  });

  it('is told of where its address is none, until it is put right', async () => {
    const server = await contextIn(machine.project, { env: machine.env(), home: machine.home });
    onTestFinished(() => server.close());
    await server.workspace();
    await machine.write(machine.config, 'git = ["nowhere"]\n');
    await server.workspace();
    expect(server.configWarnings.join('\n')).toContain('nowhere');
    await machine.write(machine.config, '');
    await server.workspace();
    expect(server.configWarnings).toEqual([]);
  });
});
