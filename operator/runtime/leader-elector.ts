/** One process leads: holds a Lease and renews it. */
export interface LeaderElector {
  /** Resolves when this process leads. */
  start(): void;
  whenLeading(signal?: AbortSignal): Promise<void>;
  /** By the own clock: false already before another may take over. Asked before every write. */
  isLeading(): boolean;
  /** The loop turns: tried within its budget. */
  isAlive(): boolean;
  /** Gives the lease back, so that another leads at once. */
  stop(): Promise<void>;
}
