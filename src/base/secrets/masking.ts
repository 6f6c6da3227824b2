/**
 * All that masks text. The programs load it when something is masked for the first time (see LATE_MODULES in
 * scripts/bundle.ts): the tables of names and shapes are long, and many sessions never show a text that needs them.
 */
export { maskCodeSecrets } from './code-secrets.ts';
export { maskConfigSecrets } from './config-mask.ts';
export { hasPrivateKey } from './secret-shapes.ts';
export { refuseSecret, secretsOut, shownText } from './secret-text.ts';
export { maskSecretValues } from './table-mask.ts';
