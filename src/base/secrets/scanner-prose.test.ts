import { describe, expect, it } from 'vitest';
import { secretsOut, shownText } from './scanner.ts';

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
    // Words between the name and the value
    ['le mot de passe de la base est hunter2secret', 'le mot de passe de la base est ***'],
    ['the password for the database is hunter2secret99', 'the password for the database is ***'],
    ['mot de passe admin : Hunter2secret!', 'mot de passe admin : ***'],
    ["Le mdp prod c'est Azerty1234!", "Le mdp prod c'est ***"],
    ['Le mdp c’est Azerty1234', 'Le mdp c’est ***'],
    ['password of admin user: Hunter2secret!', 'password of admin user: ***'],
    ['Password for prod = Hunter2secret', 'Password for prod = ***'],
    ['the password for prod is `Hunter2secret`, they say', 'the password for prod is `***`, they say'],
    ["password 'hunter2secret' for root", "password '***' for root"],
    ['mot de passe « hunter2secret » pour root', 'mot de passe « *** » pour root'],
    ['the API key we use: 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c', 'the API key we use: ***'],
    ['the password (staging): Hunter2secret', 'the password (staging): ***'],
    ['the token for a is Zx9kLm2pQq and the one for b', 'the token for a is *** and the one for b'],
    // Commands and services
    ['curl -u admin:Hunter2secret https://shop.test', 'curl -u admin:*** https://shop.test'],
    [`SG.${'a1B2'.repeat(5)}ab.${'c3D4'.repeat(10)}abc`, '***'],
    [
      `https://hooks.slack.com/services/T0123ABCD/B0123ABCD/${'a1B2'.repeat(6)}`,
      'https://hooks.slack.com/services/***',
    ],
    [`bot ${'MTA1'.repeat(6)}.GaBcDe.${'x9Yz'.repeat(9)}ab`, 'bot ***'],
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
    'the password for the admin page is too long',
    'le mot de passe de la base doit être changé',
    'Le mot de passe de la base est dans le coffre',
    "Le mot de passe de l'équipe est haché en SHA-256",
    'The password manager is 1Password',
    'The password for staging is in 1Password',
    'the token type is JWT-HS256-signed',
    'The token for sessions is base64-encoded JSON',
    'The token for the API is https://auth0.test/oauth2/token',
    'the secret of the team: docs/secrets2/readme.md',
    'The lifetime of a token in minutes is 15minutes',
    'const token of tokens: parseTokens2(input)',
    'if (token in cache == cachedToken2)',
    'the token that we use is $TOKEN_PROD_2',
    "the password 'required' rule",
    'docker run -u 1000:1000 image',
    'curl -u admin:$PASSWORD https://shop.test',
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
