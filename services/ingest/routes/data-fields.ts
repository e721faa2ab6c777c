import { z } from 'zod';
import { lenientBoolean, listUpTo, optionalOrBlank, uuid } from '../../common/platform/http/schema.ts';
import type { UploadedFile } from '../../common/ports/upload.ts';
import type { Input } from '../items/input-source.ts';
import { type ItemAnnotations, parseExternalMetadata, parseLabels, parseNodeSets } from '../items/item-annotations.ts';

/** Limits of one request: as many items as a form may have files, and more of short ones. */
const MAX_ITEMS = 10_000;

/** One value or several: JSON sends either, a form repeats the field. */
export const textOrTexts = listUpTo(MAX_ITEMS, z.union([z.string(), z.array(z.string())]).nullish());

/** The fields that /add and /remember share, in the spelling of the use cases. */
export const dataFields = {
  data: textOrTexts,
  rawData: textOrTexts,
  datasetName: z.string().nullish(),
  datasetId: optionalOrBlank(uuid()),
  nodeSet: textOrTexts,
  labels: listUpTo(MAX_ITEMS, z.union([z.string(), z.array(z.unknown())]).nullish()),
  externalMetadata: listUpTo(
    MAX_ITEMS,
    z.union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())]).nullish(),
  ),
  runInBackground: lenientBoolean().default(false),
};

const dataFieldsSchema = z.object(dataFields);
type DataFields = z.output<typeof dataFieldsSchema>;

/** Uploads first, then strings, as the contract orders them; blank strings are dropped. */
export function inputsOf(body: Pick<DataFields, 'data' | 'rawData'>, files: readonly UploadedFile[]): readonly Input[] {
  const strings = [...listOf(body.data), ...listOf(body.rawData)]
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return [
    ...files.map((file): Input => ({ kind: 'upload', file })),
    ...strings.map((value): Input => ({ kind: 'string', value })),
  ];
}

export function annotationsOf(body: Pick<DataFields, 'labels' | 'externalMetadata' | 'nodeSet'>): ItemAnnotations {
  return {
    labels: parseLabels(body.labels),
    externalMetadata: parseExternalMetadata(body.externalMetadata as Parameters<typeof parseExternalMetadata>[0]),
    nodeSets: parseNodeSets(body.nodeSet),
  };
}

export function listOf<T>(value: T | readonly T[] | null | undefined): readonly T[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}
