/** The stream of a protocol, which is written by programs and read by one. */
export function protocolOutput(): NodeJS.WriteStream {
  return process.stdout;
}
