/** What "done" is where the contract cannot be run now, which a model alone cannot change. */
export const UNPROVEN = '(no PASS: unproven)';
