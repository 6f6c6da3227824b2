/** To be true as soon as the server offers the skills extension: the gate then asks for it everywhere. */
export const SKILLS_REQUIRED: boolean = false;

/** The suite's scenarios for it. */
export const SKILLS_SCENARIOS = ['enumeration', 'manifest', 'directory'].map(
  (part) => `sep-2640-skills-${part}`,
);
