import { describe, expect, it } from 'vitest';
import { createLog, LOG_LEVELS, type Log, type LogLevel } from './log.ts';
import { createSecrets } from './secrets/rules.ts';

const noon = new Date('2026-01-02T12:00:00.000Z');

function logOf(level: LogLevel, json: boolean): { log: Log; lines: string[]; hide(secret: string): void } {
  const lines: string[] = [];
  const secrets = createSecrets();
  const log = createLog({ level, json, secrets, now: () => noon, write: (line) => lines.push(line) });
  return { log, lines, hide: (secret) => secrets.add(secret) };
}

describe('createLog', () => {
  it.each([
    ['silent', []],
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('writes at level %s: %j', (level, written) => {
    const { log, lines } = logOf(level, false);
    for (const each of LOG_LEVELS) if (each !== 'silent') log[each]('x');
    expect(lines).toEqual(written.map((each) => `${each}: x\n`));
  });

  it('writes JSON lines for machines', () => {
    const { log, lines } = logOf('info', true);
    log.info('two\nlines', { ms: 5, path: 'a b', list: [1] });
    expect(lines).toEqual([
      '{"time":"2026-01-02T12:00:00.000Z","level":"info","message":"two\\nlines","ms":5,"path":"a b","list":[1]}\n',
    ]);
  });

  it('writes plain lines for people', () => {
    const { log, lines } = logOf('info', false);
    log.info('started', { ms: 5, path: '/a/b.md', text: 'a b', none: undefined, list: ['x'] });
    expect(lines).toEqual(['info: started ms=5 path=/a/b.md text="a b" none=undefined list=["x"]\n']);
  });

  it('lets nobody forge a line or steer the terminal', () => {
    const { log, lines } = logOf('info', false);
    log.info('a\nerror: forged\u001B[2J\u009B', { key: 'b\u2028c\u202E' });
    expect(lines).toEqual(['info: a\\u000aerror: forged\\u001b[2J\\u009b key="b\\u2028c\\u202e"\n']);
  });

  it.each([true, false])(
    'removes secrets, also those that JSON would write differently (json: %s)',
    (json) => {
      const { log, lines, hide } = logOf('info', json);
      const awkward = 'pass"word\\with\nbreak';
      hide(awkward);
      hide('plain-secret');
      log.info(`message plain-secret ${awkward}`, {
        plain: 'plain-secret',
        awkward,
        nested: { list: [`x${awkward}`] },
        url: 'https://me:hunter2@example.org/x',
      });
      expect(lines.join('')).not.toMatch(/plain-secret|pass|break|hunter2/);
      expect(lines.join('').match(/\*\*\*/g)).toHaveLength(6);
    },
  );

  it('cuts a long plain line', () => {
    const { log, lines } = logOf('info', false);
    log.info('x'.repeat(10_000));
    expect(lines).toEqual([`info: ${'x'.repeat(3_994)}\n`]);
  });

  it.each([
    ['a long message', 'm'.repeat(10_000), {}],
    ['a long message of control characters', '\0'.repeat(10_000), { id: 'abc' }],
    ['a long field', 'short', { id: 'abc', stack: 's'.repeat(10_000) }],
    ['many fields', 'short', Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`key${at}`, at]))],
    ['a long list', 'short', { list: Array.from({ length: 9_000 }, (_, at) => at) }],
  ])('keeps a JSON line short and readable by machines: %s', (_, message, fields) => {
    const { log, lines } = logOf('info', true);
    log.info(message, fields);
    const [line = ''] = lines;
    expect(line.length).toBeLessThanOrEqual(4_001);
    const entry = JSON.parse(line) as Record<string, string>;
    expect(entry).toMatchObject({ time: noon.toISOString(), level: 'info' });
    expect(entry['message']).toBe(message.slice(0, 500));
    expect(entry['id']).toBe('id' in fields ? 'abc' : undefined);
  });

  it('cuts only after the secrets are gone, so that no half of one is left', () => {
    const { log, lines, hide } = logOf('info', true);
    hide('s'.repeat(100));
    log.info(`${'m'.repeat(450)}${'s'.repeat(100)}`, { rest: 'r'.repeat(5_000) });
    expect(lines.join('')).not.toContain('sss');
  });
});
