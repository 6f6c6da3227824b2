/** What a program embeds: the same server over the program's own transport. Loaded when it is first used. */
export { serveTransport } from './stdio.ts';
