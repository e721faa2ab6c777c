import type { DataItemProcessingStatusDTO, DatasetDTO, DatasetProcessingStatusDTO } from '../client/index.ts';
import type { CommandCall } from './command.ts';
import { note } from './output.ts';

type ItemFailure = NonNullable<DataItemProcessingStatusDTO['failure']>;

type FailedItem = DataItemProcessingStatusDTO & { readonly failure: ItemFailure };

export function readItemStatus(call: CommandCall, { id }: Pick<DatasetDTO, 'id'>): Promise<DatasetProcessingStatusDTO> {
  return call.api.json<DatasetProcessingStatusDTO>('GET', `/api/v1/datasets/${id}/processing-status`);
}

export function failedAmong({ items }: DatasetProcessingStatusDTO): readonly FailedItem[] {
  return items.filter((item): item is FailedItem => item.failure !== undefined);
}

/** One line for people. */
export function failureLine({
  error_message: message,
  tries,
  is_set_aside,
}: Omit<ItemFailure, 'error_class' | 'failed_at'>): string {
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
