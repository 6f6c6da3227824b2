import { conformanceTool, inspectorTool } from '../support/tools.ts';

/** Fetches the programs once, before the test files that run side by side need them. */
export default async function setup(): Promise<void> {
  await Promise.all([conformanceTool(), inspectorTool()]);
}
