import { describe, expect, it } from 'vitest';
import { isNoSecret, isNoSecretOf } from './values.ts';

describe('values under the name of a secret', () => {
  it.each([
    '',
    'true',
    'null',
    'inherit',
    '$DB_PASSWORD',
    '$password',
    '${DB_PASSWORD}',
    '${db.password:}',
    '${TOKEN:-}',
    '${TOKEN:-***}',
    '${TOKEN:?set it first}',
    '${{ secrets.TOKEN || github.token }}',
    '{{ vault_db_password }}',
    "{{ lookup('env', 'TOKEN') }}",
    '<%= ENV["TOKEN"] %>',
    '%TOKEN%',
    '<your token here>',
    'Bearer ${TOKEN}',
    '/run/secrets/db_password',
    '~/.vault',
    'keys/gcp.json',
    'op://shop/db/password',
    '!Ref DbPassword',
  ])('%j is none', (value) => {
    expect(isNoSecret(value)).toBe(true);
  });

  it.each([
    'hunter2',
    '$ecret1',
    '${TOKEN:-hunter2}',
    '${db.password:hunter2}',
    "${{ secrets.TOKEN || 'hunter2' }}",
    "{{ 'hunter2' }}",
    '<%= "hunter2" %>',
    '/aB3/dE9+x',
    '<a1b2>',
    'Bearer hunter2',
    '%a1b2%',
  ])('%j may be one', (value) => {
    expect(isNoSecret(value)).toBe(false);
  });

  it('is about tests under "pass" where it is a number or a sentence', () => {
    expect(isNoSecretOf('pass', '12')).toBe(true);
    expect(isNoSecretOf('pass', 'all tests are green')).toBe(true);
    expect(isNoSecretOf('pass', 'korn7blume')).toBe(false);
    expect(isNoSecretOf('smtp_pass', '123')).toBe(false);
  });
});
