/** Whether what was typed at a question is a yes, in English or French; everything else is a no. */
export function isYes(typed: string): boolean {
  return /^\s*(?:y|yes|o|oui)\s*$/i.test(typed);
}
