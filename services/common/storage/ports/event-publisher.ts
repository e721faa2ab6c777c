/**
 * Publishes domain events for outside subscribers: one topic per event type. Adapter: Kafka.
 *
 * - `publish` resolves when every event is durable with the broker. When it rejects, some may be there all the same:
 *   publishing them again is how nothing is lost, and readers recognise repetitions by the event's id.
 * - Events with the same type and key are kept in the order in which they were given.
 * - Nothing is connected before the first `publish`, and the next one connects again to a broker that was away.
 * - Errors: `ServiceUnavailableError` (retryable when the broker is merely away), `DeadlineExceededError`,
 *   `PayloadTooLargeError`; an abort rejects with the signal's reason.
 */
export interface EventPublisher {
  publish(events: readonly PublishedEvent[], signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface PublishedEvent {
  /** `item.added`; names the topic. */
  readonly type: string;
  /** Tenant and aggregate. A compacted topic keeps the newest event of each. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: a tombstone. What the topic has under the key is to be forgotten. */
  readonly payload: Uint8Array | null;
}
