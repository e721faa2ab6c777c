import type { JsonObject } from '../kernel/json.ts';
import type { AnyScope, Scope } from '../kernel/scope.ts';
import type { Write } from '../storage/ports/document-store.ts';

/** Domain events, written in the same commit as the state that they describe; readers and relays keep their own offset. */
export interface EventLog {
  /** To be committed with the state. */
  appendWrites(scope: Scope, events: readonly NewEvent[]): readonly Write[];
  /** Events after `offset` (0 from the start), in commit order. Nothing committed later has a smaller offset. */
  read(
    scope: AnyScope,
    query: { readonly after: number; readonly limit: number; readonly types?: readonly string[] },
  ): Promise<readonly LoggedEvent[]>;
}

export interface NewEvent {
  /** `<aggregate>.<past tense>`, for example `run.completed`. */
  readonly type: string;
  readonly subjectId: string;
  readonly data: JsonObject;
}

export interface LoggedEvent extends NewEvent {
  readonly offset: number;
  readonly id: string;
  readonly tenant: string;
  readonly dataset: string | null;
  readonly occurredAt: string;
}
