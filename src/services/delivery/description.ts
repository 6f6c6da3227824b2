import { behaviourOf } from '../../model/format.ts';
import type { Table } from '../../base/parse/parse.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { AgentCharacter } from './agent-character.ts';
import { agentProfile, type AgentProfile, type MenuItem } from './agent-profile.ts';
import { menuTarget } from './menu-target.ts';
import { resolveSkill, skillFolder, type SkillResolver } from './resolve-skill.ts';
import { workflowDetails, type WorkflowDetails } from './workflow-details.ts';

/** Questions about what an agent or workflow is, without starting it. */
export interface Descriptions {
  /** Who an agent is and what its menu offers. */
  profile(record: BmadRecord): Promise<AgentProfile>;
  /** Who an agent is and which rules it follows, for a model that plays it without its file. */
  character(record: BmadRecord): Promise<AgentCharacter>;
  /** What an agent's menu offers, as a user would ask for it. */
  menu(record: BmadRecord): Promise<string[]>;
  /** What an entry of an agent's menu starts, if that is here. */
  startedBy(item: MenuItem, agent: BmadRecord): BmadRecord | undefined;
  /** What a workflow takes and makes, and the content paths of its files. */
  details(record: BmadRecord): Promise<WorkflowDetails & { files: readonly string[] }>;
}

/** What an old name stands for now. */
export function standingFor(record: BmadRecord, { winners }: Catalogue): BmadRecord {
  const successor = winners.find(
    ({ name, deprecated }) => name === record.deprecated?.successor && deprecated === undefined,
  );
  return successor ?? record;
}

export function createDescriptions(
  catalogue: Catalogue,
  resolver: SkillResolver,
  mainText: (record: BmadRecord) => Promise<string>,
  settingsOf: (record: BmadRecord) => Promise<[string, string][]>,
): Descriptions {
  async function customizationOf(record: BmadRecord): Promise<Table> {
    return behaviourOf(record).isSkill ? (await resolveSkill(record, resolver)).customization : {};
  }

  async function profile(record: BmadRecord): Promise<AgentProfile> {
    return agentProfile(record, await mainText(record), await customizationOf(record));
  }

  return {
    profile,
    async character(asked) {
      const { agentCharacter } = await import('./agent-character.ts');
      const record = standingFor(asked, catalogue);
      return agentCharacter({
        record,
        main: await mainText(record),
        customization: await customizationOf(record),
        values: await settingsOf(record),
      });
    },
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
    return behaviourOf(record).isAlone || folder === ''
      ? [record.bmadRelativePath]
      : catalogue.files.preferring(record.origin).below(folder);
  }
}
