import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';

export const ERAS: { name: string; mode: VersionNegotiationMode }[] = [
  { name: 'a client of 2025', mode: 'legacy' },
  { name: 'a client of 2026', mode: { pin: '2026-07-28' } },
];

/** The official client, connected over HTTP, with a token if one is given. */
export async function connectOver(
  url: string,
  mode: VersionNegotiationMode,
  token?: string,
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}
