import { describe, expect, it } from 'vitest';
import { takenOver } from './entries.ts';
import { cut, put, type ConfigText } from './splice.ts';

const ENTRY = { command: '/usr/bin/node', args: ['/b/bmad-mcp-server.cjs'] };

const json = (text: string): ConfigText => ({ file: 'mcp.json', format: 'json', key: 'mcpServers', text });
const toml = (text: string): ConfigText => ({
  file: 'config.toml',
  format: 'toml',
  key: 'mcp_servers',
  text,
});
const yaml = (text: string): ConfigText => ({ file: 'config.yaml', format: 'yaml', key: 'extensions', text });

describe('a splice', () => {
  it('follows the style of a JSON file with comments', () => {
    const text = `// mine\n{\n\t"theme": "dark", // yes\n\t"mcpServers": {\n\t\t"a": { "command": "x" } // keep me here\n\t},\n}\n`;
    expect(put(json(text), ENTRY).text).toBe(
      `// mine\n{\n\t"theme": "dark", // yes\n\t"mcpServers": {\n\t\t"a": { "command": "x" }, // keep me here\n\t\t"bmad": {\n\t\t\t"command": "/usr/bin/node",\n\t\t\t"args": [\n\t\t\t\t"/b/bmad-mcp-server.cjs"\n\t\t\t]\n\t\t}\n\t},\n}\n`,
    );
  });

  it('stays on the line in a JSON file that is one line', () => {
    const text = '{"mcpServers":{"a":{"command":"x"}}}';
    expect(put(json(text), ENTRY).text).toBe(
      '{"mcpServers":{"a":{"command":"x"}, "bmad": { "command": "/usr/bin/node", "args": ["/b/bmad-mcp-server.cjs"] }}}',
    );
  });

  it('puts a table at the end of TOML, and lines before the others of YAML', () => {
    expect(put(toml('model = "x" # mine'), ENTRY).text).toBe(
      'model = "x" # mine\n\n[mcp_servers.bmad]\ncommand = "/usr/bin/node"\nargs = ["/b/bmad-mcp-server.cjs"]\n',
    );
    expect(put(yaml('extensions:   # all\r\n  dev:\r\n    enabled: true   # yes\r\n'), ENTRY).text).toBe(
      'extensions:   # all\r\n  bmad:\r\n    command: "/usr/bin/node"\r\n    args:\r\n      - "/b/bmad-mcp-server.cjs"\r\n  dev:\r\n    enabled: true   # yes\r\n',
    );
  });

  it('takes the entry out of a file that has grown since', () => {
    const grown = `{\n  "mcpServers": {\n    "bmad": {\n      "command": "n",\n      "env": {} // mine\n    },\n    "later": {}\n  }\n}`;
    expect(cut(json(grown), { key: true })).toBe(`{\n  "mcpServers": {\n    "later": {}\n  }\n}`);
    const tables =
      '[mcp_servers.bmad]\ncommand = "n"\n[mcp_servers.bmad.env]\nA = "1" # a\n\n# next\n[later]\nx = 1\n';
    expect(cut(toml(tables), { key: true })).toBe('\n# next\n[later]\nx = 1\n');
    for (const odd of ['# """ and \'\'\' here', "a = \"# '''\"", 'a = \'"""\'', 'a = """\n[x]"""""'])
      expect(cut(toml(`${odd}\n${tables}`), { key: true })).toBe(`${odd}\n\n# next\n[later]\nx = 1\n`);
    const lines = 'extensions:\n  bmad:\n    cmd: "n"\n    envs: {}\n\n  # next\n  later: {}\nx: 1\n';
    expect(cut(yaml(lines), { key: true })).toBe('extensions:\n\n  # next\n  later: {}\nx: 1\n');
  });

  it.each([
    ['a broken file', json('{"a": 1,, }'), /line 1: a key in quotation marks is expected/],
    ['an unclosed string', json('{\n "a": "x\n}'), /line 2: a string is not closed/],
    ['an unclosed comment', json('{} /* x'), /a comment is not closed/],
    ['two documents', json('{} {}'), /something follows the end/],
    ['a list', json('[]'), /does not hold an object/],
    ['servers that are a list', json('{"mcpServers": []}'), /"mcpServers" is not an object/],
    ['servers that are there twice', json('{"mcpServers": {}, "mcpServers": {}}'), /more than once/],
    [
      'an entry that is there already',
      json('{"mcpServers": {"bmad": {"command": "x"}}}'),
      /cannot be changed safely/,
    ],
    ['too deep a nesting', json('['.repeat(5_000)), /nested too deeply/],
    ['broken TOML', toml('a = '), /cannot be understood \(line 1/],
    [
      'servers in an inline table',
      toml('mcp_servers = { a = { command = "x" } }'),
      /cannot be changed safely/,
    ],
    ['servers that are a text', toml('mcp_servers = "x"'), /"mcp_servers" is not a table/],
    ['broken YAML', yaml('a: [\n'), /cannot be understood/],
    ['YAML that is a list', yaml('- a\n'), /does not hold a mapping/],
    [
      'servers that are an alias',
      yaml('x: &x\n  a: {}\nextensions: *x\n'),
      /cannot be changed safely|on one line/,
    ],
    ['servers on one line', yaml('extensions: { a: { cmd: x } }\n'), /on one line/],
  ])('refuses %s and says why', (_what, config, words) => {
    expect(() => put(config, ENTRY)).toThrow(words);
    expect(() => put(config, ENTRY)).toThrow(/it is unchanged\.$/);
  });
});

describe('an entry of another server for BMAD', () => {
  it.each([
    ['npx', ['-y', 'git+https://example.com/x/bmad-mcp-server'], []],
    ['npx', ['-y', 'git+https://example.com/x/bmad-mcp-server', 'git+https://a.b/c'], ['git+https://a.b/c']],
    ['npx', ['-p', 'git+https://example.com/x', 'bmad-mcp', 'git+https://a.b/c'], ['git+https://a.b/c']],
    ['uvx', ['--from', 'git+https://example.com/x', 'bmad-mcp'], []],
    ['cmd', ['/c', 'npx', '-y', 'git+https://example.com/x'], []],
    ['/usr/bin/pnpm', ['dlx', '--package=git+https://example.com/x', 'bmad'], []],
    ['node', ['/srv/bmad/index.js', 'git+https://a.b/c'], ['git+https://a.b/c']],
    ['bmad-mcp', ['git+https://a.b/c'], ['git+https://a.b/c']],
  ])('takes over sources, and not the repository of the program: %s %j', async (command, args, sources) => {
    expect(takenOver({ command, args })?.['args'] ?? []).toEqual(sources);
  });
});
