import { describe, expect, it } from 'vitest';
import { secretsOut, shownText } from './secret-text.ts';

const safe = (text: string): string => secretsOut(text, String).text;

describe('the value of a secret is masked, and nothing else', () => {
  it.each([
    // French
    ['mot de passe : Zx9kLm2p pour la base', 'mot de passe : *** pour la base'],
    ['Mot de passe = azertyuiop', 'Mot de passe = ***'],
    ['le mot de passe\u00A0: Zx9kLm2p', 'le mot de passe\u00A0: ***'],
    ['mdp: Zx9kLm2p', 'mdp: ***'],
    ['MDP_BASE=azertyuiop', 'MDP_BASE=***'],
    ["clé d'API : abcd1234efgh", "clé d'API : ***"],
    ['clé d’API : abcd1234efgh', 'clé d’API : ***'],
    ['cle api=abcd1234efgh', 'cle api=***'],
    ['CLE_API=abcd1234efgh', 'CLE_API=***'],
    ['clé secrète: abcd1234efgh', 'clé secrète: ***'],
    ["clé d'accès : abcd1234efgh", "clé d'accès : ***"],
    ['clé de chiffrement : abcd1234efgh', 'clé de chiffrement : ***'],
    ['la clé : Zm9vYmFyYmF6cXV4MTIzNDU2 est là', 'la clé : *** est là'],
    ['jeton : abcd1234efgh', 'jeton : ***'],
    ["jeton d'accès = abcd1234efgh", "jeton d'accès = ***"],
    ['secret : abcd1234efgh', 'secret : ***'],
    ['le mot de passe est Zx9kLm2p!', 'le mot de passe est ***'],
    ['Le jeton vaut abcd1234efgh5678.', 'Le jeton vaut ***.'],
    // English
    ['pass: Zx9kLm2p', 'pass: ***'],
    ['DB_PASS=azertyuiop', 'DB_PASS=***'],
    ['the staging password is hunter2hunter2, they say', 'the staging password is ***, they say'],
    ['API key: abcd1234efgh', 'API key: ***'],
    ['access token = abcd1234efgh', 'access token = ***'],
    // Connection strings
    [
      'DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=Zm9vYmFy+/x==;EndpointSuffix=core.windows.net',
      'DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=***;EndpointSuffix=core.windows.net',
    ],
    [
      'Endpoint=sb://x.net/;SharedAccessKeyName=Root;SharedAccessKey=Zm9v12=',
      'Endpoint=sb://x.net/;SharedAccessKeyName=Root;SharedAccessKey=***',
    ],
    ['Server=db;User Id=sa;Password=ab1;Encrypt=true', 'Server=db;User Id=sa;Password=***;Encrypt=true'],
    ['Server=db;Uid=sa;Pwd=x', 'Server=db;Uid=sa;Pwd=***'],
    ['postgres://user:pass@db:5432/orders', 'postgres://***@db:5432/orders'],
    ['amqp://guest:gu@est@mq/', 'amqp://***@mq/'],
    ['jdbc:postgresql://db/shop?user=app&password=abcdef', 'jdbc:postgresql://db/shop?user=app&password=***'],
  ])('%j', (text, expected) => {
    expect(safe(text)).toBe(expected);
    expect(shownText(text, String)).toBe(expected);
  });
});

describe('prose about secrets stays', () => {
  it.each([
    'le mot de passe doit être long',
    'Le mot de passe est obligatoire',
    'Le mot de passe est haché en SHA-256',
    'mot de passe : obligatoire pour tous',
    'Mot de passe : 12 caractères au moins',
    'mot de passe oublié : un courriel est envoyé',
    'Le secret : commencer par les tests',
    'La clé : commencer petit, finir grand',
    'clé primaire : order_id2',
    'clé étrangère : customer_id2',
    'la clé : etape2-puis-etape3',
    'jeton : un seul par requête',
    'Les jetons : 2000 par jour',
    'password reset flow',
    'The password reset: see flow2 of the page',
    'The password is hashed with argon2id',
    'the password is sha256-hashed before it is sent',
    'the token is base64-encoded JSON',
    'The token is valid for 15 minutes',
    'token: optional, since 2.4',
    'secrets: vault/prod-2024/db',
    'key: value pairs are separated by commas',
    'sort key: created_at2',
    'pass: 12 of 14 tests',
    'AccountKey rotation is due every 90 days',
    'Password=; is refused, an empty one is no password',
    'Password policy: strong; Encrypt=true',
    'Set PASSWORD=$DB_PASSWORD and token=${TOKEN} first',
    'postgres://db:5432/orders has no credentials',
    'ssh://git@github.com/shop/orders.git',
  ])('%j', (text) => {
    expect(safe(text)).toBe(text);
  });
});
