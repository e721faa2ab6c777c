const INTERVAL_MS = 500;

/**
 * Sends SIGTERM to this process once its parent has ended. npm sends a signal to its shell alone, which dies of it without
 * passing it on.
 */
export function endWithParent(parent: number): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    stopWatching();
    process.kill(process.pid, 'SIGTERM');
  }, INTERVAL_MS).unref();
  const stopWatching = () => clearInterval(timer);
  // A signal to the whole group ends the shell too: that must not count as the second one, which ends at once.
  process.once('SIGTERM', stopWatching);
  process.once('SIGINT', stopWatching);
}
