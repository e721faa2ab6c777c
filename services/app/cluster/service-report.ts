/** Message of a process of `npm run cluster` to its parent: where it listens, or why it cannot start. */
type ServiceReport = { readonly url: string } | { readonly failure: string };

/** Resolves when the report is sent; does nothing in a process that no cluster started. */
export async function reportToCluster(report: ServiceReport): Promise<void> {
  const { send } = process;
  if (send === undefined || !process.connected) return;
  await new Promise<void>((resolve) => send.call(process, report, () => resolve()));
}

/** Sends SIGTERM to this process once the cluster that started it has ended, however it did. */
export function endWithCluster(): void {
  if (process.channel === undefined) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

export function isServiceReport(message: unknown): message is ServiceReport {
  return typeof message === 'object' && message !== null && ('url' in message || 'failure' in message);
}
