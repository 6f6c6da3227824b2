import { describe, expect, it } from 'vitest';
import { maskConfigSecrets } from './config-scanner.ts';

/** Each text holds the word SECRET where a secret is; nothing else may change but these places. */
function mask(file: string, text: string): string {
  const masked = maskConfigSecrets(file, text);
  expect(maskConfigSecrets(file, masked)).toBe(masked);
  return masked;
}

describe('maskConfigSecrets in TOML', () => {
  it.each([
    ['in quotes', 'password = "SE\\"CR, ET" # mine\nname = "x"\n', 'password = "***" # mine\nname = "x"\n'],
    ['in literal quotes', "password = 'SE\\'\nname = 'x'\n", "password = '***'\nname = 'x'\n"],
    ['as a number', 'token = 123456\n', 'token = ***\n'],
    ['in three quotes', 'token = """SECRET"""\nx = 1\n', 'token = """***"""\nx = 1\n'],
    [
      'in three quotes over lines',
      'token = """\nSE\\"""\n"CR"\nET"""\nx = 1\n',
      'token = """***\n\n\n"""\nx = 1\n',
    ],
    ['in three literal quotes', "token = '''\nSE''C\nET'''\nx = 1\n", "token = '''***\n\n'''\nx = 1\n"],
    ['in a list', 'token = ["SE]CR", "SECRET"]\nx = 1\n', 'token = ***\nx = 1\n'],
    [
      'in a list over lines',
      "secrets = [\n  'SE', # it's ]\n  \"SECRET\",\n]\nx = 1\n",
      'secrets = ***\n\n\n\nx = 1\n',
    ],
    [
      'in an inline table',
      'db = { password = "SE}", name = "x" }\n',
      'db = { password = "***", name = "x" }\n',
    ],
    [
      'in tables of a list',
      'dbs = [\n{ token = "SE", a = 1 },\n{ token = "SE" },\n]\n',
      'dbs = [\n{ token = "***", a = 1 },\n{ token = "***" },\n]\n',
    ],
    [
      'in a dotted key',
      'db.password = "SECRET"\n"api key" = "SECRET"\n',
      'db.password = "***"\n"api key" = "***"\n',
    ],
    ['in a table', '[db]\n  password = "SECRET"\n  name = "x"\n', '[db]\n  password = "***"\n  name = "x"\n'],
    [
      'in a table of secrets',
      '[[a.secrets]] # x\nx = "SECRET"\n[b]\nx = 1\n',
      '[[a.secrets]] # x\nx = "***"\n[b]\nx = 1\n',
    ],
    ['in a table below', '["api key".x]\ny = "SECRET"\n', '["api key".x]\ny = "***"\n'],
    ['in a dotted table', 'password.old = "SECRET"\n', 'password.old = "***"\n'],
    ['in a comment', '# password = "SECRET"\nx = 1\n', '# password = "***"\nx = 1\n'],
    ['in a command', 'args = ["--token=SECRET", "--name=x"]\n', 'args = ["--token=***", "--name=x"]\n'],
  ])('masks a secret %s', (_, text, masked) => {
    expect(mask('config.toml', text)).toBe(masked);
  });

  it.each([
    'max_tokens = 5000\ntoken = ""\npassword = false\n',
    '[password]\n[name]\nx = "y"\n',
    'prompt = """\nAsk for the password: say please.\ntoken: one word\n"""\n',
    'text = "a password = b"\n',
  ])('leaves %j as it is', (text) => {
    expect(mask('config.toml', text)).toBe(text);
  });
});

describe('maskConfigSecrets in JSON', () => {
  it.each([
    [
      'on one line',
      '{"a":1,"password":"SE\\",C}","b":[{"token":"SECRET"}]}',
      '{"a":1,"password":"***","b":[{"token":"***"}]}',
    ],
    [
      'in many lines',
      '{\n  "apiKey": "SECRET",\n  "name": "x"\n}\n',
      '{\n  "apiKey": "***",\n  "name": "x"\n}\n',
    ],
    ['at the left', '{\n"token": "SECRET",\n"name": "x"\n}', '{\n"token": "***",\n"name": "x"\n}'],
    ['as a number', '{\n  "token": 12345\n}', '{\n  "token": ***\n}'],
    ['as a list', '{"secrets": [\n  "SE]",\n  "SECRET"\n], "a": 1}', '{"secrets": ***\n\n\n, "a": 1}'],
    [
      'as a table',
      '{"credentials": {"a": "SECRET", "b": {"c": "SE}"}}, "a": 1}',
      '{"credentials": ***, "a": 1}',
    ],
    ['on the next line', '{"token":\n    "SECRET"\n}', '{"token":\n    "***"\n}'],
    [
      'in a header',
      '{"headers": {"Authorization": "Bearer SECRET"}}',
      '{"headers": {"Authorization": "***"}}',
    ],
    ['in an argument', '{"args": ["--api-key=SECRET", "x"]}', '{"args": ["--api-key=***", "x"]}'],
    [
      'in a connection',
      '{"db": "Server=x;Password=SECRET;Name=y"}',
      '{"db": "Server=x;Password=***;Name=y"}',
    ],
    ['in a comment', '{\n  // "token": "SECRET",\n  "a": 1\n}', '{\n  // "token": "***",\n  "a": 1\n}'],
  ])('masks a secret %s', (_, text, masked) => {
    expect(mask('mcp.json', text)).toBe(masked);
    expect(mask('mcp.jsonc', text)).toBe(masked);
  });

  it.each([
    '{"max_tokens":5,"token":null,"password":"","secret":false}',
    '{"text":"a, \\"password\\": b","list":["password","token"]}',
  ])('leaves %j as it is', (text) => {
    expect(mask('mcp.json', text)).toBe(text);
  });
});

