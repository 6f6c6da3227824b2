import type { ReadResourceResult, Tool } from '@modelcontextprotocol/server';
import type { Context } from '../../operations/context.ts';
import { APP_TOOLS_SHOWN } from './app-tools.prepared.ts';
import { APP_TYPE } from './shows-apps.ts';

/** One page for all views; which of them it shows follows from the tool that was called. */
export const APP_URI = 'ui://bmad/board.html';

/** The tools of the app among those that are offered; `isForApp` are those that only the app itself calls. */
export function appTools(isOffered: (name: string) => boolean, isForApp: (name: string) => boolean): Tool[] {
  return APP_TOOLS_SHOWN.filter(({ name }) => isOffered(name)).map((tool) => ({
    ...tool,
    _meta: {
      ui: isForApp(tool.name)
        ? { visibility: ['app'] }
        : { resourceUri: APP_URI, visibility: ['model', 'app'] },
    },
  }));
}

/** The page itself. It names no other place, so it gets no leave to reach one. */
export async function appContents({ appPage }: Context): Promise<ReadResourceResult> {
  const contents = {
    uri: APP_URI,
    mimeType: APP_TYPE,
    text: await appPage(),
    _meta: { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } },
  };
  return { contents: [contents] };
}
