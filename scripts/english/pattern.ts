/** A phrase that a native writer would not use here, and what to write instead. */
export interface Pattern {
  name: string;
  /** Spaces in it also match a line break. */
  phrase: RegExp;
  instead: string;
  /** A sentence that it must find, and one that it must leave alone. */
  finds: string;
  leaves: string;
}

/** A clause ends here: the words before are used absolutely, which is what makes them odd. */
export const END = String.raw`(?=[.,;:)!?¶]|\s*$)`;
/** A sentence, a cell or a list item begins here. */
export const BEGIN = String.raw`(?:^|[.!?:;|¶]\s*(?:[-*|]\s*)?|\*\*)`;
export const SEVERAL = String.raw`(?:all|both|several|many|most|more|two|three|ten|hundred|\d+|open|running|parallel|everything|number|calls|processes|servers|ones)`;

export const pattern = (
  name: string,
  phrase: string,
  instead: string,
  finds: string,
  leaves: string,
  flags = 'giu',
): Pattern => ({
  name,
  phrase: new RegExp(phrase.replaceAll(' ', String.raw`\s+`), flags),
  instead,
  finds,
  leaves,
});
