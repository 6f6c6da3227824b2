import { mapLimited } from '../../base/async.ts';
import { orElse } from '../../base/expected.ts';
import { fold } from '../../base/text/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { commandFor, usualAgent } from '../../catalogue/old-commands.ts';
import { isListed, shortName, type BmadRecord } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { placesOfAgent } from './agent-places.ts';
import type { AgentProfile, MenuItem } from './agent-profile.ts';
import { keepProfiles } from './kept-profiles.ts';

/** An entry of an agent's menu, as a user asks for it. */
interface MenuCommand {
  agent: BmadRecord;
  /** What the agent is told: `*create-prd`, `CP`. */
  said: string;
  /** What the entry starts, where that is something of its own. */
  starts: BmadRecord | undefined;
  /** Of several agents that have it, this one is usually asked. */
  isUsual: boolean;
}

/** The entries of menus that a word stands for. */
export interface MeantCommands {
  /** Those that have the word, in the order in which the agents are served. */
  named: MenuCommand[];
  /** The project's own for something that other generations have under this name. */
  counterpart: MenuCommand | undefined;
}

const READS_AT_ONCE = 8;

/** Made for the whole catalogue by whoever asks. */
interface Means {
  profileOf(agent: BmadRecord): Promise<AgentProfile>;
  startedBy(item: MenuItem, agent: BmadRecord): BmadRecord | undefined;
  /** What a workflow is called today, by any name it has had. */
  nameOfToday(short: string): string;
  /** The project's `_bmad` folder, if it has one now. */
  projectBmad(): Promise<Tree | undefined>;
}

/** The menus of all agents, kept for as long as the files they are in stay the same. */
export function createMenus(catalogue: Catalogue, means: Means) {
  const agents = catalogue.winners.filter((record) => record.kind === 'agent' && isListed(record));
  let bmad: Tree | undefined;
  const profileOf = keepProfiles(means.profileOf, (agent) => placesOfAgent(agent, catalogue, bmad));

  async function allMenus(): Promise<Menu[]> {
    bmad = await means.projectBmad();
    return mapLimited(agents, READS_AT_ONCE, async (agent) => {
      // An agent whose file cannot be read has no commands; to start it says why.
      const { menu } = await profileOf(agent).catch(orElse({ menu: [] }));
      return { agent, menu };
    });
  }

  return {
    async meant(word: string): Promise<MeantCommands> {
      const wanted = fold(word.trim().replace(/^\*+/, ''));
      const menus = await allMenus();
      const named = commandsIn(menus, wanted, means);
      const old = commandFor(means.nameOfToday(fold(shortName(wanted))));
      const counterpart =
        old === undefined
          ? undefined
          : commandsIn(menus, old.command, means).find(
              ({ agent }) => agent.origin.kind !== 'package' && agent.name === old.agent,
            );
      return { named, counterpart };
    },
  };
}

interface Menu {
  agent: BmadRecord;
  menu: readonly MenuItem[];
}

function commandsIn(menus: readonly Menu[], wanted: string, { startedBy }: Means): MenuCommand[] {
  if (wanted === '') return [];
  const usual = usualAgent(wanted);
  return menus.flatMap(({ agent, menu }) =>
    menu
      .filter((item) => wordsFor(item).includes(wanted))
      .map((item) => ({
        agent,
        said: item.code.split(/\s/, 1)[0] ?? item.code,
        starts: startedBy(item, agent),
        isUsual: agent.name === usual,
      })),
  );
}

/** Up to 6.0 commands begin with a star, and some take arguments: `*create-doc {template}`. */
function bare(code: string): string {
  const [first = ''] = code.trim().replace(/^\*+/, '').split(/\s/, 1);
  return fold(first);
}

function wordsFor({ code, also = [] }: MenuItem): string[] {
  return [bare(code), ...also.map(fold)];
}
