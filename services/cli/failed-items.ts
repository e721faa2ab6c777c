import type { CommandCall } from './command.ts';
import { note } from './output.ts';
import type { DatasetRecord } from './wire.ts';

/** Answer of `/processing-status` for a dataset. */
export interface ItemStatus {
  readonly total: number;
  readonly completed: number;
  readonly pending: number;
  /** Absent when none has failed. */
  readonly failed?: number;
  readonly items: readonly { readonly id: string; readonly name: string; readonly failure?: ItemFailure }[];
}

export interface ItemFailure {
  readonly error_message: string;
  readonly tries: number;
  readonly is_set_aside: boolean;
}

export type FailedItem = ItemStatus['items'][number] & { readonly failure: ItemFailure };

export function readItemStatus(call: CommandCall, { id }: Pick<DatasetRecord, 'id'>): Promise<ItemStatus> {
  return call.api.json<ItemStatus>('GET', `/api/v1/datasets/${id}/processing-status`);
}

export function failedAmong({ items }: ItemStatus): readonly FailedItem[] {
  return items.filter((item): item is FailedItem => item.failure !== undefined);
}

/** One line for people. */
export function failureLine({ error_message: message, tries, is_set_aside }: ItemFailure): string {
  return is_set_aside ? `${message} (set aside after ${tries} tries)` : message;
}

const MAX_NAMED = 20;

/** Names the items that could not be built, with their reasons, and says what to do. */
export function noteFailed(call: CommandCall, dataset: string, failed: readonly FailedItem[]): void {
  const items = failed.length === 1 ? '1 item' : `${failed.length} items`;
  note(call, `engram: ${items} of ${dataset} could not be built:`);
  for (const { id, name, failure } of failed.slice(0, MAX_NAMED)) {
    note(call, `  ${name} (${id}): ${failureLine(failure)}`);
  }
  if (failed.length > MAX_NAMED) {
    note(call, `  and ${failed.length - MAX_NAMED} more: engram datasets items -d ${dataset} shows them`);
  }
  note(
    call,
    failed.some(({ failure }) => failure.is_set_aside)
      ? `Items that were set aside wait for: engram datasets retry -d ${dataset}`
      : `They are tried again by: engram cognify -d ${dataset}`,
  );
}
