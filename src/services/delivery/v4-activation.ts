import type { LoadedConfig } from './core-config.ts';

/** What opens an agent of version 4: that it is one, and that its text is all there is. */
const OPENING: readonly RegExp[] = [
  /^<!-- Powered by BMAD™ Core -->$/,
  /^ACTIVATION-NOTICE: This file contains your full agent operating guidelines\. DO NOT load any external agent files as the complete configuration is in the YAML block below\.$/,
  /^CRITICAL: Read the full YAML BLOCK that FOLLOWS IN THIS FILE to understand your operating params, start and follow exactly your activation-instructions to alter your state of being, stay in this being until told to exit this mode:$/,
  /^## COMPLETE AGENT DEFINITION FOLLOWS - NO EXTERNAL FILES NEEDED$/,
];

/** Rules for paths, which the heading gives for this place. */
const PATH_RULES: readonly RegExp[] = [
  /^ {2}- FOR LATER USE ONLY - NOT FOR ACTIVATION, when executing commands that reference dependencies$/,
  /^ {2}- Dependencies map to \.bmad-[\w-]+\/\{type\}\/\{name\}$/,
  /^ {2}- type=folder \(tasks\|templates\|checklists\|data\|utils\|etc\.\.\.\), name=file-name$/,
  /^ {2}- Example: [\w.-]+ → \.bmad-[\w-]+\/tasks\/[\w.-]+$/,
  // Further down, "ONLY load dependency files when user selects them" says the same.
  /^ {2}- IMPORTANT: Only load these files when user requests specific command execution$/,
];

const READ_STEPS: readonly RegExp[] = [
  /^ {2}- STEP (\d): Read THIS ENTIRE FILE - it contains your complete persona definition$/,
  /^ {2}- STEP (\d): Adopt the persona defined in the 'agent' and 'persona' sections below$/,
  /^ {2}- DO NOT: Load any other agent files during activation$/,
];

const LOAD_STEP =
  /^ {2}- STEP (\d): Load and read `(\.bmad-[\w-]+\/[\w-]+\.yaml)` \(project configuration\) before any greeting$/;

/**
 * The text of an agent of version 4 without what is done when it is delivered: opening, rules for paths, reading this file
 * and the configuration. Each line is known to the letter; one that is not stays.
 *
 * @param loaded - the configuration whose values are given, where one is
 */
export function withoutV4Done(text: string, loaded: LoadedConfig | undefined): string {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const start = lines.indexOf('activation-instructions:');
  const persona = lines.indexOf('agent:');
  if (start < 0 || persona < start) return text;
  const paths = pathRules(lines.slice(0, start));
  const done: string[] = [];
  let isLoaded = false;
  const kept = lines.filter((line, index) => {
    if (index >= persona || index === start) return true;
    if (index < start) return !paths.includes(index) && !OPENING.some((known) => known.test(line));
    const load = LOAD_STEP.exec(line);
    const isDone = load === null ? READ_STEPS.some((known) => known.test(line)) : load[2] === loaded?.path;
    if (isDone) done.push(/STEP (\d)/.exec(line)?.[1] ?? '');
    isLoaded ||= isDone && load !== null;
    return !isDone;
  });
  const steps = done.filter(Boolean);
  if (steps.length === 0) return text;
  const config = isLoaded && loaded !== undefined ? `: \`${loaded.path}\` is loaded, ${loaded.where}` : '';
  const mark = `  - [Done: STEP ${steps.join(', ')}${config}.]`;
  kept.splice(kept.indexOf('activation-instructions:') + 1, 0, mark);
  return kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimStart();
}

/** Where the rules for paths are, if all of them are known. */
function pathRules(lines: readonly string[]): number[] {
  const start = lines.indexOf('IDE-FILE-RESOLUTION:');
  if (start < 0) return [];
  const length = lines.slice(start + 1).findIndex((line) => !line.startsWith('  '));
  const rules = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length);
  const areKnown = rules.every((line) => PATH_RULES.some((known) => known.test(line)));
  return areKnown ? [start, ...rules.map((_, index) => start + 1 + index)] : [];
}
