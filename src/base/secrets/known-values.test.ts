import { describe, expect, it } from 'vitest';
import { isSecretName } from './names.ts';
import { createSecrets, stripAddressCredentials, stripUrlCredentials } from './rules.ts';
import { maskSecretValues } from './scanner.ts';

describe('stripUrlCredentials', () => {
  it.each([
    ['https://me:hunter2@example.org/x', 'https://***@example.org/x'],
    ['https://token@example.org', 'https://***@example.org'],
    ['https://me:p@ss@w@example.org/a@b', 'https://***@example.org/a@b'],
    ["https://me:it's'@example.org", 'https://***@example.org'],
    ['git+ssh://git@h.org/r.git, ssh://git@h', 'git+ssh://git@h.org/r.git, ssh://git@h'],
    ['sssh://git@h.org, ssh://a@b@h', 'sssh://***@h.org, ssh://***@h'],
    ['git+ssh://git:x@h.org:22/r.git and http://a:b@c', 'git+ssh://***@h.org:22/r.git and http://***@c'],
    [
      'see https://example.org/path, mail me@example.org',
      'see https://example.org/path, mail me@example.org',
    ],
    ['https://example.org?mail=me@example.org', 'https://example.org?mail=me@example.org'],
    ['"https://example.org","me@example.org"', '"https://example.org","me@example.org"'],
    ["['https://example.org','me@example.org']", "['https://example.org','me@example.org']"],
    ['<https://me:x@example.org>', '<https://***@example.org>'],
    ['https://me:x@', 'https://***@'],
    ['://@://@', '://***@://***@'],
    ['https://***@example.org', 'https://***@example.org'],
    ['no URL, but a: b @ c', 'no URL, but a: b @ c'],
    ['', ''],
  ])('makes of %j %j', (text, safe) => {
    expect(stripUrlCredentials(text)).toBe(safe);
  });

  it('takes time in proportion to the text, however many URLs there are', () => {
    const many = 'a://b '.repeat(400_000);
    expect(stripUrlCredentials(many)).toBe(many);
    expect(stripUrlCredentials(`a://${'@'.repeat(1_000_000)}`)).toBe('a://***@');
  });
});

describe('stripAddressCredentials', () => {
  it.each([
    ['git+https://me:hun/ter2@h.org/x.git#a@b', 'git+https://***@h.org/x.git#a@b'],
    ['https://token@h.org/x.git', 'https://***@h.org/x.git'],
    ['https://h.org/x.git', 'https://h.org/x.git'],
    ['git+ssh://git@h.org/x.git#v1', 'git+ssh://git@h.org/x.git#v1'],
    ['git+ssh://git:hun/ter2@h.org/x.git', 'git+ssh://***@h.org/x.git'],
    ['ssh://git@hun/ter2@h.org', 'ssh://***@h.org'],
    ['git@h.org:org/x.git', 'git@h.org:org/x.git'],
  ])('makes of %j %j', (text, safe) => {
    expect(stripAddressCredentials(text)).toBe(safe);
  });
});

