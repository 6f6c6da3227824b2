/** The suite's scenarios for the skills extension. */
export const SKILLS_SCENARIOS = ['enumeration', 'manifest', 'directory'].map(
  (part) => `sep-2640-skills-${part}`,
);
