export interface RunSettings {
  /** A worker that shows no sign of life for so long has lost its runs. */
  readonly leaseMs: number;
  /** How often an idle worker looks for runs without having been told of one. */
  readonly pollMs: number;
  /** Runs of one process at the same time; one dataset never has two. */
  readonly maxConcurrentRuns: number;
  /** Claims of a run in a row without a committed item, after which it counts as killing its workers. */
  readonly maxStalledClaims: number;
  /** Age from which a STARTED record that no job drives is closed. */
  readonly abandonedAfterMs: number;
  /** No other process uses the records: a STARTED one of before the start that no job drives is closed at once. */
  readonly ownsRecords: boolean;
  readonly reapEveryMs: number;
  /** `cancel`: runs end as ERRORED (CancelledError). `hand-over`: another worker goes on with them. */
  readonly onStop: 'cancel' | 'hand-over';
  /** When a store does not answer. `end`: the run ends as ERRORED. `retry`: it goes on when the back-off is over. */
  readonly onStoreFailure: 'end' | 'retry';
  /** How long stopping waits for runs to end. */
  readonly drainMs: number;
}

export const DEFAULT_RUN_SETTINGS: RunSettings = {
  leaseMs: 15_000,
  pollMs: 1000,
  maxConcurrentRuns: 6,
  maxStalledClaims: 10,
  abandonedAfterMs: 3_600_000,
  ownsRecords: false,
  reapEveryMs: 60_000,
  onStop: 'cancel',
  onStoreFailure: 'end',
  drainMs: 8000,
};