describe('maskConfigSecrets in lines', () => {
  it.each([
    ['plain', 'DB_PASSWORD=SE CR,ET #x\nNAME=x\n', 'DB_PASSWORD=***\nNAME=x\n'],
    ['exported', 'export API_KEY=SECRET\n', 'export API_KEY=***\n'],
    ['in quotes', 'API_KEY="SE\\"CRET" # mine\nA=b\n', 'API_KEY="***" # mine\nA=b\n'],
    ['in quotes over lines', 'PRIVATE_KEY="-----\nSECRET\n-----"\nA=b\n', 'PRIVATE_KEY="***\n\n"\nA=b\n'],
    ['in pieces', 'TOKEN="SE"CR\'ET\'\nA=b\n', 'TOKEN=***\nA=b\n'],
    ['with brackets', 'TOKEN=[SE\nA=b\n', 'TOKEN=***\nA=b\n'],
    ['in JSON', 'CONFIG={"token":"SECRET","a":1}\nA=b\n', 'CONFIG={"token":"***","a":1}\nA=b\n'],
    ['over lines', 'password=SE\\\n  CRET\nA=b\n', 'password=***\n\nA=b\n'],
    ['over lines with CRLF', 'password=SE\\\r\n  CRET\r\nA=b\r\n', 'password=***\r\n\r\nA=b\r\n'],
    ['with a colon', 'password: SECRET\n', 'password: ***\n'],
    ['in a section of secrets', '[secrets]\na = SECRET\n[x]\nb = c\n', '[secrets]\na = ***\n[x]\nb = c\n'],
    ['in a section', '[db]\npassword = SECRET\nname = x\n', '[db]\npassword = ***\nname = x\n'],
    ['in a comment', '; password = SECRET\n#TOKEN=SECRET\nA=b\n', '; password = ***\n#TOKEN=***\nA=b\n'],
    ['in a URL', 'URL=https://me:SECRET@h/x\r\nPWD=SECRET\r\n', 'URL=https://***@h/x\r\nPWD=***\r\n'],
  ])('masks a secret %s', (_, text, masked) => {
    for (const file of ['.env', 'a/.env.local', 'prod.env', 'x.ini', 'x.cfg', 'x.conf', 'X.PROPERTIES'])
      expect(mask(file, text)).toBe(masked);
  });

  it('leaves harmless lines as they are', () => {
    const text = 'MAX_TOKENS=5\nTOKEN=\nUSE_TOKEN=true\nUSER_NAME="x"\n# Say the password: please\n';
    expect(mask('.env', text)).toBe(text);
  });
});

describe('maskConfigSecrets', () => {
  it('takes time in proportion to the text', () => {
    const lists = `[${'"a",'.repeat(200_000)}]`;
    expect(maskConfigSecrets('a.json', lists)).toBe(lists);
    expect(maskConfigSecrets('a.yaml', 'token: "SE\nx: 1, 2\n'.repeat(50_000))).not.toContain('SE');
    expect(maskConfigSecrets('a.toml', `{${'token = SE\n'.repeat(50_000)}`)).not.toContain('SE');
    expect(maskConfigSecrets('.env', 'PASSWORD=SE\\\n'.repeat(50_000))).toBe(
      `PASSWORD=***${'\n'.repeat(50_000)}`,
    );
  });

  it.each(['guide.md', 'table.csv', 'program.py', 'env', 'x.environment', 'yaml', 'json.md'])(
    'leaves %s as it is, which is no configuration file',
    (file) => {
      expect(mask(file, 'password: SECRET')).toBe('password: SECRET');
    },
  );

  it('masks to the end rather than too little where a quotation mark is missing', () => {
    expect(mask('a.yaml', 'password: "SE\nx: SECRET\n')).toBe('password: ***\n\n');
    expect(mask('a.toml', 'password = """SE\nx\n')).toBe('password = ***\n\n');
    expect(mask('a.json', '{"password": ["SE", ')).toBe('{"password": ***');
  });
});
