import { present } from '../base/values.ts';
import { parseGitAddress, type GitUrlSpec } from '../sources/git/address.ts';
import type * as Public from './public.ts';

/** Only the parts: what is made of them for the cache, and credentials, stay inside. */
export function parseGitUrl(gitUrl: string): Public.GitUrlSpec {
  const { protocol, host, org, repo, ref, subpath } = parseGitAddress(gitUrl);
  return present<GitUrlSpec>({ protocol, host, org, repo, ref, subpath });
}
