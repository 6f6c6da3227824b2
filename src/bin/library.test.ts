import { InMemoryTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { ERROR_CODES } from '../base/errors.ts';
import type * as Public from '../library/public.ts';
import * as library from './library.ts';

/** The compiler holds the code to its declarations here. */
const promised: typeof Public = library;
const { openBmad, BmadServer, GitSourceResolver } = promised;

describe('the exports of the package', () => {
  it('are those that are declared', () => {
    const declared: Record<keyof typeof Public, true> = {
      openBmad: true,
      BmadServer: true,
      GitSourceResolver: true,
      BmadError: true,
    };
    expect(Object.keys(library).sort()).toEqual(Object.keys(declared).sort());
  });

  it('declare every error code', () => {
    const declared: Record<Public.ErrorCode, true> = {
      invalid_input: true,
      not_found: true,
      ambiguous: true,
      conflict: true,
      forbidden: true,
      too_large: true,
      unavailable: true,
      cancelled: true,
      internal: true,
    };
    expect(Object.keys(declared).sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });
});

describe('openBmad', () => {
  it('refuses options it cannot use, in the words of the options', async () => {
    const home = await temporaryFolder(afterAll);
    const surroundings = { home, env: {} };
    const wrong: [object, string][] = [
      [{ discovery: 'everything' }, 'option "discovery"'],
      [{ project: '/no/such/folder' }, 'option "project"'],
      [{ project: home }, 'home folder'],
      [{ git: ['http://host/org/repo.git'] }, 'http is not encrypted'],
      [{ paths: [''] }, 'option "paths"'],
    ];
    for (const [options, words] of wrong) {
      const error = await refusal(() => openBmad({ ...surroundings, discovery: 'strict', ...options }));
      expect(error.code).toBe('invalid_input');
      expect(error.message).toContain(words);
      expect(error.hint).toBeTruthy();
    }
  });

  it('tells the log, and nobody without one', async () => {
    const [project, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    const lines: string[] = [];
    const options = { project, home, env: { BMAD_PAGE_SIZE: 'many' }, discovery: 'strict' } as const;
    const bmad = await openBmad({ ...options, log: (line) => lines.push(line) });
    expect(lines).toEqual([expect.stringContaining('BMAD_PAGE_SIZE')]);
    expect(bmad.warnings).toEqual([expect.stringContaining('BMAD_PAGE_SIZE')]);
    expect(await bmad.listAgents()).toEqual([]);
    bmad.close();
  });
});

describe('BmadServer', () => {
  const opened = async () => {
    const [project, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    return new BmadServer({ project, home, env: {}, discovery: 'strict' });
  };
  /** A transport that says whether it was ever used. */
  const unused = () => {
    const [ours] = InMemoryTransport.createLinkedPair();
    const used: string[] = [];
    const start = ours.start.bind(ours);
    ours.start = async () => {
      used.push('start');
      return start();
    };
    return { ours, used };
  };
  const cancelled = { code: 'cancelled', message: 'The server was closed.' };

  it('serves nobody after it was closed, and can be closed twice', async () => {
    const server = await opened();
    await server.initialize();
    await server.close();
    const { ours, used } = unused();
    expect(await refusal(() => server.connect(ours))).toMatchObject(cancelled);
    expect(await refusal(() => server.initialize())).toMatchObject(cancelled);
    expect(used).toEqual([]);
    await server.close();
  });

  it('serves nobody who connects while it is closed, however far that is', async () => {
    for (const calls of ['initialize', 'connect', 'both'] as const) {
      const server = await opened();
      const { ours, used } = unused();
      const first = calls === 'connect' ? undefined : refusal(() => server.initialize());
      const second = calls === 'initialize' ? undefined : refusal(() => server.connect(ours));
      await server.close();
      if (first !== undefined) expect(await first).toMatchObject(cancelled);
      if (second !== undefined) expect(await second).toMatchObject(cancelled);
      expect(used).toEqual([]);
    }
  });

  it('refuses a path and git sources as arguments, which would be served another project (A-14)', () => {
    const Loose = BmadServer as unknown as new (...options: unknown[]) => unknown;
    for (const given of [['/project', ['git+https://example.org/x.git']], ['/project'], [{}, []]])
      expect(() => new Loose(...given)).toThrow('BmadServer takes one object with options.');
  });

  it('opens nothing to be closed', async () => {
    const server = new BmadServer({ project: '/no/such/folder', env: {} });
    await server.close();
    expect(await refusal(() => server.initialize())).toMatchObject(cancelled);
  });
});

describe('GitSourceResolver', () => {
  it('takes sources apart', () => {
    const { parseGitUrl } = new GitSourceResolver();
    expect(parseGitUrl('git+https://github.com/org/repo.git')).toEqual({
      protocol: 'https',
      host: 'github.com',
      org: 'org',
      repo: 'repo',
      ref: '',
    });
    expect(parseGitUrl('git+https://ada:secret@github.com/org/repo.git#v1.0.0:/packs/bmad')).toEqual({
      protocol: 'https',
      host: 'github.com',
      org: 'org',
      repo: 'repo',
      ref: 'v1.0.0',
      subpath: 'packs/bmad',
    });
    expect(() => parseGitUrl('ext::sh -c id')).toThrow(library.BmadError);
  });

  it('does nothing before it is asked, and nothing after it was closed', async () => {
    const resolver = new GitSourceResolver({ home: await temporaryFolder(afterAll), env: {} });
    resolver.close();
    expect((await refusal(() => resolver.resolve('git+file:///nowhere/x.git'))).code).toBe('cancelled');
  });
});
