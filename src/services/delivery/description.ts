import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord } from '../../model/record.ts';
import { agentProfile, type AgentProfile, type MenuItem } from './agent-profile.ts';
import { menuTarget } from './menu-target.ts';
import { resolveSkill, skillFolder, type SkillResolver } from './resolve-skill.ts';
import { workflowDetails, type WorkflowDetails } from './workflow-details.ts';

/** Questions about what an agent or workflow is, without starting it. */
export interface Descriptions {
  /** Who an agent is and what its menu offers. */
  profile(record: BmadRecord): Promise<AgentProfile>;
  /** What an agent's menu offers, as a user would ask for it. */
  menu(record: BmadRecord): Promise<string[]>;
  /** What an entry of an agent's menu starts, if that is here. */
  startedBy(item: MenuItem, agent: BmadRecord): BmadRecord | undefined;
  /** What a workflow takes and makes, and the content paths of its files. */
  details(record: BmadRecord): Promise<WorkflowDetails & { files: readonly string[] }>;
}

export function createDescriptions(
  catalogue: Catalogue,
  resolver: SkillResolver,
  mainText: (record: BmadRecord) => Promise<string>,
): Descriptions {
  async function profile(record: BmadRecord): Promise<AgentProfile> {
    const customization =
      record.format === 'skill' ? (await resolveSkill(record, resolver)).customization : {};
    return agentProfile(record, await mainText(record), customization);
  }

  return {
    profile,
    async menu(record) {
      return (await profile(record)).menu.map(({ code, text }) => (code === '' ? text : `${code}: ${text}`));
    },
    startedBy: ({ target }, agent) =>
      target === undefined ? undefined : menuTarget(target, agent, catalogue),
    async details(record) {
      const help = catalogue.modules.flatMap((module) =>
        module.help.filter(({ skill }) => skill === record.name),
      );
      return {
        ...workflowDetails(record, await mainText(record), help),
        files: await filesOf(record),
      };
    },
  };

  /** A workflow is a folder; before the folders, and for tasks, it is one file. */
  async function filesOf(record: BmadRecord): Promise<readonly string[]> {
    const folder = skillFolder(record);
    const alone = record.format === 'xml' || record.format === 'v4-workflow' || record.format === 'document';
    return alone || folder === ''
      ? [record.bmadRelativePath]
      : catalogue.files.preferring(record.origin).below(folder);
  }
}
