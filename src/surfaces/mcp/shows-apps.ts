/** The extension by which hosts show pages of servers, and what such a page is. */
const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_TYPE = 'text/html;profile=mcp-app';

/** Whether a client has said that it shows apps. To all others nothing of them is told. */
export function showsApps(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> };
  const { mimeTypes } = (extensions?.[APPS_EXTENSION] ?? {}) as { mimeTypes?: unknown };
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_TYPE);
}
