/** Beyond the time that running calls are given. */
const GRACE_MS = 2_000;

/** The first signal lets running calls finish; the second one exits without waiting. */
export function hearSignals(finishMs: number, end: () => Promise<void>): void {
  let asked = false;
  const stop = (): void => {
    if (asked) process.exit(130);
    asked = true;
    // A call that does not notice its end must not keep the process.
    setTimeout(() => process.exit(0), finishMs + GRACE_MS).unref();
    void end();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
}