describe('isSecretName', () => {
  const secret = `password PASSWORD db_password dbPassword DBPassword db.password smtp-passwd pwd passphrase
    api_key apiKey APIKey API-KEY apikey OPENAI_API_KEY x-api-key token GITHUB_TOKEN accessToken _authToken --token
    secret client_secret clientSecret secrets AWS_SECRET_ACCESS_KEY AWSSecretKey privateKey private_key signing_key
    encryptionKey credential credentials Authorization DB_PASS PGPASSWORD pass smtp_pass user_pass SSHPASS dbPass
    ADMIN_PW SECRET_KEY_BASE API_KEY_STAGING password2 DB_PASSWORD_2 refreshtoken key-store-password accountKey
    motDePasse MDP_BASE cle_api jeton`;
  it.each(['api key', ...secret.split(/\s+/)])('is careful with %j', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  const harmless = `max_tokens maxTokens tokens token_budget tokenLimit user_name username key keys primary_key keyboard
    monkey secretary password_policy passwordless author tokenizer - ... __proto__ constructor ключ compass bypass
    proxy_pass first_pass pass_2 SSH_ASKPASS NOPASSWD pad_token cost_per_token imagePullSecrets password_file
    access_key_id secretName public_key`;
  it.each(['', ...harmless.split(/\s+/)])('leaves %j alone', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('createSecrets', () => {
  it('removes what was registered, wherever it is', () => {
    const secrets = createSecrets();
    secrets.add('hunter2hunter2');
    secrets.add('$& (.*) [x]');
    expect(secrets.redact('a hunter2hunter2, $& (.*) [x]! hunter2hunter2')).toBe('a ***, ***! ***');
    expect(secrets.hide('hunter2hunter2 https://a:b@c')).toBe('*** https://a:b@c');
  });

  it('removes credentials of URLs that nobody registered', () => {
    expect(createSecrets().redact('git clone https://me:x@example.org/r')).toBe(
      'git clone https://***@example.org/r',
    );
  });

  it('does not take short values for secrets, they would blank out ordinary words', () => {
    const secrets = createSecrets();
    secrets.add('abcde');
    secrets.add('');
    expect(secrets.redact('abcde')).toBe('abcde');
    secrets.add('abcdef');
    expect(secrets.redact('abcdef')).toBe('***');
  });

  it.each([[['secret-1', 'secret-1-and-more']], [['secret-1-and-more', 'secret-1']]])(
    'leaves no rest of a secret that begins like another: %j',
    (values) => {
      const secrets = createSecrets();
      for (const value of values) secrets.add(value);
      expect(secrets.redact('x secret-1-and-more y secret-1 z')).toBe('x *** y *** z');
    },
  );

  it('removes a registered URL whole', () => {
    const secrets = createSecrets();
    secrets.add('https://me:x@example.org/hooks/private-part');
    expect(secrets.redact('to https://me:x@example.org/hooks/private-part')).toBe('to ***');
  });

  it('looks into data of any shape and leaves the rest of it', () => {
    const secrets = createSecrets();
    const date = new Date(0);
    const data = {
      a: ['x hunter2hunter2', 5, null, true],
      b: { c: { d: 'hunter2hunter2' } },
      date,
      none: undefined,
    };
    expect(secrets.hideIn(data)).toBe(data);
    secrets.add('hunter2hunter2');
    expect(secrets.hideIn(data)).toEqual({
      a: ['x ***', 5, null, true],
      b: { c: { d: '***' } },
      date,
      none: undefined,
    });
  });
});

describe('maskSecretValues', () => {
  it('masks everything under a secret-looking key and nothing else', () => {
    const date = new Date(0);
    expect(
      maskSecretValues({
        api_key: 'abc',
        pin: 1234,
        token: 1234,
        nested: [{ clientSecret: 'abc', name: 'kept', max_tokens: 5 }],
        secret: { value: 'abc', list: ['abc', { deep: 'abc' }], on: true },
        password: '',
        credentials: null,
        enabled: { token: false },
        url: 'https://me:x@example.org',
        hook: 'https://hooks.slack.com/services/T0123ABCD/B0123ABCD/a1B2a1B2a1B2',
        pass: { smtp: 'abc', from: '${SMTP_PASS}' },
        date,
      }),
    ).toEqual({
      api_key: '***',
      pin: 1234,
      token: '***',
      nested: [{ clientSecret: '***', name: 'kept', max_tokens: 5 }],
      secret: { value: '***', list: ['***', { deep: '***' }], on: true },
      password: '',
      credentials: null,
      enabled: { token: false },
      url: 'https://***@example.org',
      hook: 'https://hooks.slack.com/services/***',
      pass: { smtp: '***', from: '${SMTP_PASS}' },
      date,
    });
  });

  it('keeps a key called __proto__ a key', () => {
    const masked = maskSecretValues(JSON.parse('{"__proto__":{"token":"abc"}}')) as object;
    expect(JSON.stringify(masked)).toBe('{"__proto__":{"token":"***"}}');
    expect(Object.getPrototypeOf(masked)).toBe(Object.prototype);
  });
});
