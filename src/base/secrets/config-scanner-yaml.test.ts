import { describe, expect, it } from 'vitest';
import { maskConfigSecrets } from './config-scanner.ts';

/** Each text holds the word SECRET where a secret is; nothing else may change but these places. */
function mask(file: string, text: string): string {
  const masked = maskConfigSecrets(file, text);
  expect(maskConfigSecrets(file, masked)).toBe(masked);
  return masked;
}

describe('maskConfigSecrets in YAML', () => {
  it.each([
    ['at the top', 'password: SECRET\nname: x\n', 'password: ***\nname: x\n'],
    ['nested', 'db:\n  password: SECRET\n  name: x\n', 'db:\n  password: ***\n  name: x\n'],
    ['in a list', '- token: SECRET\n  name: x\n- name: y\n', '- token: ***\n  name: x\n- name: y\n'],
    ['in a list of a list', '- - token: SECRET\n    name: x\n', '- - token: ***\n    name: x\n'],
    ['with commas and braces', 'password: SE,CR}ET]x\nname: x\n', 'password: ***\nname: x\n'],
    ['with a comment', 'password: SECRET # mine\nname: x\n', 'password: *** # mine\nname: x\n'],
    ['with a hash', 'password: SEC#RET\n', 'password: ***\n'],
    ['without a space', 'password:SECRET\n', 'password:***\n'],
    ['in double quotes', 'password: "SE\\"CR, ET" # mine\n', 'password: "***" # mine\n'],
    ['in single quotes', "password: 'SE''CR, ET' # mine\n", "password: '***' # mine\n"],
    ['in quotes over lines', 'password: "SE\n  CR\n\n  ET"\nname: x\n', 'password: "***\n\n\n"\nname: x\n'],
    ['in quotes at the left', 'password: "SE\nCRET"\nname: x\n', 'password: "***\n"\nname: x\n'],
    [
      'plain over lines',
      'password: SE\n  CR: ET\n\n  ET\nname: x\n',
      'password: ***\n  ***\n\n  ***\nname: x\n',
    ],
    ['on the next line', 'password:\n  SECRET\nname: x\n', 'password:\n  ***\nname: x\n'],
    [
      'after a comment',
      'password: # mine\n# here\n  SECRET\nx: y\n',
      'password: # mine\n# here\n  ***\nx: y\n',
    ],
    [
      'as a block',
      'key: a\nprivate_key: |\n  SE\n   CR\n\n  ET\nx: y\n',
      'key: a\nprivate_key: |\n  ***\n   ***\n\n  ***\nx: y\n',
    ],
    [
      'as a folded block',
      'a:\n  token: >2-\n      SECRET\n  x: y\n',
      'a:\n  token: >2-\n      ***\n  x: y\n',
    ],
    ['as a block in a list', '- token: |-\n    SECRET\n  x: y\n', '- token: |-\n    ***\n  x: y\n'],
    ['as a list', 'secrets:\n- SECRET\n- "SECRET"\nx:\n- y\n', 'secrets:\n- ***\n- ***\nx:\n- y\n'],
    [
      'as an indented list',
      'secrets:\n  - SECRET\n  -\n    SECRET\nx: y\n',
      'secrets:\n  - ***\n  -\n    ***\nx: y\n',
    ],
    ['as a table', 'secret:\n  a: SECRET\n  b: SECRET\nx: y\n', 'secret:\n  ***\n  ***\nx: y\n'],
    ['with an anchor', 'password: &p !!str\n  SECRET\nx: y\n', 'password: ***\n  ***\nx: y\n'],
    ['in a flow map', 'db: {password: SECRET, name: x}\n', 'db: {password: ***, name: x}\n'],
    [
      'quoted in a flow map',
      'db: { "password": "SE,C}R", name: it\'s }\n',
      'db: { "password": "***", name: it\'s }\n',
    ],
    ['after an apostrophe', "db: {name: it's, password: SECRET}\n", "db: {name: it's, password: ***}\n"],
    [
      'in a flow map over lines',
      'db: {\n  a: 1, password: SE,\n  b: 2 }\n',
      'db: {\n  a: 1, password: ***,\n  b: 2 }\n',
    ],
    ['in a flow list', 'dbs: [{token: SECRET}, {token: SECRET}]\n', 'dbs: [{token: ***}, {token: ***}]\n'],
    ['as a flow list', 'token: ["SE]", SECRET, [SECRET]] # x\n', 'token: *** # x\n'],
    ['as a flow map', 'secret: {a: SECRET, b: SECRET}\nx: y\n', 'secret: ***\nx: y\n'],
    [
      'behind a placeholder',
      'path: {project-root}/x\npassword: S,E\n',
      'path: {project-root}/x\npassword: ***\n',
    ],
    [
      'behind text with brackets',
      'a: |\n  [x\n  {y\nb: z\npassword: S,E\n',
      'a: |\n  [x\n  {y\nb: z\npassword: ***\n',
    ],
    ['in a quoted key', '"api key": SECRET\n\'token\': SECRET\n', '"api key": ***\n\'token\': ***\n'],
    ['in a key of words', 'API Key: SECRET\n', 'API Key: ***\n'],
    [
      'as in Compose',
      '- DB_PASSWORD=SECRET\n- "DB_PASSWORD=SE CR"\n',
      '- DB_PASSWORD=***\n- "DB_PASSWORD=***"\n',
    ],
    ['in a comment', '# password: SECRET words\nx: y\n', '# password: ***\nx: y\n'],
    ['in an embedded file', 'env: |\n  TOKEN=SECRET\n  NAME=x\n', 'env: |\n  TOKEN=***\n  NAME=x\n'],
    [
      'with CRLF',
      'token: |\r\n  SECRET\r\npwd: SECRET\r\nx: y\r\n',
      'token: |\r\n  ***\r\npwd: ***\r\nx: y\r\n',
    ],
    ['in a URL', 'url: https://me:SECRET@example.org/x\n', 'url: https://***@example.org/x\n'],
    ['at the end of the file', 'password: SECRET', 'password: ***'],
  ])('masks a secret %s', (_, text, masked) => {
    expect(mask('config.yaml', text)).toBe(masked);
  });

  it.each([
    'max_tokens: 5000\ntoken_budget: high\nuser_name: me\n',
    'password: true\ntoken: null\nsecret: ~\npwd: ""\napi_key: \'\'\ntoken: []\nsecret: {}\n',
    'password:\nname: x\n',
    'token: {{api_token}}\n',
    'description: "Ask for it, password: required"\nprompt: \'a token: b\'\n',
    'prompt: |\n  Say the password: please, and a token: too.\n  Then the token budget: 5.\n',
    'items: [token, password]\nname: password\n',
    '# Ask for the token: it is needed.\n',
    'text: "a\n  b: c"\nurl: https://example.org/?a=b@c\n',
    '- password\n- token\n',
  ])('leaves %j as it is', (text) => {
    expect(mask('config.yaml', text)).toBe(text);
  });
});
