/** `what after a story is built`, `what is next`, `que faire ensuite`. */
const WHAT_NEXT =
  /\b(?:what|which)\b.{0,60}\b(?:next|after|afterwards|now)\b|\bnext step\b|\b(?:que|quoi)\b.{0,40}(?:ensuite|apr[eè]s|maintenant)|\bprochaine étape\b/iu;

/** `where does the project stand`, `how far are we`, `où en est le projet`. */
const HOW_FAR =
  /\b(?:where (?:does|do|is|are) (?:the |this |our )?(?:project|we)\b|how far (?:is|are|along)\b|(?:project|current) (?:status|state)\b|(?:status|state|progress) of (?:the|this|our) project\b|o[uù] en (?:est|sommes|sont)\b|[ée]tat (?:du|actuel du) projet|avancement du projet)/iu;

/** Whether a question is one that only the state of the project answers, which `next` tells. */
export function asksNext(question: string): boolean {
  return WHAT_NEXT.test(question) || HOW_FAR.test(question);
}

/** Whether a text asks for nothing else. */
export function asksHowFar(text: string): boolean {
  return text.length <= 120 && HOW_FAR.test(text);
}
