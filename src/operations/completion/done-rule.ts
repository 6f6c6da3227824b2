/**
 * One rule for "done", said the same by `next`, by a review and by a contract that may not run: the review sets it, as
 * BMAD's own texts do, and only the contract proves it.
 */
export const UNPROVEN = 'until a contract PASS it counts as done, unproven';
