import replaced from '../../assets/names/replaced.json' with { type: 'json' };

/**
 * What became of names that BMAD once had. Upstream's list of removed skills, its shims and the agents of earlier
 * versions are the source; ids that merely lost a prefix are not listed here, a rule below takes care of them.
 */
const REPLACED: Readonly<Record<string, readonly string[]>> = replaced;

/** An old id without the prefixes of its time: `bmad-agent-bmm-pm`, `bmad_bmm_agent_pm`, `bmad-bmm-create-prd`. */
export function withoutOldPrefixes(name: string): string | undefined {
  const rest =
    /^bmad[-_:](?:agent[-_:])?(?:core|bmm|bmb|bmgd|cis|tea)[-_:](?:agents?[-_:]|workflows?[-_:])?(.+)$/i.exec(
      name,
    )?.[1];
  return rest ?? /^bmad(?:[-_:]agents?[-_:]|\.)(.+)$/i.exec(name)?.[1];
}

/** Short names of what replaced an old one, the closest first; nothing when the name was never BMAD's. */
export function successorsOf(name: string): readonly string[] | undefined {
  const short = name.toLowerCase().replace(/^bmad-(?:agent-)?/, '');
  return Object.hasOwn(REPLACED, short)
    ? REPLACED[short]
    : Object.hasOwn(REPLACED, name)
      ? REPLACED[name]
      : undefined;
}
