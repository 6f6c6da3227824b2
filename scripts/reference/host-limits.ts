/** What hosts bear; the page and the test take the numbers from here. */
export const LIMITS = {
  name: /^[a-z0-9_-]+$/,
  nameLength: 40,
  descriptionLength: 2_048,
  /** Of all toolsets together, on a BMAD of usual size. */
  toolCount: 100,
  answerBytes: 10_000,
  tokens: { bmad: 700, default: 3_000 },
} as const;
