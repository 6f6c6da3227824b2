import { describe, expect, it } from 'vitest';
import { refusal } from '../../../tests/support/thrown.ts';
import { cleanTags, cleanText } from './opened.ts';

const plain = (text: string): string => text;
const clean = (text: string) => cleanText(text, plain);

describe('texts of memories', () => {
  it('keep what is written, without the blanks around it', () => {
    expect(clean('  Été : « oui », 😀 \tand\r\nmore  ')).toEqual({
      text: 'Été : « oui », 😀 \tand\nmore',
      notes: [],
    });
  });

  it('lose NUL and halves of characters, and say so', () => {
    const { text, notes } = clean('before\0 and after \uD83D alone');
    expect(text).toBe('before and after \uFFFD alone');
    expect(notes).toHaveLength(2);
  });

  it.each(['', '   ', 'too short', 'é'.repeat(9), '😀'.repeat(9), '\0'.repeat(20)])(
    'are refused when too short: %j',
    async (text) => {
      const error = await refusal(() => clean(text));
      expect(error).toMatchObject({ code: 'invalid_input', subject: 'text' });
      expect(error.message).toContain('fewer than 10 characters');
    },
  );

  it('are refused when too long', async () => {
    const error = await refusal(() => clean('x'.repeat(3_000_000)));
    expect(error.code).toBe('too_large');
    expect(error.message).toContain('3000000 bytes');
  });

  it.each([
    ['the token is ghp_abcdefghijklmnopqrstuvwxyz0123', 'a GitHub token'],
    ['key sk-proj-abcdefghijklmnopqrstuvwx for tests', 'an API key'],
    ['AKIAIOSFODNN7EXAMPLE is in the vault', 'an AWS key'],
    ['send Authorization: Bearer abcdef0123456789abcdef', 'a bearer token'],
    ['connect to postgres://app:hunter22@db/orders', 'credentials in a URL'],
    ['set DB_PASSWORD=hunter2hunter2 before', 'the value of a secret'],
    ['config has api_key: "abcd1234efgh" in it', 'the value of a secret'],
    ['use rk_live_abcdefghij0123456789 there', 'a Stripe key'],
    ['use hf_abcdefghijklmnopqrstuvwxyz01 there', 'a Hugging Face token'],
    [`the key AGE-SECRET-KEY-1${'ABCDEFGHIJ'.repeat(5).toLowerCase()}`, 'an age key'],
    ['send Authorization: Basic abcdef0123456789== along', 'basic credentials'],
    ['le mot de passe : hunter22abc pour la base', 'the value of a secret'],
    ['mdp=hunter2hunter2 et motDePasse: "hunter22"', 'the value of a secret'],
    ['DB_PASS=hunter2hunter2;AccountKey=hunter2hunter2==', 'the value of a secret'],
    ['password: "hunter2 with blanks in it"', 'the value of a secret'],
  ])('have secrets masked: %j', (text, what) => {
    const { text: safe, notes } = clean(text);
    expect(safe).toContain('***');
    expect(safe).not.toMatch(/hunter2|abcdefghij|IOSFODNN|abcdef0123|abcd1234/);
    expect(notes.join()).toContain(what);
  });

  it('hide what the environment calls a secret', () => {
    const { text } = cleanText('the pass phrase is correct-horse, they say', (given) =>
      given.replaceAll('correct-horse', '***'),
    );
    expect(text).toBe('the pass phrase is ***, they say');
  });

  it.each([
    'password: required for every account',
    'The token budget is 2000 tokens a day',
    'secret management: Vault, not files',
    'PASSWORD=$DB_PASSWORD comes from the environment',
  ])('keep what is only about secrets: %j', (text) => {
    expect(clean(text)).toEqual({ text, notes: [] });
  });

  it('are refused with a private key in them', async () => {
    const error = await refusal(() => clean('-----BEGIN RSA PRIVATE KEY-----\nMIIE\n'));
    expect(error.message).toContain('private key');
  });
});

describe('secrets in tags', () => {
  const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123';

  it.each([token, 'sk_live_abcdefghij0123456789', 'password=hunter2hunter2', 'AKIAIOSFODNN7EXAMPLE'])(
    '%j is refused and not repeated',
    async (text) => {
      const error = await refusal(() => cleanTags(['a', text]));
      expect(error.code).toBe('invalid_input');
      expect(error.message).toContain('looks like');
      expect(error.text).not.toContain(text);
    },
  );
});

describe('tags', () => {
  it('are kept once each', () => {
    expect(cleanTags(['db', ' db ', '', 'Été'])).toEqual(['db', 'Été']);
  });

  it.each([[['a`b']], [['a,b']], [['x'.repeat(61)]], [Array.from({ length: 21 }, (_, n) => `t${n}`)]])(
    'are refused: %j',
    async (tags) => {
      expect((await refusal(() => cleanTags(tags))).subject).toBe('tags');
    },
  );
});
