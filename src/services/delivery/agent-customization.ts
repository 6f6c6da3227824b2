import { breath } from '../../base/pace.ts';
import { basename } from 'node:path';
import { attempt, noted } from '../../base/expected.ts';
import { isTable, parseYaml, type Table } from '../../base/parse/parse.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { behaviourOf } from '../../model/format.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import { optionalText } from '../../sources/tree.ts';
import { CUSTOMIZATION_FOLDERS, customizationFile, customizingSources } from './agent-places.ts';
import { mergeCustomization } from './compiled-agent.ts';
import { handlerIn } from './compiled-menu.ts';
import { isEmpty } from './compiled-work.ts';

/** A compiled agent as it is in force, and what there is to say of its customization. */
export interface CustomizedAgent {
  text: string;
  notes: string[];
  /** What its version leaves out of the agent, to be followed all the same. */
  extra: { title: string; body: string }[];
  problems: Problem[];
}

/**
 * Customization of agents that installers compiled, from alpha.1 to 6.2.0. The file of the agent's own root counts, and
 * over it that of the project; both may have been edited since anything was compiled.
 */
export function createCustomizations(catalogue: Catalogue) {
  /** The files that say something, the weakest first. One that cannot be used is a problem and says nothing. */
  async function layersOf(
    record: BmadRecord,
    problems: Problem[],
  ): Promise<{ file: string; table: Table }[]> {
    const found: { file: string; table: Table }[] = [];
    for (const { tree, origin } of customizingSources(record, catalogue)) {
      for (const folder of CUSTOMIZATION_FOLDERS) {
        const path = `${folder}/${customizationFile(record)}`;
        const file = origin.kind === 'project' ? `${basename(tree.root)}/${path}` : tree.place(path);
        const text = await optionalText(tree, path).catch(noted(problems, file, undefined));
        if (text === undefined) continue;
        const table = attempt(() => parseYaml(file, text), noted(problems, file, undefined));
        if (isTable(table) && !isEmpty(table)) found.push({ file, table });
        else if (!isTable(table) && !isEmpty(table))
          problems.push({ file, message: 'it is not a table of values, so it has no effect' });
        break;
      }
    }
    return found;
  }

  /** The explanation of a way to act, as another agent of the same root has it. */
  async function handlerOf(record: BmadRecord, type: string): Promise<string | undefined> {
    const source = catalogue.sources.find(({ origin }) => origin === record.origin);
    const others = catalogue.records.filter(
      (other) => other.origin === record.origin && other.exists && behaviourOf(other).isCompiled,
    );
    if (source === undefined) return undefined;
    for (const { bmadRelativePath } of others) {
      const text = await optionalText(source.tree, bmadRelativePath).catch(noted([], '', undefined));
      const handler = handlerIn((text ?? '').replaceAll('\r\n', '\n'), type);
      if (handler !== undefined) return handler;
    }
    return undefined;
  }

  return {
    /** The agent with everything that its customization says. */
    async apply(record: BmadRecord, compiled: string): Promise<CustomizedAgent> {
      const agent: CustomizedAgent = { text: compiled, notes: [], extra: [], problems: [] };
      for (const { file, table } of await layersOf(record, agent.problems)) {
        const before = agent.text;
        const { text, merged, left, extra } = await mergeCustomization(before, table, (type) =>
          handlerOf(record, type),
        );
        agent.text = text;
        agent.extra.push(...extra);
        const how = text === before ? 'was compiled into this file already' : 'is merged into this file';
        if (merged.length > 0)
          agent.notes.push(`\`${file}\` ${how} (${merged.join(', ')}): do not merge it again.`);
        for (const what of left) agent.problems.push({ file, message: `not used: ${what}` });
      }
      return agent;
    },
    /** What is wrong with the customizations, whether or not somebody starts the agents. */
    async check(): Promise<Problem[]> {
      const problems: Problem[] = [];
      const compiled = catalogue.winners.filter((record) => behaviourOf(record).isCompiled);
      for (const record of compiled) {
        await breath();
        await layersOf(record, problems);
      }
      return problems;
    },
  };
}
