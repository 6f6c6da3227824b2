import { plural, t } from '../base/text/message.ts';
import { PRODUCT, VERSION } from '../base/product.ts';
import type { Context } from '../operations/context.ts';
import { toolList } from '../surfaces/mcp/tools.ts';

/** What was found, in one line for people. */
export async function readyLine(context: Context): Promise<string> {
  const { catalogue, project } = await context.workspace();
  const tools = await toolList(context, { signal: new AbortController().signal, progress: () => undefined });
  const content = [
    plural(catalogue.count('agent'), 'agent'),
    plural(catalogue.count('workflow'), 'workflow'),
    plural(catalogue.count('skill'), 'plain skill'),
  ].join(', ');
  const origins = catalogue.sources.map(({ origin }) => origin.displayName).join(', ');
  return t`${PRODUCT} v${VERSION} — ${plural(tools.length, 'tool')} registered — ${content} from ${origins} — project ${project.root ?? t`none`} — Ready`;
}
