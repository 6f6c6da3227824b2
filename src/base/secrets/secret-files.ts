/** Keys, passwords and tokens live in files of these names. Code about them, such as credentials.ts, is code. */
const SECRET =
  /^(?:\.env(?:[._-].*|rc.*)?|env(?:[._-](?:prod|production|preprod|stag(?:e|ing)|dev|development|local|test|testing|qa|uat|ci|docker|preview|backup|secrets?))+|id_(?:rsa|dsa|ecdsa|ed25519).*|\.netrc|_netrc|\.npmrc|\.yarnrc(?:\.ya?ml)?|\.pypirc|\.gem_credentials|\.my\.cnf|\.mylogin\.cnf|\.s3cfg|\.boto|\.vault-token|\.vault_pass|\.terraformrc|terraform\.rc|\.databrickscfg|auth\.json|application_default_credentials\.json|\.htpasswd|\.pgpass|\.git-credentials|\.dockercfg|\.dockerconfigjson|kubeconfig)$/is;
/** The same by how a name ends, whatever it begins with. */
const SECRET_END =
  /(?:\.env(?:[._-](?:prod|production|preprod|stag(?:e|ing)|dev|development|local|test|testing|qa|uat|ci|docker|preview|backup|secrets?))*|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|kdb|ppk|pgp|age|keytab|agekey|mobileprovision|asc|gpg|tfstate|tfvars|ovpn)|(?:credential|secret|password|passwd)s?(?:\.(?:json|ya?ml|toml|ini|txt|xml|properties|enc|csv))?)$/i;
const SERVICE_ACCOUNT = /service[-_]?account/i;

/** What editors and careful people leave beside a file has the same in it. */
const SPARE = /(?:~|\.(?:bak|backup|old|orig|save|sw[a-p]))$/i;
const LONGEST_SPARE = '.backup'.length;

/** Folders of programs that keep keys and passwords in files of any name; git keeps them in the addresses of its config. */
const PRIVATE =
  /(?:^|[\\/])(?:\.git|\.hg|\.svn|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.gcloud|\.password-store|\.terraform|\.docker[\\/]config\.json)(?:[\\/]|$)/i;

/** Whether a file holds keys or passwords by its very purpose, as its name, or that of its folder, says. */
export function isSecretFile(path: string): boolean {
  if (PRIVATE.test(path)) return true;
  const name = withoutSpare(path.split(/[\\/]/).at(-1) ?? '');
  return SECRET.test(name) || SECRET_END.test(name) || (SERVICE_ACCOUNT.test(name) && /\.json$/i.test(name));
}

/** Rules for reading a project's files: a link or a setting in the project can give `.env` another name. */
export const NO_SECRET_FILES = { serves: (realPath: string): boolean => !isSecretFile(realPath) } as const;

function withoutSpare(name: string): string {
  let end = name.length;
  for (;;) {
    const found = SPARE.exec(name.slice(Math.max(0, end - LONGEST_SPARE), end));
    if (found === null) return name.slice(0, end);
    end -= found[0].length;
  }
}
