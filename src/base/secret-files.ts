/** Files that hold keys and passwords by their very purpose: `.env` in all its forms, private keys, key stores. */
const SECRET_FILE =
  /^\.env(?:[^a-z].*|rc)?$|^env\.(?:prod|production|local|staging|dev|development|test)$|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$|^id_(?:rsa|dsa|ecdsa|ed25519)$|^\.(?:netrc|pgpass|npmrc|pypirc|htpasswd)$/i;

export function isSecretFile(path: string): boolean {
  return SECRET_FILE.test(path.split(/[\\/]/).at(-1) ?? '');
}
