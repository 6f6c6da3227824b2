import { describe, expect, it } from 'vitest';
import { maskCodeSecrets } from './scanner.ts';

describe('secrets in code', () => {
  it.each([
    ['const apiKey = "abcd1234";', 'const apiKey = "***";'],
    ["  password: 'hunter22',", "  password: '***',"],
    ['"client_secret": "x1y2z3"', '"client_secret": "***"'],
    ['let token: string = `abcdef`;', 'let token: string = `***`;'],
    ['key = AKIAIOSFODNN7EXAMPLE', 'key = ***'],
    ['https://me:pass@host/x', 'https://***@host/x'],
    [
      '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----\n***\n-----END PRIVATE KEY-----',
    ],
    ['const password = "correct horse battery";', 'const password = "***";'],
    ['"Server=a;Password=hunter2;"', '"Server=a;Password=***;"'],
    ['// DB_PASSWORD=hunter2secretvalue', '// DB_PASSWORD=***'],
    ["run('x --password hunter2secret')", "run('x --password ***')"],
  ])('masks %j', (text, masked) => {
    expect(maskCodeSecrets(text)).toBe(masked);
  });

  it.each([
    'const maxTokens = "many";',
    'password: "the password is missing"',
    'const token = "${TOKEN}";',
    'if (token === "") return;',
    'const secret = readSecret("name");',
    'interface Login { password: string; token?: Token }',
    'token = getToken()',
    'const headers = { authorization: `Bearer ${apiKey}` };',
    'const token = this.tokens[0];',
    "if (begins === '-----BEGIN PRIVATE KEY-----') return true;\nreturn false;",
    'login(password=password1, token=self.token)',
  ])('leaves %j as it is', (text) => {
    expect(maskCodeSecrets(text)).toBe(text);
  });

  it.each([
    ['a.sh', 'export DB_PASSWORD=hunter2secretvalue && run', 'export DB_PASSWORD=*** && run'],
    ['a.sh', 'mysql --password hunter2secretvalue -u me', 'mysql --password *** -u me'],
    ['a.yaml', 'password: hunter2secretvalue', 'password: ***'],
    ['a.yaml', '  password: my secret, phrase # why', '  password: *** # why'],
    ['a.yaml', 'token: |\n  abcd\n  efgh\nnext: 1', 'token: |\n  ***\n  ***\nnext: 1'],
    ['a.yaml', '- api_key: abcdefghijkl', '- api_key: ***'],
    ['a.yaml', "password: 'with blanks inside'", "password: '***'"],
    ['a.properties', 'spring.datasource.password=hunter,two', 'spring.datasource.password=***'],
    ['a.conf', '//packages.example.org/:_authToken=abcdefgh', '//packages.example.org/:_authToken=***'],
    ['a.properties', 'password=abcdef #more\r\nx=1', 'password=***\r\nx=1'],
    ['a.ini', 'mdp = abcdefgh', 'mdp = ***'],
    ['a.toml', 'token = "abcdefgh"', 'token = "***"'],
    ['a.yaml', '- name: DB_PASSWORD\n  value: hunter2', '- name: DB_PASSWORD\n  value: ***'],
    ['a.config', '<add key="Password" value="hunter2"/>', '<add key="Password" value="***"/>'],
    ['a.xml', '<password>hunter2</password>', '<password>***</password>'],
    ['Dockerfile', 'ENV DB_PASSWORD hunter2', 'ENV DB_PASSWORD ***'],
    ['a.md', 'Set DB_PASSWORD=hunter2secret first', 'Set DB_PASSWORD=*** first'],
    ['a.md', 'Mot de passe : hunter2secret', 'Mot de passe : ***'],
    ['a.txt', 'AccountKey=abcdefgh==', 'AccountKey=***'],
    ['a.yaml', '- "TOKEN=abcd1234"', '- "TOKEN=***"'],
    ['a.yaml', 'a: ${DB_PASSWORD:-hunter2}', 'a: ${DB_PASSWORD:-***}'],
    ['a.yaml', 'password: $ecret1', 'password: ***'],
    ['a.json', '"api_key": "a1b2c3a4"', '"api_key": "***"'],
    ['a.sh', 'curl -H "Authorization: Basic dXNlcjpwYXNz"', 'curl -H "Authorization: Basic ***"'],
    ['compose.yml', 'command: mysqld --password S3cretPass99', 'command: mysqld --password ***'],
    ['a.yaml', 'run: curl -H "X-Api-Key: a1b2c3d4e5" x', 'run: curl -H "X-Api-Key: ***" x'],
    ['a.yaml', 'run: |\n  login --token S3cretPass99 x', 'run: |\n  login --token *** x'],
    ['a.toml', 'cmd = "login --token S3cretPass99"', 'cmd = "login --token ***"'],
    ['a.ini', 'cmd = login --token S3cretPass99 x', 'cmd = login --token *** x'],
    ['.env', 'CMD="curl -H \'X-Api-Key: a1b2c3d4e5\'"', 'CMD="curl -H \'X-Api-Key: ***\'"'],
    ['compose.yml.j2', 'db_password: |\n  abcd efgh\nnext: 1', 'db_password: |\n  ***\nnext: 1'],
    ['compose.yml.j2', 'token: |\r\n  abcd\r\nnext: 1\r\n', 'token: |\r\n  ***\r\nnext: 1\r\n'],
    ['compose.yml.j2', 'password: a(b&c1234', 'password: ***'],
    ['a.toml', 'login = """\npassword: a(b&c1234\n"""', 'login = """\npassword: ***\n"""'],
    ['a.ini', 'token: |\n  abcd efgh\nnext: 1', 'token: ***\n  ***\nnext: 1'],
    ['a.yaml', '# mot de passe: a(b&c1234', '# mot de passe: ***'],
    ['compose.yml.j2', '- "TOKEN=a(b&c1234"', '- "TOKEN=***"'],
    ['Dockerfile', 'ENV DB_PASSWORD hunter2\r\nUSER me\r\n', 'ENV DB_PASSWORD ***\r\nUSER me\r\n'],
  ])('masks bare values in %s: %j', (path, text, masked) => {
    expect(maskCodeSecrets(text, path)).toBe(masked);
  });

  it.each([
    ['a.sh', 'TOKEN=$(get_token)'],
    ['a.sh', 'PASSWORD=$DB_PASSWORD'],
    ['a.yaml', 'password: ${DB_PASSWORD}'],
    ['a.yaml', 'token: true'],
    ['a.yaml', 'max_tokens: 4096'],
    ['a.md', 'password: required for every account'],
    ['a.md', 'Use --token when asked, or --token TOKEN'],
    ['a.json', '"password": "Enter your password"'],
  ])('leaves what is no value in %s: %j', (path, text) => {
    expect(maskCodeSecrets(text, path)).toBe(text);
  });

  it('masks a long key everywhere and keeps the lines', () => {
    for (const kind of ['RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK', 'OPENSSH PRIVATE KEY']) {
      const key = `x\n-----BEGIN ${kind}-----\n${'QUJDRA\n'.repeat(300)}`;
      for (const text of [key, `${key}-----END ${kind}-----\nafter()`]) {
        const masked = maskCodeSecrets(text, 'a.ts');
        expect(masked).not.toContain('QUJD');
        expect(masked.split('\n')).toHaveLength(text.split('\n').length);
        expect(masked.endsWith('after()')).toBe(text.endsWith('after()'));
      }
    }
  });

  it.each([
    `glpat-${'a1'.repeat(10)}`,
    `hf_${'a1'.repeat(12)}`,
    `rk_live_${'a1'.repeat(12)}`,
    `AGE-SECRET-KEY-1${'Q2'.repeat(20)}`,
    `github_pat_${'a1'.repeat(12)}`,
  ])('knows the look of %s', (token) => {
    expect(maskCodeSecrets(`use ${token} here`)).toBe('use *** here');
  });

  it('is quick whatever the text', () => {
    for (const text of [
      'a'.repeat(50_000),
      'token="'.repeat(8_000),
      `x${' '.repeat(30_000)}=`,
      '-----BEGIN PRIVATE KEY-----'.repeat(500),
    ])
      for (const path of ['a.ts', 'a.yaml', 'a.md'])
        expect(maskCodeSecrets(text, path).length).toBeGreaterThan(0);
  });
});
