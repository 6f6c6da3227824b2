import { describe, expect, it } from 'vitest';
import { isSecretFile } from './names.ts';

describe('files that hold secrets', () => {
  it.each([
    '.env',
    'a/.env.local',
    '.env-prod',
    '.env_local',
    '.env~',
    'env.production',
    'x/server.KEY',
    'id_rsa',
    '.netrc',
    '.envrc',
    '.git/config',
    '.git',
    'sub/.GIT/hooks/pre-commit',
    'a\\.ssh\\known_hosts',
    '.docker/config.json',
    '.dev.vars',
    'worker/.dev.vars.production',
    '.secrets',
    '.streamlit/secrets.toml',
    'local.settings.json',
    '.bash_history',
    '.config/gh/hosts.yml',
    '/home/ada/.kube/cache/x.ts',
    '/srv/app/credentials.json',
  ])('%s (X-08, X-12)', (path) => expect(isSecretFile(path)).toBe(true));

  it.each([
    '.gitignore',
    '.github/workflows/ci.yml',
    '.docker/Dockerfile',
    '.environment',
    'env.ts',
    'docs/env.md',
    'key.md',
    'src/keys.ts',
    'monkey',
    'dev.vars.ts',
    'docs/history.md',
    '/srv/credentials/app/a.ts',
    '/home/ada/.config/app/a.ts',
    'src/secrets/',
  ])('not %s', (path) => expect(isSecretFile(path)).toBe(false));
});
