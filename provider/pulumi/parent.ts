/** Milliseconds between two looks at the parent process. */
const interval = 250;

/**
 * Ends this process when the one that started it is gone: after a kill of the engine the dynamic-provider host would
 * live on and go on creating things that nobody records.
 */
export function endWithParent(stop: () => void): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid === parent) return;
    stop();
    process.exit(1);
  }, interval).unref();
}
