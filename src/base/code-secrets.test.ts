import { describe, expect, it } from 'vitest';
import { maskCodeSecrets } from './code-secrets.ts';

describe('secrets in code', () => {
  it.each([
    ['const apiKey = "abcd1234";', 'const apiKey = "***";'],
    ["  password: 'hunter22',", "  password: '***',"],
    ['"client_secret": "x1y2z3"', '"client_secret": "***"'],
    ['let token: string = `abcdef`;', 'let token: string = `***`;'],
    ['key = AKIAIOSFODNN7EXAMPLE', 'key = ***'],
    ['https://me:pass@host/x', 'https://***@host/x'],
    ['-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----***'],
  ])('masks %j', (text, masked) => {
    expect(maskCodeSecrets(text)).toBe(masked);
  });

  it.each([
    'const maxTokens = "many";',
    'password: "the password is missing"',
    'const token = "${TOKEN}";',
    'if (token === "") return;',
    'const secret = readSecret("name");',
  ])('leaves %j as it is', (text) => {
    expect(maskCodeSecrets(text)).toBe(text);
  });

  it('is quick whatever the text', () => {
    for (const text of [
      'a'.repeat(200_000),
      'token="'.repeat(30_000),
      `x${' '.repeat(100_000)}=`,
      '-----BEGIN PRIVATE KEY-----'.repeat(2_000),
    ])
      expect(maskCodeSecrets(text).length).toBeGreaterThan(0);
  });
});
