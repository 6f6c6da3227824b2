import table from '../../../assets/secrets/names.json' with { type: 'json' };

/** How the last word ends where the others are written into it: `PGPASSWORD`, `authtoken`. */
const ENDING =
  /(?:password|passwd|passphrase|motdepasse|apikey|secretkey|accesskey|privatekey|clientsecret|(?:auth|access|refresh|identity|bot|api)token)$/;
/**
 * The one table of names. A name is taken apart into words, and the last one or two of them say what it is the name of:
 * `api_key`, `clientSecret`, `PGPASSWORD`, `smtp_pass`, `clé d'API`; not `max_tokens` or `first_pass`. What is not in it is no
 * secret by its name; `values.ts` knows what is one by its look. Asked as lists, so that programs which ask only for
 * files do not contain it.
 */
export function isSecretName(name: string): boolean {
  const parts = nameWords(name);
  // In French, what it is for comes after it: `MDP_BASE`.
  if (parts.includes('mdp')) return true;
  while (parts.length > 1 && isQualifier(parts)) parts.pop();
  const last = withoutNumber(parts.pop() ?? '');
  const two = `${parts.at(-1) ?? ''} ${last}`;
  if (table.otherPairs.includes(two) || table.otherWords.includes(last)) return false;
  return table.words.includes(last) || table.pairs.includes(two) || ENDING.test(last);
}

/** Which one of several it is, and how it is written: `API_KEY_STAGING`, `password2`. A pass with a number is a round: `pass 2`. */
function isQualifier(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? '';
  return table.qualifiers.includes(last) || (/^\d+$/.test(last) && parts.at(-2) !== 'pass');
}

/** `password2`. */
function withoutNumber(word: string): string {
  return /^([a-z]{5,})\d{1,4}$/.exec(word)?.[1] ?? word;
}

/** In French there are words in between: `clé d'API`, `jeton de l'API`. */
function nameWords(name: string): string[] {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !table.particles.includes(word));
}

/** Keys, passwords and tokens live in files of these names. Code about them, such as credentials.ts, is code. */
const SECRET =
  /^(?:\.env(?:[._-].*|rc.*)?|\.dev\.vars(?:[._-].*)?|env(?:[._-](?:prod|production|preprod|stag(?:e|ing)|dev|development|local|test|testing|qa|uat|ci|docker|preview|backup|secrets?))+|id_(?:rsa|dsa|ecdsa|ed25519).*|\.netrc|_netrc|\.npmrc|\.yarnrc(?:\.ya?ml)?|\.pypirc|\.gem_credentials|\.my\.cnf|\.mylogin\.cnf|\.s3cfg|\.boto|\.vault-token|\.vault_pass|\.terraformrc|terraform\.rc|\.databrickscfg|auth\.json|application_default_credentials\.json|\.htpasswd|\.pgpass|\.git-credentials|\.dockercfg|\.dockerconfigjson|kubeconfig|\.sentryclirc|local\.settings\.json|oauth_creds\.json|http-token|\.\w+_history)$/is;
/** The same by how a name ends, whatever it begins with. */
const SECRET_END =
  /(?:\.env(?:[._-](?:prod|production|preprod|stag(?:e|ing)|dev|development|local|test|testing|qa|uat|ci|docker|preview|backup|secrets?))*|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|kdb|ppk|pgp|age|keytab|agekey|mobileprovision|asc|gpg|tfstate|tfvars|ovpn)|(?:credential|secret|password|passwd)s?(?:\.(?:json|ya?ml|toml|ini|txt|xml|properties|enc|csv))?)$/i;
const SERVICE_ACCOUNT = /service[-_]?account/i;

/** What editors and careful people leave beside a file has the same in it. */
const SPARE = /(?:~|\.(?:bak|backup|old|orig|save|sw[a-p]))$/i;
const LONGEST_SPARE = '.backup'.length;

/** Folders of programs that keep keys and passwords in files of any name; git keeps them in the addresses of its config. */
const PRIVATE =
  /(?:^|[\\/])(?:\.git|\.hg|\.svn|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.gcloud|\.oci|\.password-store|\.terraform|\.docker[\\/]config\.json|\.config[\\/](?:gh|glab-cli|gcloud|hub|rclone|doctl|op|sops|github-copilot)|\.local[\\/]share[\\/]keyrings|\.mozilla|\.thunderbird)(?:[\\/]|$)/i;

/**
 * Whether a file holds keys or passwords by its very purpose, as its name says, or that of any folder it lies in. A path that
 * ends with a slash is that of a folder, of which only the latter is asked.
 */
export function isSecretFile(path: string): boolean {
  if (PRIVATE.test(path)) return true;
  const name = withoutSpare(path.split(/[\\/]/).at(-1) ?? '');
  return SECRET.test(name) || SECRET_END.test(name) || (SERVICE_ACCOUNT.test(name) && /\.json$/i.test(name));
}

/** The same of a file or a folder; patterns for such files, such as `.env.example`, count only if they are not allowed. */
export function isSecretEntry(path: string, kind: 'file' | 'folder', allowed?: 'patterns'): boolean {
  if (kind === 'folder') return isSecretFile(`${path}/`);
  return isSecretFile(path) && !(allowed === 'patterns' && PATTERN.test(path) && !PRIVATE.test(path));
}

const PATTERN = /\.(?:example|sample|template|dist)$/i;

function withoutSpare(name: string): string {
  let end = name.length;
  for (;;) {
    const found = SPARE.exec(name.slice(Math.max(0, end - LONGEST_SPARE), end));
    if (found === null) return name.slice(0, end);
    end -= found[0].length;
  }
}
