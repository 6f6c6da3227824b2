import { describe, expect, it } from 'vitest';
import { BmadError } from '../../base/errors.ts';
import { parseGitAddress } from './address.ts';

describe('parseGitAddress', () => {
  const forms: [string, Partial<ReturnType<typeof parseGitAddress>>][] = [
    [
      'git+https://github.com/org/repo.git',
      {
        protocol: 'https',
        host: 'github.com',
        org: 'org',
        repo: 'repo',
        ref: '',
        url: 'https://github.com/org/repo.git',
      },
    ],
    ['git+https://github.com/org/repo.git#main', { ref: 'main' }],
    ['git+https://github.com/org/repo.git#v2.0.0', { ref: 'v2.0.0' }],
    ['git+https://github.com/org/repo.git#feature/x-1', { ref: 'feature/x-1' }],
    [
      'git+https://github.com/org/repo.git#0123456789abcdef0123456789abcdef01234567:/packs/team',
      { ref: '0123456789abcdef0123456789abcdef01234567', subpath: 'packs/team', name: 'team' },
    ],
    [
      'git+https://GitLab.example:8443/group/sub/repo',
      {
        host: 'gitlab.example',
        org: 'group/sub',
        repo: 'repo',
        url: 'https://gitlab.example:8443/group/sub/repo',
      },
    ],
    ['git+https://h.example/repo.git#:/sub', { ref: '', subpath: 'sub', org: '' }],
    [
      'git+ssh://git@github.com/org/repo.git#main:/path',
      { protocol: 'ssh', host: 'github.com', url: 'ssh://git@github.com/org/repo.git', subpath: 'path' },
    ],
    ['git+ssh://git@[::1]:2222/org/repo.git', { host: '[::1]', url: 'ssh://git@[::1]:2222/org/repo.git' }],
    [
      'git+git@github.com:org/repo.git#dev',
      { protocol: 'ssh', org: 'org', repo: 'repo', ref: 'dev', url: 'git@github.com:org/repo.git' },
    ],
    [
      'git@github.com:org/repo.git',
      { protocol: 'ssh', url: 'git@github.com:org/repo.git', source: 'git+git@github.com:org/repo.git' },
    ],
    [
      'git+file:///srv/git/team.git#main:/sub dir',
      {
        protocol: 'file',
        host: '',
        org: 'srv/git',
        repo: 'team',
        url: 'file:///srv/git/team.git',
        subpath: 'sub dir',
      },
    ],
    ['git+file://localhost/srv/git/team.git', { url: 'file:///srv/git/team.git' }],
    ['git+file:///C:/git/team.git', { url: 'file:///C:/git/team.git' }],
  ];
  it.each(forms)('takes %s apart', (text, parts) => {
    expect(parseGitAddress(text)).toMatchObject(parts);
  });

  it.each([
    'git+',
    'git+https://',
    'git+https://onlyhost',
    'git+https://host/',
    'git+http://host/org/repo.git',
    'git+ftp://127.0.0.1/org/repo.git',
    'git+ext::sh -c "touch /tmp/x"',
    'git+ext::sh',
    'git+fd::17/x',
    'git+javascript:1',
    'git+file://server/share/repo.git',
    'git+file:///srv/../etc/repo.git',
    'git+file:///srv/%2e%2e/etc/repo.git',
    'git+https://--upload-pack=touch/a/b.git',
    'git+ssh://-oProxyCommand=touch/a/b.git',
    'git+ssh://git@-oProxyCommand=touch%20x/a/b.git',
    'git+ssh://-oProxyCommand=x@host/a/b.git',
    'git+ssh://git:pass@host/a/b.git',
    'git+-oProxyCommand=x@host:a/b.git',
    'git+git@-host:a/b.git',
    'git+git@host:../../etc',
    'git+git@host:-x/y',
    'git+https://host/org/--upload-pack=x',
    'git+https://host/org/../../x',
    'git+https://host/org//repo.git',
    'git+https://host/org/repo.git?x=1',
    'git+https://host/org/re po.git',
    'git+https://host/org/re%0apo.git',
    'git+https://host/org/re%zzpo.git',
    'git+https://host/org/repo.git#--upload-pack=touch',
    'git+https://host/org/repo.git#-c',
    'git+https://host/org/repo.git#a..b',
    'git+https://host/org/repo.git#main~1',
    'git+https://host/org/repo.git#main^',
    'git+https://host/org/repo.git#@{-1}',
    'git+https://host/org/repo.git#a b',
    'git+https://host/org/repo.git#main\nx',
    'git+https://host/org/repo.git#x.lock',
    'git+https://host/org/repo.git#main:sub',
    'git+https://host/org/repo.git#main:/../outside',
    'git+https://host/org/repo.git#main:/a/./b',
    'git+https://host/org/repo.git#main:/a//b',
    'git+https://host/org/repo.git#main:/-x',
    'git+https://host/org/repo.git#main:/a\\b',
    'git+https://host/org/repo.git#main:/.git/hooks',
    `git+https://host/org/repo.git#${'x'.repeat(3_000)}`,
  ])('refuses %j and says how a source looks', (text) => {
    const error = thrownBy(text);
    expect(error.code).toBe('invalid_input');
    expect(error.hint).toContain('git+https://host/org/repo.git');
  });

  it('keeps credentials out of everything that is shown', () => {
    const address = parseGitAddress('git+https://ada:p%40ss-word@host/org/repo.git#main');
    expect(address.credentials).toEqual({ username: 'ada', password: 'p@ss-word' });
    const { credentials: _, ...rest } = address;
    expect(JSON.stringify(rest)).not.toMatch(/ada|ss-word/);
    expect(parseGitAddress('git+https://ghp_token@host/org/repo.git').credentials).toEqual({
      username: 'ghp_token',
      password: '',
    });
    expect(thrownBy('git+https://ada:p4ssword@host').text).not.toContain('p4ssword');
    expect(thrownBy('git+ftp://ada:p4ssword@host/x/y').text).not.toContain('p4ssword');
  });

  it('gives two sources two keys, and the refs of one repository one repository', () => {
    const at = (text: string) => parseGitAddress(`git+https://host/${text}`);
    expect(at('a-b/c.git').repositoryKey).not.toBe(at('a/b-c.git').repositoryKey);
    expect(at('a/b.git#main').repositoryKey).toBe(at('a/b.git#v1:/x').repositoryKey);
    const keys = ['a/b.git', 'a/b.git#main', 'a/b.git#main:/x', 'a/b.git#main/x', 'a/b.git#:/main'].map(
      (text) => at(text).sourceKey,
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(parseGitAddress('git+https://tok3n1234@host/a/b.git').sourceKey).toBe(at('a/b.git').sourceKey);
  });
});

function thrownBy(text: string): BmadError {
  try {
    parseGitAddress(text);
  } catch (error) {
    if (error instanceof BmadError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}
