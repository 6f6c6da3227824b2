import { changeMark } from '../../base/files/file-stamps.ts';
import { breath } from '../../base/pace.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { AgentProfile } from './agent-profile.ts';

/**
 * What agents say of themselves, kept for as long as none of the files it is made of has changed: to look for a word in
 * all menus need not read every agent again.
 */
export function keepProfiles(
  profileOf: (agent: BmadRecord) => Promise<AgentProfile>,
  /** Where the files of an agent are, those that may appear included. */
  placesOf: (agent: BmadRecord) => readonly string[],
): (agent: BmadRecord) => Promise<AgentProfile> {
  const kept = new WeakMap<BmadRecord, { marks: string; profile: AgentProfile }>();
  return async (agent) => {
    await breath();
    const marks = placesOf(agent).map(changeMark).join('\n');
    const known = kept.get(agent);
    if (known?.marks === marks) return known.profile;
    const profile = await profileOf(agent);
    // Marks from before the reading: a change in between is seen the next time.
    kept.set(agent, { marks, profile });
    return profile;
  };
}
