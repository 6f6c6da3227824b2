/** The rule for "done" where the contract cannot be run now, which a model alone cannot change. */
export const UNPROVEN = 'Without a contract PASS, say that done is not proven.';
