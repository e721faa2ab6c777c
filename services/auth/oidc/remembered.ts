import type { Clock } from '../../common/ports/system.ts';

/**
 * What is loaded once for everybody who asks, and again when it is older than `freshMs`. A failure leaves what is known in
 * force; without anything known it is thrown.
 */
export function createRemembered<T>(
  clock: Pick<Clock, 'monotonicMs'>,
  freshMs: number,
  load: () => Promise<T>,
): () => Promise<T> {
  let known: { readonly value: T; readonly atMs: number } | undefined;
  let loading: Promise<T> | undefined;
  const reload = (): Promise<T> => {
    loading ??= load()
      .then((value) => {
        known = { value, atMs: clock.monotonicMs() };
        return value;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  return async () => {
    if (known === undefined) return reload();
    const { value, atMs } = known;
    if (clock.monotonicMs() - atMs < freshMs) return value;
    return reload().catch(() => value);
  };
}
