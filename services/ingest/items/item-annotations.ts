import { engramError } from '../../common/kernel/errors.ts';
import { type JsonObject, parseClientJson } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';

/** Fields of a request about its items beside their content; lists pair with the items by position. */
export interface ItemAnnotations {
  readonly labels: readonly (string | null)[];
  readonly externalMetadata: readonly (JsonObject | null)[];
  readonly nodeSets: readonly string[];
}

/** Text of a form field, or the array that a JSON body may carry (ingest.md §1.1, decisions.md). */
type LabelsInput = string | readonly unknown[] | null | undefined;
type MetadataInput = string | readonly unknown[] | JsonObject | null | undefined;

/** `[]` means none. Throws `InvalidLabelsError`. */
export function parseLabels(input: LabelsInput): readonly (string | null)[] {
  const entries = typeof input === 'string' ? labelEntries(input) : (input ?? []);
  const labels = entries.map((entry) => {
    if (entry !== null && typeof entry !== 'string') {
      throw engramError('InvalidLabelsError', 'labels must be an array of strings');
    }
    return entry === null || entry.trim() === '' ? null : entry;
  });
  return labels.every((label) => label === null) ? [] : labels;
}

function labelEntries(text: string): readonly unknown[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  try {
    const parsed = parseClientJson(trimmed);
    if (Array.isArray(parsed)) return parsed;
  } catch {
    // Not JSON: the comma form below.
  }
  return trimmed.split(',').map((part) => part.trim());
}

/** `[]` means none. Throws `InvalidExternalMetadataError`. */
export function parseExternalMetadata(input: MetadataInput): readonly (JsonObject | null)[] {
  if (input === null || input === undefined) return [];
  const value = typeof input === 'string' ? metadataValue(input) : input;
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((entry) => entry === null || isRecord(entry))) {
    throw engramError(
      'InvalidExternalMetadataError',
      'external_metadata must be a JSON array of objects, one for each item',
    );
  }
  if (value.some((entry) => isRecord(entry) && 'node_set' in entry)) {
    throw engramError(
      'InvalidExternalMetadataError',
      "'node_set' is reserved in external_metadata; send it as the field node_set",
    );
  }
  return value.every(isEmpty) ? [] : (value as readonly (JsonObject | null)[]);
}

function metadataValue(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return parseClientJson(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'not JSON';
    throw engramError('InvalidExternalMetadataError', `external_metadata is not valid JSON: ${reason}`, { cause });
  }
}

/** Null or `{}`: says nothing of its item. */
function isEmpty(entry: unknown): boolean {
  return entry === null || (isRecord(entry) && Object.keys(entry).length === 0);
}

/**
 * Absent or a single empty value is none; one value that holds a JSON list is that list; any other blank entry is an
 * `InvalidNodeSetError`, before anything is written.
 */
export function parseNodeSets(input: readonly unknown[] | string | null | undefined): readonly string[] {
  if (input === null || input === undefined) return [];
  const given = typeof input === 'string' ? [input] : input;
  const values = given.length === 1 ? expandJsonList(given[0]) : given;
  if (values.length === 1 && values[0] === '') return [];
  for (const value of values) {
    if (typeof value !== 'string' || value.trim() === '') {
      throw engramError(
        'InvalidNodeSetError',
        `node_set must be a list of non-empty strings; got ${JSON.stringify(value)} in ${JSON.stringify(values)}`,
      );
    }
  }
  return [...new Set(values as readonly string[])];
}

function expandJsonList(value: unknown): readonly unknown[] {
  if (typeof value === 'string' && value.trim().startsWith('[')) {
    try {
      const parsed = parseClientJson(value);
      if (Array.isArray(parsed)) return parsed;
    } catch {
      // A tag that only looks like a list.
    }
  }
  return [value];
}

/** Throws `LabelCountMismatchError` or `ExternalMetadataCountMismatchError` unless each list is empty or pairs up. */
export function checkCounts(annotations: ItemAnnotations, itemCount: number): void {
  const { labels, externalMetadata } = annotations;
  if (labels.length > 0 && labels.length !== itemCount) {
    throw engramError(
      'LabelCountMismatchError',
      `labels needs one entry for each item: got ${labels.length} for ${itemCount}`,
    );
  }
  if (externalMetadata.length > 0 && externalMetadata.length !== itemCount) {
    throw engramError(
      'ExternalMetadataCountMismatchError',
      `external_metadata needs one entry for each item: got ${externalMetadata.length} for ${itemCount}`,
    );
  }
}
